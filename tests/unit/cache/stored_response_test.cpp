// RFC 9111 §3.1: what of a response is kept.
#include "etagere/cache/stored_response.hpp"

#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

TEST(MakeStored, TakesOverStatusTimesAndLength) {
    http::response_head response = make_response({{"Age", "7"}, {"Date", date(t0)}}, 404);
    response.body = http::framing::of_length(1234);
    const stored_response r = make_stored(make_request(), response, policy{}, t0 - 2s, t0);
    EXPECT_EQ(r.status, 404);
    EXPECT_EQ(r.request_time, t0 - 2s);
    EXPECT_EQ(r.response_time, t0);
    EXPECT_EQ(r.body_size, 1234U);
    EXPECT_EQ(r.age_value, 7s);
    EXPECT_EQ(r.date, std::chrono::floor<seconds>(t0));
}

class NeverStored : public ::testing::TestWithParam<std::string> {};

TEST_P(NeverStored, IsNotInTheHead) {
    const stored_response r = stored({{"Cache-Control", "max-age=60"}, {GetParam(), "1"}, {"Server", "puma"}});
    EXPECT_FALSE(r.header.find(GetParam()).has_value());
    EXPECT_EQ(r.header.get(http::field_id::server), "puma");
}

// B51, B71, S209, S221; and what a cache replays makes no sense to another client
INSTANTIATE_TEST_SUITE_P(Fields, NeverStored,
                         ::testing::Values("Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
                                           "Transfer-Encoding", "Upgrade", "Content-Length", "Proxy-Authenticate",
                                           "Proxy-Authentication-Info", "Proxy-Authorization", "Set-Cookie",
                                           "set-cookie2", "Age", "Cache-Status", "X-Request-Id", "X-RUNTIME",
                                           "X-Rack-Cache", "Server-Timing", "traceparent"));

TEST(MakeStored, KeepsEverythingElseInOrderAndNumber) {
    const stored_response r =
        stored({{"Foo", "a"}, {"Via", "1.1 x"}, {"foo", "b"}, {"Content-Range", "x"}, {"Link", "l"}});
    EXPECT_EQ(r.header.combined("Foo"), "a, b");
    EXPECT_EQ(r.header.get(http::field_id::via), "1.1 x");
    EXPECT_EQ(r.header.get(http::field_id::content_range), "x");
    EXPECT_EQ(r.header.get(http::field_id::link), "l");
}

// RFC 9110 §6.6.1
TEST(MakeStored, AddsADateWhereThereIsNone) {
    EXPECT_EQ(stored({}).header.get(http::field_id::date), date(t0));
    const stored_response junk = stored({{"Date", "yesterday"}});
    EXPECT_EQ(junk.header.count(http::field_id::date), 1U);
    EXPECT_EQ(junk.header.get(http::field_id::date), date(t0));
    EXPECT_EQ(junk.date, std::chrono::floor<seconds>(t0));
    EXPECT_EQ(stored({{"Date", date(t0 - 1h)}}).header.get(http::field_id::date), date(t0 - 1h));
}

TEST(Index, DerivesTheSameFromTheRecordedPart) {
    const stored_response r = stored({{"Cache-Control", "max-age=60"},
                                      {"ETag", "W/\"a\""},
                                      {"Last-Modified", date(t0 - 1h)},
                                      {"Expires", "0"},
                                      {"Age", "5"}});
    EXPECT_TRUE(r.expires_invalid);
    EXPECT_FALSE(r.expires.has_value());
    stored_response copy;  // as it comes out of a record
    copy.status = r.status;
    copy.header = r.header;
    copy.response_time = r.response_time;
    copy.request_time = r.request_time;
    copy.age_value = r.age_value;
    copy.index();
    EXPECT_EQ(copy.etag(), "W/\"a\"");
    EXPECT_EQ(copy.last_modified, r.last_modified);
    EXPECT_EQ(copy.date, r.date);
    EXPECT_EQ(copy.directives.max_age, 60);
    EXPECT_TRUE(copy.expires_invalid);
    EXPECT_EQ(current_age(copy, t0 + 9s), current_age(r, t0 + 9s));
}

TEST(Validators, ATagOfOursIsNoneForTheOrigin) {
    stored_response r = stored({{"ETag", "\"a\""}});
    EXPECT_TRUE(r.has_validator());
    ASSERT_TRUE(r.tag().has_value());
    EXPECT_EQ(r.tag()->opaque, "a");
    r.own_etag = true;
    EXPECT_FALSE(r.has_validator());
}

// Copies own what they have: the first may go, or change.
TEST(Copies, AreDeep) {
    std::optional<stored_response> first = stored({{"ETag", "\"a\""}, {"Vary", "Bar, Foo"}}, 200, {{"Bar", "1"}});
    first->rest.edit().tags = {1, 2};
    const stored_response copy = *first;
    first->rest.edit().tags.clear();
    first->header.set(http::field_id::etag, "\"b\"");
    first->selecting = {};
    first.reset();
    EXPECT_EQ(copy.etag(), "\"a\"");
    EXPECT_EQ(copy.rest->tags, (std::vector<group_id>{1, 2}));
    EXPECT_EQ(copy.selecting, (selection{{"bar", "1"}, {"foo", std::nullopt}}));
}

TEST(Selection, IsWhatItWasMadeOf) {
    const selection none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_EQ(none.memory(), 0U);
    EXPECT_EQ(none, selection(std::vector<selector>{}));

    const std::vector<selector> of{{"a", std::nullopt}, {"b", ""}, {"", "c"}, {"d", std::string(70'000, 'd')}};
    const selection all = of;
    ASSERT_EQ(all.size(), of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        EXPECT_EQ(all[i].name, of[i].name);
        EXPECT_EQ(all[i].value, of[i].value);
    }
    EXPECT_EQ(all, selection(of));
    EXPECT_NE(all, none);
    EXPECT_NE((selection{{"a", std::nullopt}}), (selection{{"a", ""}})) << "absent and empty differ";
    EXPECT_NE((selection{{"a", "b"}}), (selection{{"ab", ""}}));
    selection other{{"x", "y"}};
    other = all;
    EXPECT_EQ(other, all);
}

}  // namespace
}  // namespace etagere::cache::test
