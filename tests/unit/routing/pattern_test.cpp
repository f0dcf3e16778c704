#include "etagere/routing/pattern.hpp"

#include <gmock/gmock.h>

namespace etagere::routing {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(Pattern, CountsTheSegmentsBeforeTheFirstWildcard) {
    EXPECT_EQ(parse_pattern("/**")->literal_prefix(), 0U);
    EXPECT_EQ(parse_pattern("/api/*/b")->literal_prefix(), 1U);
    EXPECT_EQ(parse_pattern("/api/{id}/**")->literal_prefix(), 1U);
    EXPECT_EQ(parse_pattern("/a/b/")->literal_prefix(), 3U);
    EXPECT_TRUE(parse_pattern("/a/b/")->exact());
    EXPECT_FALSE(parse_pattern("/a/**")->exact());
}

TEST(Pattern, TakesEncodedAndReservedCharactersAsTheyAre) {
    const auto p = parse_pattern("/quotes.v1.Quotes/a%2Fb;c=1,2@x:y!$&'()+~_-");
    ASSERT_TRUE(p.has_value());
    EXPECT_EQ(p->segments[1].text, "a%2Fb;c=1,2@x:y!$&'()+~_-");
}

struct bad {
    const char* text;
    const char* says;
};
class BadPattern : public testing::TestWithParam<bad> {};

TEST_P(BadPattern, SaysWhatIsWrong) {
    const auto p = parse_pattern(GetParam().text);
    ASSERT_FALSE(p.has_value());
    EXPECT_THAT(p.error(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(Texts, BadPattern,
                         testing::Values(bad{"", "starts with `/`"}, bad{"api", "starts with `/`"},
                                         bad{"*", "starts with `/`"}, bad{"/**/x", "last segment"},
                                         bad{"/a/x*", "whole segments"}, bad{"/a/***", "whole segments"},
                                         bad{"/a/{id", "whole segments"}, bad{"/a/x{id}", "whole segments"},
                                         bad{"/a/{}", "capture"}, bad{"/a/{a-b}", "capture"}, bad{"/a?x=1", "no query"},
                                         bad{"/a#x", "no query"}, bad{"/a b", "percent-encoded"},
                                         bad{"/caf\xc3\xa9", "percent-encoded"}, bad{"/a\"", "percent-encoded"}));

TEST(Pattern, HasAtMost64Segments) {
    std::string text;
    for (int i = 0; i < 64; ++i) {
        text += "/a";
    }
    EXPECT_TRUE(parse_pattern(text).has_value());
    EXPECT_THAT(parse_pattern(text + "/a").error(), HasSubstr("more than 64"));
}

TEST(HostPattern, IsANameOrEverythingBelowOne) {
    for (const char* good : {"api.example.com", "API", "*.example.com", "*.x", "127.0.0.1", "[::1]", "a_b-c"}) {
        EXPECT_TRUE(check_host_pattern(good).has_value()) << good;
    }
    for (const char* wrong :
         {"", "*", "*.", "a.*", "*.a.*", "*a.com", ".com", "http://a", "a:80", "[x]", "a b", "*.*.a"}) {
        EXPECT_FALSE(check_host_pattern(wrong).has_value()) << wrong;
    }
    EXPECT_THAT(check_host_pattern("a.com:80").error(), HasSubstr("without scheme and port"));
    EXPECT_THAT(check_host_pattern("a.*").error(), HasSubstr("first label"));
}

struct pair_case {
    const char* a;
    const char* b;
    const char* both;  // null: none
};
class CommonPath : public testing::TestWithParam<pair_case> {};

TEST_P(CommonPath, IsAPathThatBothMatch) {
    const auto a = *parse_pattern(GetParam().a);
    const auto b = *parse_pattern(GetParam().b);
    if (GetParam().both == nullptr) {
        EXPECT_EQ(common_path(a, b), std::nullopt);
        EXPECT_EQ(common_path(b, a), std::nullopt);
    } else {
        EXPECT_THAT(common_path(a, b), Optional(std::string(GetParam().both)));
        EXPECT_THAT(common_path(b, a), Optional(std::string(GetParam().both)));
    }
}

INSTANTIATE_TEST_SUITE_P(Pairs, CommonPath,
                         testing::Values(pair_case{"/a", "/a", "/a"}, pair_case{"/a", "/b", nullptr},
                                         pair_case{"/a/*", "/a/{id}", "/a/1"}, pair_case{"/a/*", "/a/b", "/a/b"},
                                         pair_case{"/a/*", "/a/b/c", nullptr}, pair_case{"/a/*", "/a/", nullptr},
                                         pair_case{"/a/**", "/a/*/c", "/a/1/c"}, pair_case{"/a/**", "/a/**", "/a"},
                                         pair_case{"/a/**", "/a", "/a"}, pair_case{"/a/**", "/b/**", nullptr},
                                         pair_case{"/**", "/**", "/"}, pair_case{"/*/b", "/a/*", "/a/b"}));

}  // namespace
}  // namespace etagere::routing
