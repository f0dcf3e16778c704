// The small pure parts of the remote store.
#include "etagere/store/store.hpp"

#include "../../../src/store/memcached/breaker.hpp"
#include "../../../src/store/memcached/entity_guesses.hpp"
#include "../../../src/store/memcached/lifetime.hpp"
#include "../../../src/store/variants.hpp"
#include "make.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using std::chrono::days;
using std::chrono::hours;

steady_time after(milliseconds t) {
    return steady_time(hours(1)) + t;
}

TEST(Breaker, OpensAfterFailuresInARow) {
    breaker b(3, milliseconds(100));
    EXPECT_FALSE(b.failed(after(milliseconds(0))));
    EXPECT_FALSE(b.failed(after(milliseconds(1))));
    b.succeeded();
    EXPECT_FALSE(b.failed(after(milliseconds(2))));
    EXPECT_FALSE(b.failed(after(milliseconds(3))));
    EXPECT_TRUE(b.allow(after(milliseconds(4))));
    EXPECT_TRUE(b.failed(after(milliseconds(5))));
    EXPECT_EQ(b.state(), breaker_state::open);
    EXPECT_FALSE(b.allow(after(milliseconds(104))));
}

TEST(Breaker, LetsOneTryWhenItsTimeIsOver) {
    breaker b(1, milliseconds(100));
    b.failed(after(milliseconds(0)));
    EXPECT_TRUE(b.allow(after(milliseconds(100))));
    EXPECT_EQ(b.state(), breaker_state::half_open);
    EXPECT_FALSE(b.allow(after(milliseconds(101)))) << "one, not all that wait";
    EXPECT_TRUE(b.failed(after(milliseconds(110)))) << "the try failed: open again";
    EXPECT_FALSE(b.allow(after(milliseconds(209))));
    EXPECT_TRUE(b.allow(after(milliseconds(210))));
    b.succeeded();
    EXPECT_EQ(b.state(), breaker_state::closed);
    EXPECT_TRUE(b.allow(after(milliseconds(211))));
}

TEST(Breaker, ATryThatIsNeverHeardOfIsReplaced) {
    breaker b(1, milliseconds(100));
    b.failed(after(milliseconds(0)));
    EXPECT_TRUE(b.allow(after(milliseconds(100))));
    EXPECT_FALSE(b.allow(after(milliseconds(199))));
    EXPECT_TRUE(b.allow(after(milliseconds(200))));
}

TEST(Breaker, MoreFailuresWhileOpenAreNoNews) {
    breaker b(1, milliseconds(100));
    EXPECT_TRUE(b.failed(after(milliseconds(0))));
    EXPECT_FALSE(b.failed(after(milliseconds(1))));
}

// bug-cases B95.
TEST(MemcachedExpiry, IsRelativeUpToThirtyDaysAndAbsoluteAbove) {
    const wall_time now(seconds(1'700'000'000));
    const auto of = [&](milliseconds lifetime) { return memcached_expiry(now + lifetime, now); };
    EXPECT_EQ(of(seconds(0)), -1);
    EXPECT_EQ(of(seconds(-5)), -1);
    EXPECT_EQ(of(milliseconds(1)), 1) << "0 would mean for ever";
    EXPECT_EQ(of(seconds(60)), 60);
    EXPECT_EQ(of(days(30)), 2'592'000);
    EXPECT_EQ(of(days(30) + milliseconds(1)), 1'700'000'000 + 2'592'001);
    EXPECT_EQ(of(days(365)), 1'700'000'000 + 31'536'000);
    EXPECT_EQ(of(days(365) * 100), INT32_MAX) << "memcached reads 31 bits";
    const wall_time in_2038(seconds(INT32_MAX));
    EXPECT_EQ(memcached_expiry(in_2038 + days(90), in_2038), 2'592'000);
}

TEST(EntityExpiry, IsADayAtLeast) {
    const wall_time now(seconds(1'700'000'000));
    EXPECT_EQ(entity_expiry(now + seconds(5), now), 86'400);
    EXPECT_EQ(entity_expiry(now + days(2), now), 2 * 86'400);
}

struct tagged {
    cache::stored_response response;
    int tag = 0;
};
const cache::stored_response& response_of(const tagged& t) {
    return t.response;
}
tagged variant(int tag, const std::string& selected, seconds when) {
    tagged t{.response = {}, .tag = tag};
    t.response.selecting = {{"accept", selected}};
    t.response.response_time = wall_time(when);
    return t;
}
std::vector<int> tags(const std::vector<tagged>& all) {
    std::vector<int> out;
    for (const tagged& t : all) out.push_back(t.tag);
    return out;
}

TEST(JoiningVariants, ReplacesItsOwnAndKeepsTheNewest) {
    std::vector<tagged> all;
    EXPECT_TRUE(join(all, variant(1, "a", seconds(10)), 3, response_of));
    EXPECT_TRUE(join(all, variant(2, "b", seconds(5)), 3, response_of));
    EXPECT_TRUE(join(all, variant(3, "c", seconds(11)), 3, response_of));
    EXPECT_TRUE(join(all, variant(4, "a", seconds(12)), 3, response_of));
    EXPECT_THAT(tags(all), ::testing::UnorderedElementsAre(2, 3, 4));
    EXPECT_TRUE(join(all, variant(5, "d", seconds(13)), 3, response_of));
    EXPECT_THAT(tags(all), ::testing::UnorderedElementsAre(3, 4, 5)) << "the oldest, not the one that was put first";
}

TEST(JoiningVariants, TheFreshOneNeverGoes) {
    std::vector<tagged> all;
    join(all, variant(1, "a", seconds(1000)), 1, response_of);
    EXPECT_TRUE(join(all, variant(2, "b", seconds(1)), 1, response_of));
    EXPECT_THAT(tags(all), ::testing::ElementsAre(2));
    EXPECT_TRUE(join(all, variant(3, "c", seconds(0)), 0, response_of)) << "0 variants is read as 1";
    EXPECT_THAT(tags(all), ::testing::ElementsAre(3));
}

TEST(JoiningVariants, AnEarlierAnswerDoesNotReplaceALaterOne) {
    std::vector<tagged> all;
    join(all, variant(1, "a", seconds(1000)), 3, response_of);
    EXPECT_FALSE(join(all, variant(2, "a", seconds(940)), 3, response_of));
    EXPECT_TRUE(join(all, variant(3, "a", seconds(939)), 3, response_of)) << "a clock that was set back";
    EXPECT_THAT(tags(all), ::testing::ElementsAre(3));
}

TEST(Object, OfAFreshenedHeadHasItsTextInTheFields) {
    const object_ptr old = testing::make({.body = "body", .etag = "\"a\""});
    cache::stored_response dated = old->response;
    dated.header.set(http::field_id::date, "Tue, 14 Nov 2023 22:13:20 GMT");
    const object_ptr kept = make_object(dated, old->body, old->keep_until);
    cache::stored_response fresh = kept->response;
    ASSERT_TRUE(fresh.header.overwrite(http::field_id::date, "Tue, 14 Nov 2023 22:13:21 GMT"));
    const object_ptr made = make_object(fresh, kept->body, kept->keep_until);
    EXPECT_EQ(made->wire_full(), std::string("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=60"
                                             "\r\nETag: \"a\"\r\nDate: Tue, 14 Nov 2023 22:13:21 GMT\r\n"
                                             "Accept-Ranges: bytes\r\nVia: 1.1 etagere\r\n"));
    EXPECT_EQ(testing::list(made->response.header), testing::list(fresh.header));
    EXPECT_THAT(kept->wire_full(), ::testing::HasSubstr("22:13:20"));

    fresh.status = 404;  // the text says another one
    EXPECT_THAT(make_object(fresh, kept->body, kept->keep_until)->wire_full(),
                ::testing::StartsWith("HTTP/1.1 404 Not Found\r\nContent-Type"));
}

TEST(EntityGuesses, OfTenThousandKeysNearlyAllAreKept) {
    entity_guesses guesses;
    const auto digest_of = [](int i) {
        record::digest d{};
        d[0] = static_cast<unsigned char>(i);
        d[1] = static_cast<unsigned char>(i >> 8);
        return d;
    };
    const auto key_of = [](int i) { return "k" + std::to_string(i); };
    constexpr int keys = 10'000;
    for (int i = 0; i < keys; ++i) guesses.learn(key_of(i), digest_of(i));
    int kept = 0;
    for (int i = 0; i < keys; ++i) {
        const auto found = guesses.find(key_of(i));
        if (!found) continue;
        EXPECT_EQ(*found, digest_of(i)) << i;
        ++kept;
    }
    EXPECT_GE(kept, keys * 99 / 100);

    guesses.learn(key_of(7), digest_of(8));
    EXPECT_EQ(guesses.find(key_of(7)), digest_of(8));
    guesses.forget(key_of(7));
    EXPECT_EQ(guesses.find(key_of(7)), std::nullopt);
    EXPECT_EQ(guesses.find(key_of(8)), digest_of(8));
    EXPECT_EQ(guesses.find("never"), std::nullopt);
}

TEST(EntityGuesses, StayBounded) {
    entity_guesses guesses;
    constexpr int keys = 300'000;
    for (int i = 0; i < keys; ++i) guesses.learn("k" + std::to_string(i), {});
    int kept = 0;
    for (int i = 0; i < keys; ++i) kept += guesses.find("k" + std::to_string(i)) ? 1 : 0;
    EXPECT_LE(kept, 65'536);
    EXPECT_GE(kept, 60'000);
}

TEST(Names, AreTheLabelsOfTheMetrics) {
    std::vector<std::string_view> operations, outcomes;
    for (std::size_t i = 0; i < static_cast<std::size_t>(operation::count_); ++i) {
        operations.push_back(name(static_cast<operation>(i)));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(outcome::count_); ++i) {
        outcomes.push_back(name(static_cast<outcome>(i)));
    }
    EXPECT_THAT(operations, ::testing::ElementsAre("peek", "load", "load_body", "put", "freshen", "erase"));
    EXPECT_THAT(outcomes, ::testing::ElementsAre("ok", "miss", "timeout", "unavailable", "error", "too_large"));
    EXPECT_EQ(name(level::none), "none");
    EXPECT_EQ(name(level::memory), "memory");
    EXPECT_EQ(name(level::memcached), "memcached");
}

}  // namespace
}  // namespace etagere::store
