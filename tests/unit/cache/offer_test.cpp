// RFC 9111 §4.3.1 and §4.3.4 with several tags: what is offered, and whose the 304 is (B31, B24).
#include "etagere/cache/offer.hpp"

#include "unit/cache/support.hpp"

#include <gmock/gmock.h>

namespace etagere::cache::test {
namespace {

using http::field_id;

// The tests of digests are elsewhere.
tag_offer make_offer(const stored_response* chosen, std::span<const stored_response* const> variants,
                     const http::request_head* client, const policy& rules, offer_form form = 0) {
    return cache::make_offer(chosen, variants, client, rules, test_digest, form);
}
offer_verdict judge_offer(const tag_offer& offer, const stored_response* chosen,
                          std::span<const stored_response* const> variants, const http::request_head& request,
                          const http::response_head& answer, const policy& rules) {
    return cache::judge_offer(offer, chosen, variants, request, answer, rules, test_digest);
}

http::response_head not_modified(const field_list& list) {
    http::response_head made = make_response(list, 304);
    made.body = http::framing::none();
    return made;
}

const std::string changed = date(t0 - 1h);

policy repairs() {
    policy rules;
    rules.repair_weak_prefix = true;
    rules.repair_suffix = true;
    return rules;
}

http::fields asked(const tag_offer& offer) {
    // What the client sent must not survive.
    http::fields request = make_fields({{"If-None-Match", "\"c9\", *"},
                                        {"If-None-Match", "\"c8\""},
                                        {"If-Modified-Since", date(t0)},
                                        {"If-Match", "\"x\""},
                                        {"Range", "bytes=0-"}});
    write_offer(request, offer);
    EXPECT_FALSE(request.has(field_id::range));
    EXPECT_FALSE(request.has(field_id::if_match));
    EXPECT_LE(request.count(field_id::if_none_match), 1U);
    return request;
}

// ---------------------------------------------------------------- nobody's tags but the stored one's

struct stored_case {
    std::string name;
    field_list stored;
    std::optional<std::string> if_none_match;
    std::optional<std::string> if_modified_since;
};
class OfferStored : public ::testing::TestWithParam<stored_case> {};

TEST_P(OfferStored, ExactlyTheStoredOnes) {
    const stored_case& c = GetParam();
    const stored_response r = stored(c.stored);
    const http::fields request = asked(make_offer(&r, {}, nullptr, policy{}));
    EXPECT_EQ(request.combined(field_id::if_none_match), c.if_none_match);
    EXPECT_EQ(request.combined(field_id::if_modified_since), c.if_modified_since);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, OfferStored,
    ::testing::Values(stored_case{"Tag", {{"ETag", "\"a\""}}, "\"a\"", std::nullopt},
                      stored_case{
                          "WeakTagAndDate", {{"ETag", "W/\"a\""}, {"Last-Modified", changed}}, "W/\"a\"", changed},
                      stored_case{"Date", {{"Last-Modified", changed}}, std::nullopt, changed},
                      // byte for byte: origins compare strings
                      stored_case{"OldDateFormat",
                                  {{"Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT"}},
                                  std::nullopt,
                                  "Sunday, 06-Nov-94 08:49:37 GMT"},
                      stored_case{"MalformedTag", {{"ETag", "abc"}}, "abc", std::nullopt},
                      stored_case{"NoDate", {{"Last-Modified", "yesterday"}}, std::nullopt, std::nullopt},
                      stored_case{"None", {}, std::nullopt, std::nullopt}),
    case_name<stored_case>);

TEST(OfferOwnTag, StaysAtHome) {
    stored_response r = stored({{"ETag", "W/\"ours\""}, {"Last-Modified", changed}});
    r.own_etag = true;
    const http::request_head client = make_request({{"If-None-Match", "\"c9\""}});
    const http::fields request = asked(make_offer(&r, {}, &client, policy{}));
    EXPECT_FALSE(request.has(field_id::if_none_match));
    EXPECT_EQ(request.get(field_id::if_modified_since), changed);
}

TEST(OfferStored404, IsNotValidated) {
    const stored_response r = stored({{"ETag", "\"a\""}}, 404);
    EXPECT_TRUE(make_offer(&r, {}, nullptr, policy{}).empty());
}

// ---------------------------------------------------------------- with the client's (B31)

struct client_case {
    std::string name;
    field_list client;
    std::string list;
    std::string stored = "\"v1\"";
    policy rules{};
};
class OfferClient : public ::testing::TestWithParam<client_case> {};

TEST_P(OfferClient, OneLegalListTheStoredOneFirst) {
    const client_case& c = GetParam();
    const stored_response r = stored({{"ETag", c.stored}, {"Last-Modified", changed}});
    const http::request_head client = make_request(c.client);
    const tag_offer offer = make_offer(&r, {}, &client, c.rules);
    const http::fields request = asked(offer);
    EXPECT_EQ(request.combined(field_id::if_none_match), c.list);
    // Rails wants date and tag to match: a client's newer tag does not go with the stored date.
    const bool alone = offer.tags.size() == 1 || offer.tags.back().of == tag_offer::whose::chosen;
    EXPECT_EQ(request.has(field_id::if_modified_since), alone);
    std::string again;
    std::string_view rest = c.list;
    while (const auto tag = http::next_tag(rest)) {
        EXPECT_TRUE(c.stored == *tag || http::parse_entity_tag(*tag)) << *tag;
    }
}

const std::string long_tag = "\"" + std::string(300, 'x') + "\"";

INSTANTIATE_TEST_SUITE_P(
    Examples, OfferClient,
    ::testing::Values(
        client_case{"None", {}, "\"v1\""}, client_case{"Other", {{"If-None-Match", "\"c9\""}}, "\"v1\", \"c9\""},
        client_case{"Weak", {{"If-None-Match", "W/\"c9\""}}, "\"v1\", W/\"c9\""},
        client_case{"Star", {{"If-None-Match", "*"}}, "\"v1\""},
        client_case{"StarInAList", {{"If-None-Match", "\"c9\", *"}}, "\"v1\""},
        client_case{"StarOnAnotherLine", {{"If-None-Match", "\"c9\""}, {"If-None-Match", "*"}}, "\"v1\""},
        client_case{"TheSame", {{"If-None-Match", "\"v1\""}}, "\"v1\""},
        client_case{"TheSameWeak", {{"If-None-Match", "W/\"v1\""}}, "\"v1\""},
        client_case{"Twice", {{"If-None-Match", "\"c9\", W/\"c9\", \"c9\""}}, "\"v1\", \"c9\""},
        client_case{"TwoLines", {{"If-None-Match", "\"c9\""}, {"If-None-Match", "\"c8\""}}, "\"v1\", \"c9\", \"c8\""},
        client_case{"CommaInside", {{"If-None-Match", "\"a,b\" , \"c\""}}, "\"v1\", \"a,b\", \"c\""},
        client_case{"NoTags", {{"If-None-Match", "c9, \"c8, /\"c7"}}, "\"v1\""},
        client_case{"GoodAmongBad", {{"If-None-Match", "c9, \"c8\", w/\"c7\""}}, "\"v1\", \"c8\""},
        client_case{"TooLong", {{"If-None-Match", long_tag + ", \"c9\""}}, "\"v1\", \"c9\""},
        client_case{"Many",
                    {{"If-None-Match", R"("1", "2", "3", "4", "5", "6", "7", "8", "9", "10")"}},
                    R"("v1", "1", "2", "3", "4", "5", "6", "7", "8")"},
        client_case{"IfMatchComesFirst", {{"If-Match", "\"v1\""}, {"If-None-Match", "\"c9\""}}, "\"v1\""},
        client_case{"StoredIsNoTag", {{"If-None-Match", "\"c9\""}}, "abc", "abc"},
        // B24: the known suffix is removed as an extra member, the original kept
        client_case{"Suffix", {{"If-None-Match", "\"c9-gzip\""}}, R"("v1", "c9-gzip", "c9")", "\"v1\"", repairs()},
        client_case{"SuffixWithoutRepair", {{"If-None-Match", "\"c9-gzip\""}}, R"("v1", "c9-gzip")"},
        client_case{"SuffixOfTheStored", {{"If-None-Match", "W/\"v1--gzip\""}}, "\"v1\"", "\"v1\"", repairs()}),
    case_name<client_case>);

// ---------------------------------------------------------------- mangled on the way from the origin (B24)

struct form_case {
    std::string name;
    std::string stored;
    std::vector<std::string> forms;
    field_list more = {};
};
class OfferForms : public ::testing::TestWithParam<form_case> {};

TEST_P(OfferForms, TheOriginalFirstThenWhatItMayHaveBeen) {
    const form_case& c = GetParam();
    field_list fields = c.more;
    fields.emplace_back("ETag", c.stored);
    const stored_response r = stored(fields);
    const tag_offer offer = make_offer(&r, {}, nullptr, repairs());
    std::vector<std::string> tags;
    for (const auto& m : offer.tags) tags.push_back(m.tag);
    EXPECT_EQ(tags, c.forms);
    EXPECT_EQ(offer.forms, c.forms.size());
    // Each of them alone, in that order, and then the original again.
    for (std::size_t n = 1; n <= c.forms.size() + 1; ++n) {
        const tag_offer alone = make_offer(&r, {}, nullptr, repairs(), static_cast<offer_form>(n));
        ASSERT_EQ(alone.tags.size(), 1U);
        EXPECT_EQ(alone.tags[0].tag, c.forms[n <= c.forms.size() ? n - 1 : 0]);
    }
    for (const std::string& form : c.forms) {
        EXPECT_EQ(judge_offer(offer, &r, {}, make_request(), not_modified({{"ETag", form}}), repairs()).what,
                  validation::freshened)
            << form;
    }
    EXPECT_EQ(judge_offer(offer, &r, {}, make_request(), not_modified({}), repairs()).what, validation::freshened);
    EXPECT_EQ(judge_offer(offer, &r, {}, make_request(), not_modified({{"ETag", "\"else\""}}), repairs()).what,
              validation::unrelated);
    // What clients hold stays, byte for byte.
    EXPECT_EQ(freshen(r, not_modified({{"ETag", c.forms.back()}}), repairs(), t0, t0).etag(), c.stored);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, OfferForms,
    ::testing::Values(
        form_case{"Strong", "\"v1\"", {"\"v1\""}}, form_case{"WeakPrefix", "W/\"v1\"", {"W/\"v1\"", "\"v1\""}},
        form_case{"Apache", "\"v1-gzip\"", {"\"v1-gzip\"", "\"v1\""}},
        form_case{"Both", "W/\"v1;gzip\"", {"W/\"v1;gzip\"", "W/\"v1\"", "\"v1\"", "\"v1;gzip\""}},
        form_case{"OnlyASuffix", "\"-gzip\"", {"\"-gzip\""}}, form_case{"NoCoding", "\"v1-zip\"", {"\"v1-zip\""}},
        form_case{"Malformed", "v1-gzip", {"v1-gzip"}}, form_case{"Brotli", "\"v1-br\"", {"\"v1-br\"", "\"v1\""}},
        // Breton, for all one knows
        form_case{"BretonPerhaps", "\"page-br\"", {"\"page-br\""}, {{"Vary", "Accept-Language"}}},
        form_case{"BrotliForSure",
                  "\"page-br\"",
                  {"\"page-br\"", "\"page\""},
                  {{"Vary", "Accept-Language"}, {"Content-Encoding", "br"}}}),
    case_name<form_case>);

// ---------------------------------------------------------------- whose is the 304?

struct judge_case {
    std::string name;
    field_list not_modified;
    validation expected;
};
class JudgeWithClient : public ::testing::TestWithParam<judge_case> {};

TEST_P(JudgeWithClient, NeverFreshensTheWrongOne) {
    const stored_response r = stored({{"ETag", "\"v1\""}, {"Last-Modified", changed}});
    const http::request_head client = make_request({{"If-None-Match", "\"c9\", W/\"c8\""}});
    const tag_offer offer = make_offer(&r, {}, &client, policy{});
    EXPECT_EQ(judge_offer(offer, &r, {}, client, not_modified(GetParam().not_modified), policy{}).what,
              GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, JudgeWithClient,
    ::testing::Values(judge_case{"Stored", {{"ETag", "\"v1\""}}, validation::freshened},
                      judge_case{"StoredWeakened", {{"ETag", "W/\"v1\""}}, validation::freshened},
                      judge_case{"Clients", {{"ETag", "\"c9\""}}, validation::client},
                      judge_case{"ClientsWeak", {{"ETag", "\"c8\""}}, validation::client},
                      judge_case{"Nobodys", {{"ETag", "\"x\""}}, validation::unrelated},
                      judge_case{"NoTag", {}, validation::unrelated},
                      judge_case{"NoTagSameDate", {{"Last-Modified", changed}}, validation::unrelated},
                      judge_case{"StoredVaryingOnMore", {{"ETag", "\"v1\""}, {"Vary", "Foo"}}, validation::unrelated},
                      judge_case{"Malformed", {{"ETag", "c9"}}, validation::unrelated}),
    case_name<judge_case>);

TEST(JudgeOffer, OtherAnswersAsEver) {
    const stored_response r = stored({{"ETag", "\"v1\""}});
    const tag_offer offer = make_offer(&r, {}, nullptr, policy{});
    const auto judged = [&](int status) {
        return judge_offer(offer, &r, {}, make_request(), make_response({}, status), policy{}).what;
    };
    EXPECT_EQ(judged(200), validation::changed);
    EXPECT_EQ(judged(503), validation::error);
    EXPECT_EQ(judged(404), validation::changed);
}

// ---------------------------------------------------------------- other stored variants

stored_response variant(const std::string& etag, const std::string& accepts, field_list more = {}) {
    more.emplace_back("ETag", etag);
    more.emplace_back("Vary", "Accept-Encoding, X-Tenant");
    return stored(more, 200, {{"Accept-Encoding", accepts}, {"X-Tenant", "a"}});
}

std::vector<std::string> offered(std::span<const stored_response* const> all, const field_list& request,
                                 offer_form form = 0) {
    const http::request_head client = make_request(request);
    std::vector<std::string> tags;
    for (const auto& m : make_offer(nullptr, all, &client, policy{}, form).tags) tags.push_back(m.tag);
    return tags;
}

const field_list zipped{{"Content-Encoding", "gzip"}};

TEST(OfferVariants, ThatDifferInTheCodingsAcceptedOnly) {
    const stored_response plain = variant("W/\"plain\"", "identity");
    const stored_response gzip = variant("\"gzip\"", "gzip", zipped);
    stored_response ours = variant("\"ours\"", "deflate");
    ours.own_etag = true;
    const stored_response gone = stored({{"ETag", "\"gone\""}}, 404);
    const std::array all{&plain, &gzip, const_cast<const stored_response*>(&ours), &gone};
    using ::testing::ElementsAre;
    EXPECT_THAT(offered(all, {{"X-Tenant", "a"}, {"Accept-Encoding", "br, gzip"}}),
                ElementsAre("W/\"plain\"", "\"gzip\""));
    EXPECT_THAT(offered(all, {{"X-Tenant", "a"}, {"Accept-Encoding", "br, gzip;q=0"}}), ElementsAre("W/\"plain\""));
    EXPECT_THAT(offered(all, {{"X-Tenant", "a"}}), ElementsAre("W/\"plain\""));
    // "7" may be the version of every tenant's page.
    EXPECT_THAT(offered(all, {{"X-Tenant", "b"}, {"Accept-Encoding", "br, gzip"}}), ElementsAre());
    EXPECT_THAT(offered(all, {{"Accept-Encoding", "br, gzip"}}), ElementsAre());
    // The client's own is not offered: the cache would stay as cold as it is (B26).
    EXPECT_THAT(offered(all, {{"X-Tenant", "a"}, {"If-None-Match", "\"c9\""}}), ElementsAre("W/\"plain\""));
    // Nor a list to an origin that does not read lists.
    EXPECT_THAT(offered(all, {{"X-Tenant", "a"}, {"Accept-Encoding", "br, gzip"}}, 1), ElementsAre());
}

TEST(JudgeVariants, TheOneThatThe304Names) {
    const stored_response plain = variant("\"plain\"", "identity");
    const stored_response gzip = variant("\"gzip\"", "gzip", zipped);
    const std::array all{&plain, &gzip};
    const http::request_head client = make_request({{"X-Tenant", "a"}, {"Accept-Encoding", "gzip, br"}});
    const tag_offer offer = make_offer(nullptr, all, &client, policy{});
    const auto judged = [&](const field_list& fields) {
        return judge_offer(offer, nullptr, all, client, not_modified(fields), policy{});
    };
    const offer_verdict found = judged({{"ETag", "\"gzip\""}});
    EXPECT_EQ(found.what, validation::variant);
    EXPECT_EQ(found.variant, 1U);
    EXPECT_EQ(judged({{"ETag", "\"br\""}}).what, validation::unrelated);
    EXPECT_EQ(judged({}).what, validation::unrelated);
    EXPECT_EQ(judged({{"ETag", "\"gzip\""}, {"Vary", "Foo"}}).what, validation::unrelated);
    EXPECT_EQ(judge_offer(offer, nullptr, all, client, make_response({}, 503), policy{}).what, validation::changed);

    stored_response moved = gzip;
    reselect(moved, client, policy{}, test_digest);
    EXPECT_EQ(select_variant(std::array{const_cast<const stored_response*>(&moved)}, client, policy{}), 0);
}

TEST(JudgeVariants, NamedByTheClient) {
    const stored_response plain = variant("\"plain\"", "identity");
    const stored_response gzip = variant("\"gzip\"", "gzip", zipped);
    const std::array all{&plain, &gzip};
    const auto judged = [&](const char* tag, const char* accepts) {
        const http::request_head client =
            make_request({{"X-Tenant", "a"}, {"Accept-Encoding", accepts}, {"If-None-Match", "\"gzip\", \"c9\""}});
        const tag_offer offer = make_offer(&plain, all, &client, policy{});
        return judge_offer(offer, &plain, all, client, not_modified({{"ETag", tag}}), policy{}).what;
    };
    EXPECT_EQ(judged("\"plain\"", "gzip"), validation::freshened);
    EXPECT_EQ(judged("\"gzip\"", "gzip"), validation::variant);
    EXPECT_EQ(judged("\"gzip\"", "br"), validation::client);  // it has it, and could not read ours
    EXPECT_EQ(judged("\"c9\"", "gzip"), validation::client);
}

// ---------------------------------------------------------------- what an origin understands

TEST(Learn, AListThatWasNotRead) {
    const stored_response r = stored({{"ETag", "\"v1\""}});
    const http::request_head client = make_request({{"If-None-Match", "\"c9\""}});
    const tag_offer list = make_offer(&r, {}, &client, policy{});
    const tag_offer alone = make_offer(&r, {}, nullptr, policy{});
    const auto full = [](const char* tag) { return make_response({{"ETag", tag}}, 200); };
    EXPECT_EQ(learn(list, &r, full("\"v1\"")), 1);  // it should have said 304
    EXPECT_EQ(learn(list, &r, full("\"c9\"")), 1);
    EXPECT_EQ(learn(list, &r, full("\"v2\"")), 0);
    EXPECT_EQ(learn(list, &r, make_response({}, 200)), 0);
    EXPECT_EQ(learn(list, &r, make_response({{"ETag", "\"v1\""}}, 404)), 0);
    EXPECT_EQ(learn(list, &r, not_modified({{"ETag", "\"v1\""}})), 0);
    EXPECT_EQ(learn(list, &r, not_modified({})), 1);  // of which of the two?
    EXPECT_EQ(learn(alone, &r, full("\"v1\"")), 0);   // an origin without conditions: nothing else to try
    EXPECT_EQ(learn(alone, &r, not_modified({})), 0);
}

TEST(Learn, TriesEachFormOfAMangledTagAndThenRests) {
    const stored_response r = stored({{"ETag", "W/\"v1\""}});
    const http::response_head full = make_response({{"ETag", "W/\"v1\""}}, 200);
    offer_form form = 0;
    for (const int next : {1, 2, 3, 3}) {
        form = learn(make_offer(&r, {}, nullptr, repairs(), form), &r, full);
        EXPECT_EQ(form, next);
    }
    EXPECT_EQ(learn(make_offer(&r, {}, nullptr, repairs(), 2), &r, not_modified({{"ETag", "W/\"v1\""}})), 2);
}

// ---------------------------------------------------------------- past the cache

TEST(AddRepairedTags, FollowTheOriginals) {
    http::fields request = make_fields({{"If-None-Match", "\"a-gzip\", W/\"b\""}, {"If-None-Match", "W/\"c;gzip\""}});
    EXPECT_TRUE(add_repaired_tags(request, repairs()));
    EXPECT_EQ(request.combined(field_id::if_none_match), R"("a-gzip", "a", W/"b", W/"c;gzip", W/"c")");
    for (const char* untouched : {"\"a\"", "*", "\"a-gzip\", *", "a-gzip", ""}) {
        http::fields other = make_fields({{"If-None-Match", untouched}});
        EXPECT_FALSE(add_repaired_tags(other, repairs()));
        EXPECT_EQ(other.get(field_id::if_none_match), untouched);
    }
    http::fields off = make_fields({{"If-None-Match", "\"a-gzip\""}});
    EXPECT_FALSE(add_repaired_tags(off, policy{}));
}

}  // namespace
}  // namespace etagere::cache::test
