#include "etagere/http/lists.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace etagere::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

std::vector<std::string> members(std::string_view text) {
    std::vector<std::string> out;
    while (const auto member = next_member(text)) out.emplace_back(*member);
    return out;
}

// RFC 9110 §5.6.1: a recipient ignores empty members.
TEST(List, SplitsAtCommasAndSkipsEmptyMembers) {
    EXPECT_THAT(members("a,b"), ElementsAre("a", "b"));
    EXPECT_THAT(members(" , a ,\t,b=1 ,"), ElementsAre("a", "b=1"));
    EXPECT_THAT(members(""), IsEmpty());
    EXPECT_THAT(members(" ,, \t,"), IsEmpty());
}

TEST(List, LeavesCommasInsideQuotedStringsAlone) {
    EXPECT_THAT(members(R"(private="a, b", max-age=1)"), ElementsAre(R"(private="a, b")", "max-age=1"));
    EXPECT_THAT(members(R"(a="\",\"", b)"), ElementsAre(R"(a="\",\"")", "b"));
    EXPECT_THAT(members(R"(a="\\", b)"), ElementsAre(R"(a="\\")", "b"));
}

// Bug case B54: private="a must not end up more permissive than private.
TEST(List, AnUnterminatedQuotedStringRunsToTheEnd) {
    EXPECT_THAT(members(R"(private="a, max-age=60)"), ElementsAre(R"(private="a, max-age=60)"));
    EXPECT_THAT(members("a=\"\\"), ElementsAre("a=\"\\"));
}

TEST(List, WalksAllLinesOfAFieldUntilToldToStop) {
    fields f;
    EXPECT_TRUE(f.add("Vary", "A, B"));
    EXPECT_TRUE(f.add("Age", "1"));
    EXPECT_TRUE(f.add("vary", "C"));
    std::vector<std::string> seen;
    EXPECT_TRUE(for_each_member(f, field_id::vary, [&](std::string_view m) { return seen.emplace_back(m), true; }));
    EXPECT_THAT(seen, ElementsAre("A", "B", "C"));
    EXPECT_FALSE(for_each_member(f, field_id::vary, [](std::string_view m) { return m != "B"; }));
    EXPECT_TRUE(for_each_member(f, field_id::via, [](std::string_view) { return false; }));
}

TEST(Directive, IsSplitAtTheEqualsSign) {
    directive d = split_directive("no-store");
    EXPECT_EQ(d.name, "no-store");
    EXPECT_EQ(d.argument, std::nullopt);
    d = split_directive("max-age=60");
    EXPECT_EQ(d.name, "max-age");
    EXPECT_THAT(d.argument, Optional(std::string_view("60")));
    EXPECT_FALSE(d.quoted);
    d = split_directive(R"(private="set-cookie, x")");
    EXPECT_EQ(d.name, "private");
    EXPECT_THAT(d.argument, Optional(std::string_view("set-cookie, x")));
    EXPECT_TRUE(d.quoted);
    d = split_directive("private=\"a");
    EXPECT_THAT(d.argument, Optional(std::string_view("\"a")));
    EXPECT_FALSE(d.quoted);
    d = split_directive("private=\"");
    EXPECT_THAT(d.argument, Optional(std::string_view("\"")));
    EXPECT_FALSE(d.quoted);
    d = split_directive("x=");
    EXPECT_THAT(d.argument, Optional(std::string_view("")));
}

// Bug case B56.
TEST(DeltaSeconds, AreDigitsAndNeverOverflow) {
    EXPECT_THAT(parse_delta_seconds("0"), Optional(0));
    EXPECT_THAT(parse_delta_seconds("003600"), Optional(3600));
    EXPECT_THAT(parse_delta_seconds("2147483647"), Optional(2'147'483'647));
    EXPECT_THAT(parse_delta_seconds("2147483648"), Optional(std::int64_t{1} << 31));
    EXPECT_THAT(parse_delta_seconds("99999999999"), Optional(std::int64_t{1} << 31));
    EXPECT_THAT(parse_delta_seconds(std::string(400, '9')), Optional(std::int64_t{1} << 31));
    for (const char* bad : {"", "-1", "+1", "abc", "1.5", "'3600'", "1 ", " 1", "0x10"}) {
        EXPECT_EQ(parse_delta_seconds(bad), std::nullopt) << bad;
    }
}

TEST(Trim, TakesSpacesAndTabsOffBothEnds) {
    EXPECT_EQ(trim(" \ta b\t "), "a b");
    EXPECT_EQ(trim(" \t"), "");
    EXPECT_EQ(trim(""), "");
}

}  // namespace
}  // namespace etagere::http
