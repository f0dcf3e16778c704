// One form for JSON that means the same but for the members that do not count.
#include "etagere/cache/canonical_json.hpp"

#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

using pointers = std::vector<std::string>;

struct pair_case {
    std::string name;
    std::string a, b;
    bool same;
    pointers ignored = {};
};
class CanonicalJson : public ::testing::TestWithParam<pair_case> {};

TEST_P(CanonicalJson, SameOrNot) {
    const pair_case& c = GetParam();
    const auto a = canonical_json(c.a, c.ignored);
    const auto b = canonical_json(c.b, c.ignored);
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a == *b, c.same) << *a << "\n" << *b;
}

INSTANTIATE_TEST_SUITE_P(
    Examples, CanonicalJson,
    ::testing::Values(
        pair_case{"Order", R"({"a":1,"b":2})", R"({"b":2,"a":1})", true},
        pair_case{"OrderInside", R"([{"a":1,"b":{"c":1,"d":2}}])", R"([{"b":{"d":2,"c":1},"a":1}])", true},
        pair_case{"ArraysKeepTheirs", "[1,2]", "[2,1]", false},
        pair_case{"Space", "{ \"a\" :\t[ 1 , 2 ]\r\n}", R"({"a":[1,2]})", true},
        pair_case{"Escapes", R"("\u0061\/")", R"("a/")", true},
        pair_case{"SurrogatePair", R"("\ud83d\ude00")", "\"😀\"", true},
        pair_case{"Values", R"({"a":1})", R"({"a":2})", false}, pair_case{"Types", R"({"a":1})", R"({"a":"1"})", false},
        pair_case{"NullAndAbsent", R"({"a":null})", "{}", false}, pair_case{"TrueAndFalse", "true", "false", false},
        pair_case{"ObjectAndArray", "{}", "[]", false}, pair_case{"OneAndOnePointNought", "1", "1.0", false},
        pair_case{"BigIntegers", "12345678901234567890123", "12345678901234567890124", false},
        pair_case{"LongFractions", "0.1", "0.10000000000000000000001", false},
        pair_case{"MinusNought", "0", "-0", false}, pair_case{"Exponents", "1e2", "1E2", false},
        pair_case{"BoundariesOfTexts", R"(["ab","c"])", R"(["a","bc"])", false},
        pair_case{"BoundariesOfNumbers", "[12,3]", "[1,23]", false},
        pair_case{"KeysAndValues", R"({"a":"b:c"})", R"({"a:b":"c"})", false},
        pair_case{"NestingIsKept", "[[],[]]", "[[[]]]", false},
        // RFC 6901
        pair_case{"Ignored",
                  R"({"meta":{"request_id":"1","x":1}})",
                  R"({"meta":{"x":1,"request_id":"2"}})",
                  true,
                  {"/meta/request_id"}},
        pair_case{"IgnoredOrAbsent", R"({"a":1,"at":2})", R"({"a":1})", true, {"/at"}},
        pair_case{"IgnoredWhole", R"({"a":1,"at":[1,{"b":2}]})", R"({"a":1,"at":null})", true, {"/at"}},
        pair_case{"OnlyThere", R"({"x":{"at":1}})", R"({"x":{"at":2}})", false, {"/at"}},
        pair_case{"Slash", R"({"a/b":1})", R"({"a/b":2})", true, {"/a~1b"}},
        pair_case{"Tilde", R"({"m~n":1})", R"({"m~n":2})", true, {"/m~0n"}},
        pair_case{"TildeOne", R"({"~1":1})", R"({"~1":2})", true, {"/~01"}},
        pair_case{"EmptyName", R"({"":1})", R"({"":2})", true, {"/"}},
        pair_case{"Index", R"([{"at":1},{"at":2}])", R"([{"at":1},{"at":3}])", true, {"/1/at"}},
        pair_case{"IndexNotNamed", R"([{"at":1},{"at":2}])", R"([{"at":0},{"at":2}])", false, {"/1/at"}},
        pair_case{"Element", "[1,2,3]", "[1,5,3]", true, {"/1"}},
        pair_case{"LeadingZero", "[1,2]", "[1,3]", false, {"/01"}},
        pair_case{"BeyondTheEnd", "[1,2]", "[1,3]", false, {"/-", "/2", "/99999999999"}},
        pair_case{"DigitsAsAName", R"({"0":1})", R"({"0":2})", true, {"/0"}},
        pair_case{"ThroughAScalar", R"({"a":1})", R"({"a":2})", false, {"/a/b"}},
        pair_case{"Two", R"({"a":1,"b":1,"c":1})", R"({"a":2,"b":2,"c":1})", true, {"/a", "/b"}},
        pair_case{"PrefixOfAName", R"({"request":1})", R"({"request":2})", false, {"/req"}}),
    case_name<pair_case>);

TEST(CanonicalJsonRefuses, WhatCannotBeSaidWithCertainty) {
    for (const std::string& text : std::vector<std::string>{"",
                                                            "  ",
                                                            "nul",
                                                            "{",
                                                            "[1,]",
                                                            "{\"a\":1,}",
                                                            "[1] 2",
                                                            "'a'",
                                                            "// x\n1",
                                                            "01",
                                                            "+1",
                                                            "1.",
                                                            "NaN",
                                                            "\"\x01\"",
                                                            "\"\\x\"",
                                                            "\"\xff\"",
                                                            "\"\xc0\xaf\"",
                                                            R"("\ud800")",
                                                            "\xef\xbb\xbf{}",
                                                            R"({"a":1,"a":2})",
                                                            R"({"a":1,"\u0061":1})",
                                                            R"([{"x":{"b":1,"b":1}}])",
                                                            std::string(65, '[') + std::string(65, ']'),
                                                            std::string("1\0", 2)}) {
        EXPECT_FALSE(canonical_json(text, {})) << text;
    }
    EXPECT_TRUE(canonical_json(std::string(64, '[') + std::string(64, ']'), {}));
    // Also inside of what does not count: which of the two would be left out?
    EXPECT_FALSE(canonical_json(R"({"at":1,"at":2})", pointers{"/at"}));
}

TEST(CanonicalJsonRefuses, NothingThatIsOnlyLarge) {
    std::string text = "[";
    for (int i = 0; i < 50'000; ++i) text += "{\"a\":1,\"b\":\"x\"},";
    text += "0]";
    EXPECT_TRUE(canonical_json(text, pointers{"/49999/a"}));
}

TEST(CountsAsJson, ByTypeAndCoding) {
    policy rules;
    const auto counts = [&](const field_list& fields) { return counts_as_json(make_fields(fields), rules); };
    EXPECT_FALSE(counts({{"Content-Type", "application/json"}}));  // nothing is ignored on this route
    rules.json_ignore = {"/at"};
    EXPECT_TRUE(counts({{"Content-Type", "application/json"}}));
    EXPECT_TRUE(counts({{"Content-Type", "Application/JSON; charset=utf-8"}}));
    EXPECT_TRUE(counts({{"Content-Type", "application/problem+json"}}));
    EXPECT_FALSE(counts({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}));
    EXPECT_FALSE(counts({{"Content-Type", "text/plain"}}));
    EXPECT_FALSE(counts({{"Content-Type", "application/jsonl"}}));
    EXPECT_FALSE(counts({{"Content-Type", "+json"}}));
    EXPECT_FALSE(counts({}));
}

}  // namespace
}  // namespace etagere::cache::test
