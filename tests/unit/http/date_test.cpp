#include "etagere/http/date.hpp"

#include <gmock/gmock.h>

namespace etagere::http {
namespace {

using namespace std::chrono_literals;
using testing::Optional;

constexpr wall_time now = std::chrono::sys_days(2026y / 11 / 30) + 12h;
constexpr wall_seconds rfc_example = std::chrono::sys_days(1994y / 11 / 6) + 8h + 49min + 37s;

TEST(Date, ReadsTheThreeFormatsOfTheRfc) {
    EXPECT_THAT(parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now), Optional(rfc_example));
    EXPECT_THAT(parse_date("Sunday, 06-Nov-94 08:49:37 GMT", now), Optional(rfc_example));
    EXPECT_THAT(parse_date("Sun Nov  6 08:49:37 1994", now), Optional(rfc_example));
    EXPECT_THAT(parse_date("Wed Nov 16 08:49:37 1994", now), Optional(rfc_example + 240h));
}

TEST(Date, WritesImfFixdate) {
    EXPECT_EQ(format_date(rfc_example), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(format_date(wall_seconds{}), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(format_date(std::chrono::floor<seconds>(now)), "Mon, 30 Nov 2026 12:00:00 GMT");
    std::string out = "Date: ";
    append_date(out, rfc_example);
    EXPECT_EQ(out, "Date: Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(Date, SurvivesTheRoundTripOnEveryDayOfFourCenturies) {
    const auto first = std::chrono::sys_days(1900y / 1 / 1);
    const auto last = std::chrono::sys_days(2300y / 1 / 1);
    int i = 0;
    for (auto day = first; day < last; day += std::chrono::days(1), ++i) {
        const wall_seconds t = day + seconds(i * 7919 % 86'400);
        const std::string text = format_date(t);
        ASSERT_EQ(text.size(), 29U);
        ASSERT_EQ(parse_date(text, now), t) << text;
    }
}

// RFC 9110 §5.6.7: more than 50 years ahead means the past.
TEST(Date, GivesTwoDigitYearsACentury) {
    const auto year_of = [](const char* text) {
        const auto t = parse_date(text, now);
        return t ? static_cast<int>(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(*t)).year()) : 0;
    };
    EXPECT_EQ(year_of("Monday, 30-Nov-26 00:00:00 GMT"), 2026);
    EXPECT_EQ(year_of("Monday, 30-Nov-76 00:00:00 GMT"), 2076);
    EXPECT_EQ(year_of("Wednesday, 30-Nov-77 00:00:00 GMT"), 1977);
    EXPECT_EQ(year_of("Tuesday, 30-Nov-99 00:00:00 GMT"), 1999);
    const wall_time nineties = std::chrono::sys_days(1999y / 1 / 1);
    EXPECT_THAT(parse_date("Wednesday, 30-Nov-05 00:00:00 GMT", nineties),
                Optional(wall_seconds(std::chrono::sys_days(2005y / 11 / 30))));
}

TEST(Date, TakesALeapSecondAsTheNextOne) {
    EXPECT_THAT(parse_date("Sat, 31 Dec 2016 23:59:60 GMT", now),
                Optional(wall_seconds(std::chrono::sys_days(2017y / 1 / 1))));
}

// RFC 9111 §4.2 relaxes the grammar for caches. Which day of the week it was is in the date already.
TEST(Date, ReadsAnyCaseAndAnyDayName) {
    const auto expected = parse_date("Sun, 06 Nov 1994 08:49:37 GMT", now);
    ASSERT_TRUE(expected);
    for (const std::string_view text :
         {"sun, 06 nov 1994 08:49:37 gmt", "SUN, 06 NOV 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 gMT",
          "Mon, 06 Nov 1994 08:49:37 GMT", "sUNDAY, 06-nOV-94 08:49:37 Gmt", "Monday, 06-Nov-94 08:49:37 GMT",
          "SUN nov  6 08:49:37 1994", "Sat Nov  6 08:49:37 1994"}) {
        EXPECT_EQ(parse_date(text, now), expected) << text;
    }
    EXPECT_EQ(parse_date("Foo, 06 Nov 1994 08:49:37 GMT", now), std::nullopt);
}

class InvalidDate : public testing::TestWithParam<const char*> {};

TEST_P(InvalidDate, IsNoDate) {
    EXPECT_EQ(parse_date(GetParam(), now), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, InvalidDate,
                         testing::Values("", "0", "-1", "now",                  //
                                         "Sun, 06 Nov 1994 08:49:37",           // no zone
                                         "Sun, 06 Nov 1994 08:49:37 UTC",       //
                                         "Sun, 06 Nov 1994 08:49:37 +0000",     //
                                         "Sun, 06 Nov 1994 08:49:37 GMT ",      //
                                         " Sun, 06 Nov 1994 08:49:37 GMT",      //
                                         "Sun,  06 Nov 1994 08:49:37 GMT",      //
                                         "Sun, 6 Nov 1994 08:49:37 GMT",        //
                                         "Sun, 06 Nov 94 08:49:37 GMT",         //
                                         "Sun, 06-Nov-1994 08:49:37 GMT",       //
                                         "Sun, 06 November 1994 08:49:37 GMT",  //
                                         "Sun, 06 Nov 1994 8:49:37 GMT",        //
                                         "Sun, 06 Nov 1994 24:00:00 GMT",       //
                                         "Sun, 06 Nov 1994 08:60:00 GMT",       //
                                         "Sun, 06 Nov 1994 08:49:61 GMT",       //
                                         "Sun, 06 Nov 1994 08.49.37 GMT",       //
                                         "Sun, +6 Nov 1994 08:49:37 GMT",       //
                                         "Wed, 30 Feb 1994 08:49:37 GMT",       // no such day
                                         "Tue, 29 Feb 2100 00:00:00 GMT",       // no leap year
                                         "Sun, 00 Nov 1994 08:49:37 GMT",       //
                                         "Sunday, 6-Nov-94 08:49:37 GMT",       //
                                         "Sunday, 06-Nov-94 08:49:37 GMT+1",    //
                                         "Sun, 06-Nov-94 08:49:37 GMT",         //
                                         "Sun Nov 6 08:49:37 1994",             // one space, one digit
                                         "Sun Nov 06 08:49:37 94", "Sun Nov  6 08:49:37 1994 GMT",
                                         "Sun Nov   6 08:49:37 1994"));

TEST(Date, NoPrefixOfADateIsADate) {
    for (const std::string_view text :
         {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
        for (std::size_t n = 0; n < text.size(); ++n) EXPECT_EQ(parse_date(text.substr(0, n), now), std::nullopt) << n;
    }
}

}  // namespace
}  // namespace etagere::http
