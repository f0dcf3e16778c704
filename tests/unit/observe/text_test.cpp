#include "etagere/observe/text.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

using namespace std::chrono_literals;

struct escape_case {
    const char* name;
    std::string_view in;
    std::string_view json;
    std::string_view plain;
};
void PrintTo(const escape_case& c, std::ostream* out) {
    *out << c.name;
}

class Escape : public testing::TestWithParam<escape_case> {};

TEST_P(Escape, StaysInsideItsValue) {
    std::string json;
    append_json_escaped(json, GetParam().in);
    EXPECT_EQ(json, GetParam().json);
    std::string plain;
    append_plain_escaped(plain, GetParam().in, false);
    EXPECT_EQ(plain, GetParam().plain);
}

// S277: CR, LF, ESC and quotes.
INSTANTIATE_TEST_SUITE_P(
    Table, Escape,
    testing::Values(escape_case{"Empty", "", "", ""},  //
                    escape_case{"Plain", "/api/products?page=1", "/api/products?page=1", "/api/products?page=1"},
                    escape_case{"LineFeed", "a\nb", R"(a\u000ab)", R"(a\x0ab)"},
                    escape_case{"CarriageReturn", "a\rb", R"(a\u000db)", R"(a\x0db)"},
                    escape_case{"Tab", "a\tb", R"(a\u0009b)", R"(a\x09b)"},
                    escape_case{"Nul", std::string_view("a\0b", 3), R"(a\u0000b)", R"(a\x00b)"},
                    escape_case{"EscapeSequence", "\x1b[31m", R"(\u001b[31m)", R"(\x1b[31m)"},
                    escape_case{"Delete", "\x7f", R"(\u007f)", R"(\x7f)"},
                    escape_case{"Quote", R"(a"b)", R"(a\"b)", R"(a\x22b)"},
                    escape_case{"Backslash", R"(a\n)", R"(a\\n)", R"(a\x5cn)"},
                    escape_case{"TwoBytes", "caf\u00e9", "caf\u00e9", "caf\u00e9"},
                    escape_case{"ThreeBytes", "\u65e5\u672c", "\u65e5\u672c", "\u65e5\u672c"},
                    escape_case{"FourBytes", "\U0001F600", "\U0001F600", "\U0001F600"},
                    escape_case{"ControlSequenceIntroducerOfC1", "\u009b31m", R"(\u009b31m)", R"(\xc2\x9b31m)"},
                    escape_case{"LineSeparator", "a\u2028b", R"(a\u2028b)", R"(a\xe2\x80\xa8b)"},
                    escape_case{"RightToLeftOverride", "a\u202eb", R"(a\u202eb)", R"(a\xe2\x80\xaeb)"},
                    escape_case{"LoneContinuation", "a\x80z", R"(a\ufffdz)", R"(a\x80z)"},
                    escape_case{"Latin1", "caf\xe9", R"(caf\ufffd)", R"(caf\xe9)"},
                    escape_case{"CutInsideACharacter", "\xe6\x97", R"(\ufffd\ufffd)", R"(\xe6\x97)"},
                    escape_case{"OverlongSlash", "\xc0\xaf", R"(\ufffd\ufffd)", R"(\xc0\xaf)"},
                    escape_case{"OverlongOfThree", "\xe0\x80\x8a", R"(\ufffd\ufffd\ufffd)", R"(\xe0\x80\x8a)"},
                    escape_case{"Surrogate", "\xed\xa0\x80", R"(\ufffd\ufffd\ufffd)", R"(\xed\xa0\x80)"},
                    escape_case{"AboveUnicode", "\xf4\x90\x80\x80", R"(\ufffd\ufffd\ufffd\ufffd)",
                                R"(\xf4\x90\x80\x80)"},
                    escape_case{"NoCharacterAtAll", "\xff", R"(\ufffd)", R"(\xff)"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Escape, EveryByteAloneGivesOneLineOfPrintableAscii) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string in(1, static_cast<char>(byte));
        std::string json;
        std::string plain;
        append_json_escaped(json, in);
        append_plain_escaped(plain, in, true);
        for (const char c : json + plain) {
            EXPECT_GE(c, 0x20) << byte;
            EXPECT_LT(c, 0x7f) << byte;
        }
        EXPECT_EQ(plain.find(' '), std::string::npos);
    }
}

TEST(Escape, SpacesOnlyWhereTheyPartWords) {
    std::string out;
    append_plain_escaped(out, "a b", true);
    append_plain_escaped(out, "a b", false);
    EXPECT_EQ(out, R"(a\x20ba b)");
}

// A writer is filled with what the string would be, whatever the length and wherever the odd octet stands.
TEST(Escape, AWriterGetsTheSameAsAString) {
    const auto with_writer = [](std::string_view text, auto append) {
        std::string out;
        append_at_most(out, most_json(text), [&](writer& to) { append(to, text); });
        return out;
    };
    const auto text = [](writer& to, std::string_view t) { append_json_string(to, t); };
    const auto tag = [](writer& to, std::string_view t) { append_json_tag(to, t); };
    for (std::size_t n = 0; n <= 40; ++n) {
        for (std::size_t odd = 0; odd <= n; ++odd) {
            for (const char c : {'a', '"', '\\', '\n', '\x7f', '\xff'}) {
                std::string in(n, 'x');
                if (odd < n) in[odd] = c;
                std::string expected;
                append_json_string(expected, in);
                EXPECT_EQ(with_writer(in, text), expected) << n << ' ' << odd;
                EXPECT_EQ(with_writer(in, tag), expected) << n << ' ' << odd;
            }
        }
    }
    const std::string long_one(max_logged_value + 1, '\n');
    for (const std::string in : {R"("v1")", R"(W/"v1")", R"("a", "b")", R"(W/"a", W/"b")", R"("")", R"(W/"")", R"(")",
                                 R"(W/")", "W/", "*", R"("a\b")", "\"caf\xc3\xa9\"", "\"\n\"", long_one.c_str()}) {
        std::string expected;
        append_json_string(expected, in);
        EXPECT_EQ(with_writer(in, tag), expected) << in;
    }
}

// What comes behind an odd tag in the same line finds its room.
TEST(Escape, ATagThatIsNoneLeavesTheRoomAsItWas) {
    std::string out;
    const std::string_view odd = R"("a", "b")";
    const std::string rest(100, 'r');
    append_at_most(out, most_json(odd) + rest.size(), [&](writer& to) {
        append_json_tag(to, odd);
        to += std::string_view(rest);
    });
    EXPECT_EQ(out, R"("\"a\", \"b\"")" + rest);
}

TEST(Escape, LongValuesAreCutAndMarked) {
    std::string out;
    append_json_escaped(out, std::string(max_logged_value, 'a'));
    EXPECT_EQ(out, std::string(max_logged_value, 'a'));
    out.clear();
    append_json_escaped(out, std::string(max_logged_value + 1, 'a'));
    EXPECT_EQ(out, std::string(max_logged_value, 'a') + "\u2026");
}

template <class Number> std::string number(Number n) {
    std::string out;
    append_number(out, n);
    return out;
}

TEST(Numbers, AsJsonWantsThem) {
    EXPECT_EQ(number(std::uint64_t{0}), "0");
    EXPECT_EQ(number(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(number(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(number(0.0005), "0.0005");
    EXPECT_EQ(number(1e9), "1000000000");
    EXPECT_EQ(number(1764518405.123), "1764518405.123");
    EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "0");
    EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "0");
    EXPECT_EQ(number(std::numeric_limits<double>::denorm_min()).substr(0, 4), "0.00");
    EXPECT_EQ(number(std::numeric_limits<double>::max()).size(), 309U);
}

TEST(Numbers, MillisecondsKeepThreeDigits) {
    std::string out;
    for (const std::uint64_t us : {0U, 7U, 999U, 1000U, 1234U, 60'000'050U}) {
        append_milliseconds(out, us);
        out += ' ';
    }
    EXPECT_EQ(out, "0.000 0.007 0.999 1.000 1.234 60000.050 ");
}

wall_time at(std::chrono::year_month_day date, milliseconds time) {
    return std::chrono::sys_days(date) + time;
}

TEST(Timestamp, BothForms) {
    using namespace std::chrono;
    timestamp t;
    const auto show = [&t](wall_time when) {
        std::string out;
        t.append_rfc3339(out, when);
        out += ' ';
        t.append_clf(out, when);
        return out;
    };
    const auto first = at(2026y / November / 30, 16h + 5min + 8s + 42ms);
    EXPECT_EQ(show(first), "2026-11-30T16:05:08.042Z 30/Nov/2026:16:05:08 +0000");
    EXPECT_EQ(show(first + 957ms), "2026-11-30T16:05:08.999Z 30/Nov/2026:16:05:08 +0000");
    EXPECT_EQ(show(first + 958ms), "2026-11-30T16:05:09.000Z 30/Nov/2026:16:05:09 +0000");
    EXPECT_EQ(show(at(2028y / February / 29, 23h + 59min + 59s)),
              "2028-02-29T23:59:59.000Z 29/Feb/2028:23:59:59 +0000");
    EXPECT_EQ(show(wall_time{}), "1970-01-01T00:00:00.000Z 01/Jan/1970:00:00:00 +0000");
    EXPECT_EQ(show(wall_time{-1ms}), "1969-12-31T23:59:59.999Z 31/Dec/1969:23:59:59 +0000");
}

}  // namespace
}  // namespace etagere::observe
