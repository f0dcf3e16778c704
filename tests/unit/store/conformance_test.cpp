// What every store promises (store.hpp), asked of each of them. A remote level may take its time: `expect_eventually`
// waits for the condition, never for the clock.
#include "etagere/store/purges.hpp"

#include "backends.hpp"
#include "make.hpp"

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using testing::asked;
using testing::backend;
using testing::make;
using testing::not_modified;
using testing::now;
using testing::recipe;

class Store : public ::testing::TestWithParam<backend> {
protected:
    void SetUp() override { store_ = GetParam().make(); }

    found get(const std::string& key) { return asked(*store_, key); }
    std::vector<std::string> bodies(const std::string& key) {
        std::vector<std::string> out;
        const found f = get(key);
        if (!f.set) return out;
        for (const object_ptr& o : f.set) {
            const result<object_ptr> whole = testing::with_body(*store_, key, o);
            if (whole) out.emplace_back(*(*whole)->body);
        }
        return out;
    }
    template <class Matcher> void expect_eventually(const std::string& key, const Matcher& matcher) {
        EXPECT_TRUE(testing::eventually([&] { return ::testing::Matches(matcher)(bodies(key)); }))
            << ::testing::PrintToString(bodies(key));
    }
    void put(const std::string& key, recipe r, std::uint32_t max_variants = 32) {
        if (r.when.wall == testing::at().wall) r.when = now();
        store_->put(key, make(r), max_variants, now());
    }

    std::unique_ptr<store> store_;
};
INSTANTIATE_TEST_SUITE_P(All, Store, ::testing::ValuesIn(testing::backends()),
                         [](const auto& i) { return i.param.name; });

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_P(Store, KnowsNothingAtFirst) {
    EXPECT_FALSE(store_->peek("key", now()).set);
    const found f = get("key");
    EXPECT_FALSE(f.set);
    EXPECT_EQ(f.from, level::none);
}

TEST_P(Store, GivesBackWhatWasPut) {
    put("key", {.body = "hello", .etag = "\"1\""});
    expect_eventually("key", ElementsAre("hello"));
    const found f = get("key");
    ASSERT_TRUE(f.set);
    EXPECT_NE(f.from, level::none);
    const object& o = *f.set.front();
    EXPECT_EQ(o.response.status, 200);
    EXPECT_EQ(o.response.etag(), "\"1\"");
    EXPECT_EQ(o.response.body_size, 5U);
    EXPECT_EQ(o.response.header.get(http::field_id::content_type), "text/plain");
    EXPECT_TRUE(o.wire_full().starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(not_modified(o).starts_with("HTTP/1.1 304 Not Modified\r\n"));
}

TEST_P(Store, ManyQuestionsAtOnceGetAnAnswerEach) {
    constexpr std::size_t keys = 150;  // more than a server is asked at once
    const auto key_of = [](std::size_t i) { return "key " + std::to_string(i); };
    for (std::size_t i = 0; i < keys; i += 2) put(key_of(i), {.body = "body " + std::to_string(i), .when = now()});
    for (std::size_t i = 0; i < keys; i += 2) expect_eventually(key_of(i), ElementsAre("body " + std::to_string(i)));
    for (const bool whole : {false, true}) {
        std::vector<std::promise<result<found>>> answers(keys);
        std::vector<std::string> names;
        for (std::size_t i = 0; i < keys; ++i) names.push_back(key_of(i));
        std::vector<store::question> questions;
        for (std::size_t i = 0; i < keys; ++i) {
            questions.push_back({.key = names[i], .whole = whole, .done = [&a = answers[i]](result<found> f) {
                                     a.set_value(std::move(f));
                                 }});
        }
        store_->load_all(questions, now());
        for (std::string& name : names) name.assign(name.size(), 'x');  // nobody looks at them any more
        for (std::size_t i = 0; i < keys; ++i) {
            const result<found> got = answers[i].get_future().get();
            ASSERT_TRUE(got.has_value()) << i;
            EXPECT_EQ(static_cast<bool>(got->set), i % 2 == 0) << i;
            if (!got->set || !got->set.front()->body) continue;
            EXPECT_EQ(*got->set.front()->body, "body " + std::to_string(i));
        }
    }
}

TEST_P(Store, AnyBytesAreAKeyAndABody) {
    std::string key = "GET http://h/ \r\nset x 0 0 1\r\n";
    key += '\0';
    key += std::string(5000, 'k');
    std::string body(3000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7);
    put(key, {.body = body});
    expect_eventually(key, ElementsAre(body));
    EXPECT_FALSE(get(key + "x").set);
    EXPECT_FALSE(get(key.substr(0, key.size() - 1)).set);
}

TEST_P(Store, AnEmptyBodyIsABody) {
    put("key", {.body = ""});
    expect_eventually("key", ElementsAre(""));
}

TEST_P(Store, AStatusOtherThan200Stays) {
    cache::stored_response r = make({.when = now()})->response;
    r.status = 404;
    store_->put("key", make_object(std::move(r), share("gone"), now().wall + seconds(60)), 32, now());
    expect_eventually("key", ElementsAre("gone"));
    EXPECT_EQ(get("key").set.front()->response.status, 404);
}

TEST_P(Store, APutReplacesTheVariantWithEqualSelectors) {
    put("key", {.body = "one", .vary_name = "accept", .vary_value = "a"});
    expect_eventually("key", ElementsAre("one"));
    put("key", {.body = "two", .vary_name = "accept", .vary_value = "a"});
    expect_eventually("key", ElementsAre("two"));
}

TEST_P(Store, VariantsLiveSideBySide) {
    put("key", {.body = "a", .vary_name = "accept", .vary_value = "a"});
    expect_eventually("key", SizeIs(1));
    put("key", {.body = "b", .vary_name = "accept", .vary_value = "b"});
    put("key", {.body = "none", .vary_name = "", .vary_value = ""});
    expect_eventually("key", UnorderedElementsAre("a", "b", "none"));
}

TEST_P(Store, TheOldestVariantBeyondTheMostGoes) {
    const moment start = now();
    for (int i = 0; i < 5; ++i) {
        const moment when{start.wall + milliseconds(i), start.steady};
        put("key", {.body = std::to_string(i), .vary_name = "accept", .vary_value = std::to_string(i), .when = when},
            3);
    }
    expect_eventually("key", UnorderedElementsAre("2", "3", "4"));
}

// Two fetches of one resource may end in the other order than they began.
TEST_P(Store, ALaterAnswerIsNotReplacedByAnEarlierOne) {
    const moment start = now();
    put("key", {.body = "later", .when = {start.wall + seconds(2), start.steady}});
    put("key", {.body = "earlier", .when = start});
    put("fence", {.body = "fence"});
    expect_eventually("fence", ElementsAre("fence"));
    expect_eventually("key", ElementsAre("later"));
}

// … but a clock that was set back does not block the key for ever.
TEST_P(Store, AnAnswerFromFarAheadIsReplaced) {
    const moment start = now();
    put("key", {.body = "ahead", .when = {start.wall + seconds(3600), start.steady}});
    expect_eventually("key", ElementsAre("ahead"));
    put("key", {.body = "now", .when = start});
    expect_eventually("key", ElementsAre("now"));
}

TEST_P(Store, FresheningReplacesTheHeadOnly) {
    put("key", {.body = "hello", .etag = "\"1\""});
    expect_eventually("key", ElementsAre("hello"));
    const result<object_ptr> old = testing::with_body(*store_, "key", get("key").set.front());
    ASSERT_TRUE(old);
    cache::stored_response fresh = (*old)->response;
    ASSERT_TRUE(fresh.header.add("X-Fresh", "yes"));
    fresh.response_time += seconds(1);
    fresh.index();
    store_->freshen("key", make_object(std::move(fresh), (*old)->body, (*old)->keep_until + seconds(9)), now());
    EXPECT_TRUE(testing::eventually([&] {
        const found f = get("key");
        return f.set && f.set.front()->response.header.find("x-fresh") == "yes";
    }));
    expect_eventually("key", ElementsAre("hello"));
    EXPECT_EQ(get("key").set.front()->keep_until, (*old)->keep_until + seconds(9));
}

// A 304 speaks of the bytes it was asked about; meanwhile another request may have stored others.
TEST_P(Store, FresheningDoesNotTouchOtherBytes) {
    put("key", {.body = "old bytes", .etag = "\"old\""});
    expect_eventually("key", ElementsAre("old bytes"));
    const object_ptr old = make({.body = "old bytes", .etag = "\"old\"", .when = now()});
    put("key", {.body = "new bytes", .etag = "\"new\""});
    expect_eventually("key", ElementsAre("new bytes"));
    store_->freshen("key", old, now());
    put("fence", {.body = "fence"});
    expect_eventually("fence", ElementsAre("fence"));
    EXPECT_EQ(get("key").set.front()->response.etag(), "\"new\"");
    expect_eventually("key", ElementsAre("new bytes"));
}

TEST_P(Store, ErasingForgetsEveryVariant) {  // bug-cases B82
    put("key", {.body = "a", .vary_name = "accept", .vary_value = "a"});
    put("key", {.body = "b", .vary_name = "accept", .vary_value = "b"});
    put("other", {.body = "other"});
    expect_eventually("key", SizeIs(2));
    expect_eventually("other", SizeIs(1));
    store_->erase("key", now());
    // At once: the next request after an invalidation must not find it (RFC 9111 §4.4).
    EXPECT_FALSE(get("key").set);
    EXPECT_TRUE(get("other").set);
}

TEST_P(Store, APutBeforeAnEraseDoesNotComeBack) {
    for (int i = 0; i < 20; ++i) {
        const std::string key = "key " + std::to_string(i);
        put(key, {.body = std::string(100'000, 'x')});
        store_->erase(key, now());
        EXPECT_FALSE(get(key).set);
    }
    put("fence", {.body = "fence"});
    expect_eventually("fence", ElementsAre("fence"));
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(get("key " + std::to_string(i)).set) << i;
}

TEST_P(Store, NothingAnswersAfterItsTime) {
    const moment start = now();
    put("key", {.body = "short", .vary_name = "accept", .vary_value = "a", .keep = seconds(30)});
    put("key", {.body = "long", .vary_name = "accept", .vary_value = "b", .keep = seconds(300)});
    expect_eventually("key", SizeIs(2));
    const moment later{start.wall + seconds(60), start.steady};
    const found f = asked(*store_, "key", later);
    ASSERT_TRUE(f.set);
    ASSERT_EQ(f.set.size(), 1U);
    EXPECT_EQ(f.set.front()->response.selecting[0].value, "b");
    EXPECT_FALSE(asked(*store_, "key", {start.wall + seconds(600), start.steady}).set);
}

TEST_P(Store, WhatIsPastItsTimeIsNotKept) {
    put("key", {.body = "hello", .keep = seconds(-1)});
    put("fence", {.body = "fence"});
    expect_eventually("fence", SizeIs(1));
    EXPECT_FALSE(get("key").set);
}

TEST_P(Store, HeadOnlyAnswersAreFresh) {  // bug-cases B101: a hit changes nothing
    put("key", {.body = "hello", .etag = "\"1\""});
    expect_eventually("key", ElementsAre("hello"));
    const found first = get("key");
    const std::string head(first.set.front()->wire_full());
    for (int i = 0; i < 5; ++i) (void)bodies("key");
    const found last = get("key");
    EXPECT_EQ(last.set.front()->wire_full(), head);
    EXPECT_EQ(bodies("key"), std::vector<std::string>{"hello"});
}

TEST_P(Store, TooLargeIsNotKeptAndReplacesWhatWasThere) {  // bug-cases B91
    put("key", {.body = "small"});
    expect_eventually("key", ElementsAre("small"));
    put("key", {.body = std::string(testing::max_object + 1, 'x')});
    expect_eventually("key", IsEmpty());
    EXPECT_GT(store_->stats().of(operation::put, outcome::too_large), 0U);
}

TEST_P(Store, TheLargestIsKept) {
    std::string body(testing::max_object, ' ');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 >> 3U);
    put("key", {.body = body});
    expect_eventually("key", ElementsAre(body));
}

TEST_P(Store, ManyHandsSeeRightAnswersOnly) {
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> hands;
        for (unsigned hand = 0; hand < 4; ++hand) {
            hands.emplace_back([&, hand] {
                std::mt19937 random(hand);
                for (int i = 0; i < 150; ++i) {
                    const std::string key = "key " + std::to_string(random() % 5);
                    switch (random() % 6) {
                        case 0:
                            put(key, {.body = key + std::string(random() % 50'000, '.'), .etag = '"' + key + '"'});
                            break;
                        case 1: store_->erase(key, now()); break;
                        default:
                            for (const std::string& b : bodies(key)) wrong += b.starts_with(key) ? 0 : 1;
                    }
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST_P(Store, PurgesAtOnceAndSaysWhenItIsPublished) {
    const auto asked_now = [&] {
        cache::stored_response r;
        r.known = store_->purges().mark();
        cache::policy rules;
        rules.tags = {"tag"};
        cache::collect_tags(r, {}, rules);
        r.index();
        return make_object(std::move(r), share("x"), now().wall + seconds(60));
    };
    const auto state_of = [&](const object_ptr& o) {
        std::string scratch;
        return store_->purges().judge(*o, {}, "route", {}, scratch).how;
    };
    const object_ptr before = asked_now();
    EXPECT_EQ(state_of(before), cache::purged::no);
    std::vector<cache::purge_target> groups;
    cache::purge_tag(groups, "tag");
    std::promise<bool> published;
    store_->purge(groups, true, now(), [&](bool all) { published.set_value(all); });
    EXPECT_EQ(state_of(before), cache::purged::soft);
    EXPECT_EQ(state_of(asked_now()), cache::purged::no);
    std::future<bool> told = published.get_future();
    ASSERT_EQ(told.wait_for(seconds(5)), std::future_status::ready);
    EXPECT_TRUE(told.get());
    EXPECT_EQ(state_of(before), cache::purged::soft);
    EXPECT_EQ(store_->stats().pending_purges, 0U);
}

}  // namespace
}  // namespace etagere::store
