// On the way of a hit nothing is allocated: this binary counts.
#include "etagere/cache/key.hpp"
#include "etagere/cache/search_variance.hpp"

#include "support/allocations.hpp"
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

using etagere::test::allocations_of;

TEST(Allocation, TheCounterCounts) {
    EXPECT_GT(allocations_of([] { EXPECT_EQ(std::string(100, 'x').size(), 100U); }), 0U);
}

TEST(Allocation, AHitTakesNone) {
    const policy rules = honours_clients();
    const stored_response plain =
        stored({{"Cache-Control", "max-age=60"}, {"ETag", "W/\"a\""}, {"Last-Modified", date(t0 - 1h)}});
    const stored_response* const variants[] = {&plain};
    const auto request = make_request({{"If-None-Match", "\"b\", W/\"a\""},
                                       {"If-Modified-Since", date(t0)},
                                       {"Cache-Control", "max-age=30, max-stale"},
                                       {"Accept-Encoding", "gzip, br"}});
    int chosen = -1;
    reuse_decision decision;
    precondition condition{};
    request_decision classified;
    EXPECT_EQ(allocations_of([&] {
                  classified = classify(request, rules);
                  chosen = select_variant(variants, request, rules);
                  decision = decide_reuse(&plain, false, request, rules, t0 + 5s);
                  condition =
                      evaluate_preconditions(request, plain.status, plain.etag(), plain.last_modified, rules, t0 + 5s);
              }),
              0U);
    EXPECT_EQ(classified.what, request_class::cacheable);
    EXPECT_EQ(chosen, 0);
    EXPECT_EQ(decision.what, reuse_action::serve);
    EXPECT_EQ(decision.age, 5s);
    EXPECT_EQ(condition, precondition::not_modified);
}

TEST(Allocation, ValidationThatBringsNoMoreThanADateCopiesWhatIsStored) {
    const field_list fields{{"Date", date(t0)}, {"Cache-Control", "no-cache"}, {"ETag", "\"a\""}, {"X-A", "b"}};
    const policy rules;
    const stored_response kept = stored(fields);
    http::response_head answer = make_response(fields, 304);
    answer.header.set(http::field_id::date, date(t0 + 5s));
    const std::size_t to_copy = allocations_of([&] { EXPECT_EQ(stored_response(kept).etag(), "\"a\""); });
    EXPECT_EQ(allocations_of([&] { EXPECT_EQ(*freshen(kept, answer, rules, t0, t0 + 5s).date, t0 + 5s); }), to_copy);
}

TEST(Allocation, NorDoesChoosingAmongOrdinaryVariants) {
    const field_list response{{"Vary", "Accept, Accept-Encoding, Accept-Language, X-Requested-With"}};
    const field_list asked{{"Accept", "text/html, application/json;q=0.9, */*;q=0.8"},
                           {"Accept-Encoding", "gzip, deflate, br, zstd"},
                           {"Accept-Language", "de-DE, de;q=0.9, en-US;q=0.8, en;q=0.7"}};
    const stored_response other = stored(response, 200, {{"Accept", "*/*"}});
    const stored_response same = stored(response, 200, asked);
    const stored_response* const variants[] = {&other, &same};
    const auto request = make_request(asked);
    const policy rules;
    int chosen = -1;
    EXPECT_EQ(allocations_of([&] { chosen = select_variant(variants, request, rules); }), 0U);
    EXPECT_EQ(chosen, 1);
}

TEST(Allocation, NorDoesChoosingAmongTwentyVariantsByTwelveFields) {
    std::string vary = "Accept";
    field_list asked{{"Accept", "text/html;Level=1, application/json;q=0.9, */*;q=0.8"}};
    for (int i = 0; i < 11; ++i) {
        vary += ", X-Field-" + std::to_string(i);
        asked.emplace_back("X-Field-" + std::to_string(i), "value of it");
    }
    policy rules;
    rules.normalize_accept = true;
    std::vector<stored_response> all;
    for (int i = 0; i < 20; ++i) {
        asked.back().second = "value " + std::to_string(i);
        all.push_back(stored({{"Vary", vary}}, 200, asked, rules));
    }
    std::vector<const stored_response*> variants;
    for (const stored_response& r : all) variants.push_back(&r);
    const auto request = make_request(asked);
    int chosen = -1;
    EXPECT_EQ(allocations_of([&] { chosen = select_variant(variants, request, rules); }), 0U);
    EXPECT_EQ(chosen, 19);
}

TEST(Allocation, NorDoesLookingForWhatEquivalentRequestsShare) {
    const http::fields said = make_fields({{"No-Vary-Search", "key-order, params=(\"utm_source\" \"utm_campaign\")"}});
    const search_variance rule = find_search_variance(said).value();
    const auto request = make_request({}, "GET", "/products?page=2&utm_source=newsletter&category=shoes&a=1&b=%2F");
    const policy rules;
    std::string key;
    bool carried = false;
    const auto look = [&] {
        make_search_key(key, "products", request, rule, rules, nullptr);
        carried = carries(said, rule);
    };
    look();
    EXPECT_EQ(allocations_of(look), 0U);
    EXPECT_TRUE(carried);
}

TEST(Allocation, NorDoesAKeyInABufferThatHeldOneBefore) {
    policy rules;
    rules.key_headers = {"X-Tenant"};
    rules.key_cookies = {"lang"};
    rules.query = {.sort = true, .ignore = {"utm_*"}};
    const auto request = make_request({{"X-Tenant", "a"}, {"Cookie", "sid=1; lang=de"}}, "GET",
                                      "/products?page=2&utm_source=x&a=1&b=%2F");
    std::string key;
    const auto make = [&] { make_key(key, "products", request, rules, nullptr); };
    make();
    EXPECT_EQ(allocations_of(make), 0U);
}

}  // namespace
}  // namespace etagere::cache::test
