// RFC 9110 §14.
#include "etagere/http/range.hpp"

#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::http {

inline void PrintTo(const byte_range& r, std::ostream* to) {
    *to << r.first << '-' << r.last;
}

namespace {

constexpr std::uint64_t largest = ~std::uint64_t{0};

fields with(field_id id, const std::vector<std::string>& lines) {
    fields out;
    for (const std::string& line : lines) out.append(id, line);
    return out;
}

std::optional<range_request> parse(std::string_view value) {
    return parse_range(with(field_id::range, {std::string(value)}));
}

TEST(Range, IsReadAndWritten) {
    for (const auto& [value, want] : std::vector<std::pair<std::string, std::string>>{
             {"bytes=0-4", "bytes=0-4"},
             {"bytes=5-", "bytes=5-"},
             {"bytes=-5", "bytes=-5"},
             {"bytes=-0", "bytes=-0"},
             {"BYTES=0-0", "bytes=0-0"},
             {"bytes=0-4,-5,7-", "bytes=0-4,-5,7-"},
             {"bytes= ,0-4 ,\t-5,,", "bytes=0-4,-5"},
             {"bytes=007-008", "bytes=7-8"},
             {"bytes=18446744073709551616-", "bytes=18446744073709551615-"}}) {
        SCOPED_TRACE(value);
        const auto ranges = parse(value);
        ASSERT_TRUE(ranges);
        EXPECT_EQ(to_string(*ranges), want);
    }
}

TEST(Range, WhatIsNoneIsIgnored) {
    for (const std::string value : {"",           "bytes",      "bytes=",      "bytes=,",       "bytes=-",
                                    "bytes=a-",   "bytes=1",    "bytes=1-a",   "bytes=2-1",     "bytes=0-1,2-1",
                                    "bytes=--1",  "bytes=1--2", "bytes=1-2-3", "bytes =1-2",    "bytes=1 - 2",
                                    "octets=1-2", "bytesx=1-2", "bytes=0x1-2", "bytes=1-2;3-4", "bytes=\"1-2\""}) {
        EXPECT_FALSE(parse(value)) << value;
    }
    EXPECT_FALSE(parse_range({}));
    EXPECT_FALSE(parse_range(with(field_id::range, {"bytes=0-1", "bytes=0-1"})));
    EXPECT_FALSE(parse_range(with(field_id::range, {"bytes=0-1", ""})));
}

TEST(Range, NoMoreThanAFew) {
    std::string value = "bytes=0-0";
    for (std::size_t i = 1; i < most_ranges; ++i) value += ",0-0";
    EXPECT_TRUE(parse(value));
    EXPECT_FALSE(parse(value + ",0-0"));
}

struct resolve_case {
    std::string asked;
    std::uint64_t length;
    std::vector<byte_range> want;
};

TEST(Range, IsPlaced) {
    const std::vector<resolve_case> cases{
        {"0-4", 10, {{0, 4}}},
        {"0-", 10, {{0, 9}}},
        {"-3", 10, {{7, 9}}},
        {"-30", 10, {{0, 9}}},
        {"9-9", 10, {{9, 9}}},
        {"3-99", 10, {{3, 9}}},
        {"0-0", 1, {{0, 0}}},
        {"10-,0-1", 10, {{0, 1}}},
        {"0-18446744073709551615", 10, {{0, 9}}},
        {"18446744073709551614-", largest, {{largest - 1, largest - 1}}},
        {"-18446744073709551615", largest, {{0, largest - 1}}},
        // one after the other in the order of the request
        {"900-909,0-9", 1000, {{900, 909}, {0, 9}}},
        // overlapping, touching, near
        {"0-9,5-14", 1000, {{0, 14}}},
        {"5-14,0-9", 1000, {{0, 14}}},
        {"0-9,10-19", 1000, {{0, 19}}},
        {"0-9,89-99", 1000, {{0, 99}}},
        {"0-9,90-99", 1000, {{0, 9}, {90, 99}}},
        // one that joins two others stands where the first of them stood
        {"500-509,0-9,100-109,8-101", 1000, {{500, 509}, {0, 109}}},
        {"0-9,500-509,100-109,8-101", 1000, {{0, 109}, {500, 509}}},
        {"0-9,200-209,90-119", 1000, {{0, 9}, {200, 209}, {90, 119}}},
        {"0-9,200-209,80-125", 1000, {{0, 209}}},
    };
    for (const resolve_case& c : cases) {
        SCOPED_TRACE(c.asked);
        byte_ranges out;
        ASSERT_EQ(resolve(*parse("bytes=" + c.asked), c.length, out), range_verdict::satisfiable);
        EXPECT_EQ(std::vector(out.all().begin(), out.all().end()), c.want);
    }
}

TEST(Range, ThatTouchesNothing) {
    byte_ranges out;
    for (const std::string_view asked : {"bytes=10-", "bytes=10-11", "bytes=-0", "bytes=10-,20-30,-0"}) {
        EXPECT_EQ(resolve(*parse(asked), 10, out), range_verdict::unsatisfiable) << asked;
    }
    EXPECT_EQ(resolve(*parse("bytes=0-"), 0, out), range_verdict::unsatisfiable);
    EXPECT_EQ(resolve(*parse("bytes=-1"), 0, out), range_verdict::ignored);  // satisfiable, and not sayable
    EXPECT_EQ(out.size(), 0U);
}

// CVE-2011-3192
TEST(Range, AbuseIsIgnored) {
    byte_ranges out;
    EXPECT_EQ(resolve(*parse("bytes=0-9,0-9,0-9,0-9"), 1000, out), range_verdict::ignored);
    EXPECT_EQ(resolve(*parse("bytes=0-,1-,2-"), 1000, out), range_verdict::ignored);
    EXPECT_EQ(resolve(*parse("bytes=0-9,5-14,12-20"), 1000, out), range_verdict::satisfiable);
}

// Property: exactly the octets that were asked for, none twice, except for the small gaps between them.
TEST(Range, ResolvedRangesCoverWhatWasAskedFor) {
    std::mt19937 random(7);
    for (int round = 0; round < 5000; ++round) {
        const std::uint64_t length = 1 + random() % 600;
        range_request asked;
        std::vector<bool> wanted(length, false);
        for (std::uint32_t i = 1 + random() % 6; i > 0; --i) {
            range_spec s;
            if (random() % 3 == 0) {
                s.last = random() % (length * 2);
            } else {
                s.first = random() % (length + 20);
                if (random() % 2 == 0) s.last = *s.first + random() % 50;
            }
            asked.add(s);
            const std::uint64_t first = s.first.value_or(length - std::min(length, s.last.value_or(0)));
            const std::uint64_t end = s.first && s.last ? std::min(length, *s.last + 1) : length;
            for (std::uint64_t at = first; at < end; ++at) wanted[at] = true;
        }
        byte_ranges out;
        const range_verdict verdict = resolve(asked, length, out);
        if (verdict == range_verdict::ignored) continue;
        std::vector<int> got(length, 0);
        for (const byte_range& r : out.all()) {
            ASSERT_LE(r.first, r.last);
            ASSERT_LT(r.last, length);
            ASSERT_TRUE(wanted[r.first] && wanted[r.last]);
            for (std::uint64_t at = r.first; at <= r.last; ++at) ++got[at];
        }
        bool any = false;
        for (std::uint64_t at = 0; at < length; ++at) {
            any = any || wanted[at];
            ASSERT_LE(got[at], 1);
            if (wanted[at]) ASSERT_EQ(got[at], 1) << at;
        }
        ASSERT_EQ(verdict == range_verdict::satisfiable, any);
    }
}

TEST(ContentRange, IsRead) {
    EXPECT_EQ(parse_content_range("bytes 0-4/10"), (content_range{byte_range{0, 4}, 10}));
    EXPECT_EQ(parse_content_range("Bytes 9-9/10"), (content_range{byte_range{9, 9}, 10}));
    EXPECT_EQ(parse_content_range("bytes 0-4/*"), (content_range{byte_range{0, 4}, std::nullopt}));
    EXPECT_EQ(parse_content_range("bytes */10"), (content_range{std::nullopt, 10}));
    EXPECT_TRUE(parse_content_range(with(field_id::content_range, {"bytes 0-4/10"})));
}

TEST(ContentRange, NonsenseIsNone) {
    for (const std::string_view value : {"",
                                         "bytes",
                                         "bytes ",
                                         "bytes 0-4",
                                         "bytes 0-4/",
                                         "bytes 4-0/10",
                                         "bytes 0-10/10",
                                         "bytes 0-4/4",
                                         "bytes */*",
                                         "bytes -4/10",
                                         "bytes 0-/10",
                                         "bytes=0-4/10",
                                         "bytes  0-4/10",
                                         "bytes 0-4/10 ",
                                         "bytes 0 - 4/10",
                                         "items 0-4/10",
                                         "bytes 0-4/10,bytes 5-9/10",
                                         "bytes 0-99999999999999999999/99999999999999999999",
                                         "bytes a-4/10",
                                         "bytes 0-4/1a"}) {
        EXPECT_FALSE(parse_content_range(value)) << value;
    }
    EXPECT_FALSE(parse_content_range(with(field_id::content_range, {"bytes 0-4/10", "bytes 0-4/10"})));
    EXPECT_FALSE(parse_content_range(fields{}));
}

TEST(ContentRange, IsWritten) {
    std::string out;
    append_content_range(out, {0, 4}, 10);
    EXPECT_EQ(out, "bytes 0-4/10");
    EXPECT_EQ(parse_content_range(out), (content_range{byte_range{0, 4}, 10}));
    out.clear();
    append_unsatisfied_range(out, 10);
    EXPECT_EQ(out, "bytes */10");
}

}  // namespace
}  // namespace etagere::http
