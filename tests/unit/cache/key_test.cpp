// RFC 9111 §2: one key for what is one, two for what an origin could tell apart.
#include "etagere/cache/key.hpp"

#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

std::string digest(std::string_view value) {
    return "digest-of-" + std::to_string(value.size()) + (value.empty() ? "" : std::string(1, value.back()));
}

std::string key(const http::request_head& request, const policy& rules = {}, std::string_view route = "products") {
    std::string out;
    make_key(out, route, request, rules, digest);
    return out;
}

std::string key_of(std::string_view target) {
    return key(make_request({}, "GET", target));
}

TEST(Key, StartsWithItsSchemaAndHoldsThePortAlways) {
    EXPECT_EQ(key(make_request({}, "GET", "/p?q")), "1:18:products4:http11:api.test:804:/p?q");
}

TEST(Key, GetAndHeadShareOne) {
    EXPECT_EQ(key(make_request({}, "HEAD")), key(make_request({}, "GET")));
}

TEST(Key, ReplacesWhatWasThere) {
    std::string out = "left over";
    make_key(out, "products", make_request(), policy{}, digest);
    EXPECT_EQ(out, key(make_request()));
}

// S190, S191
TEST(Key, TellsApartRouteSchemeHostAndPort) {
    const http::request_head request = make_request();
    http::request_head other = request;
    EXPECT_NE(key(request), key(request, {}, "other"));
    other.scheme = "https";
    EXPECT_NE(key(request), key(other));
    other = request;
    other.host = "b.test";
    EXPECT_NE(key(request), key(other));
    other = request;
    other.port = 1337;
    EXPECT_NE(key(request), key(other));
}

// S196: nothing is normalised
TEST(Key, TellsApartTargetsThatSomeOriginTellsApart) {
    const std::vector<std::string> targets{"/a/../y", "/y",  "//y",   "/y/",  "/Y",    "/y;v",  "/y%2f",
                                           "/y%2F",   "/y?", "/y%3f", "/%79", "/y%00", "/y%0a", "/y\\"};
    for (std::size_t i = 0; i < targets.size(); ++i) {
        for (std::size_t j = i + 1; j < targets.size(); ++j) {
            EXPECT_NE(key_of(targets[i]), key_of(targets[j])) << targets[i] << " and " << targets[j];
        }
    }
}

TEST(Key, HoldsTheValuesOfItsFields) {
    policy rules;
    rules.key_headers = {"X-Tenant", "X-Other"};
    const auto with = [&](const field_list& list) { return key(make_request(list), rules); };
    EXPECT_EQ(with({{"x-tenant", "a"}, {"Ignored", "1"}}), with({{"X-Tenant", "a"}, {"Ignored", "2"}}));
    EXPECT_NE(with({{"X-Tenant", "a"}}), with({{"X-Tenant", "b"}}));
    EXPECT_NE(with({{"X-Tenant", "a"}}), with({{"X-Other", "a"}}));
    EXPECT_NE(with({{"X-Tenant", ""}}), with({}));
    EXPECT_NE(with({{"X-Tenant", "a"}, {"X-Tenant", "b"}}), with({{"X-Tenant", "ab"}}));
    EXPECT_NE(with({{"X-Tenant", "a"}, {"X-Tenant", "b"}}), with({{"X-Tenant", "b"}, {"X-Tenant", "a"}}));
}

TEST(Key, HoldsTheValuesOfItsCookies) {
    policy rules;
    rules.key_cookies = {"lang"};
    const auto with = [&](const std::vector<std::string>& lines) {
        field_list list;
        for (const std::string& line : lines) list.emplace_back("Cookie", line);
        return key(make_request(list), rules);
    };
    EXPECT_EQ(with({"lang=de"}), with({"sid=1; lang=de; x"}));
    EXPECT_EQ(with({"lang=de"}), with({"sid=1", "x=y;lang=de ;"}));
    EXPECT_NE(with({"lang=de"}), with({"lang=en"}));
    EXPECT_NE(with({"lang=de"}), with({"Lang=de"}));
    EXPECT_NE(with({"lang=de"}), with({"mylang=de"}));
    EXPECT_NE(with({"lang="}), with({}));
    // whichever of the two the origin takes
    EXPECT_NE(with({"lang=de; lang=en"}), with({"lang=de"}));
    EXPECT_NE(with({"lang=de; lang=en"}), with({"lang=en; lang=de"}));
    EXPECT_EQ(with({"lang=de; lang=en"}), with({"lang=de", "lang=en"}));
}

TEST(Key, HoldsCredentialsOnlyAsDigests) {
    policy rules;
    rules.per_credential = {"Authorization", "Cookie"};
    const auto with = [&](const field_list& list) { return key(make_request(list), rules); };
    EXPECT_EQ(with({{"Authorization", "Bearer secret-a"}}).find("secret"), std::string::npos);
    EXPECT_NE(with({{"Authorization", "Bearer secret-a"}}), with({{"Authorization", "Bearer secret-b"}}));
    EXPECT_NE(with({{"Authorization", "x"}}), with({{"Cookie", "x"}}));
    EXPECT_NE(with({{"Authorization", ""}}), with({}));
}

// ---------------------------------------------------------------- the query

struct query_case {
    std::string name;
    std::string target;
    std::string becomes;
    bool sort = true;
    std::vector<std::string> ignore{"utm_*", "fbclid"};
};
class Query : public ::testing::TestWithParam<query_case> {};

TEST_P(Query, GoesIntoTheKeyByTheRules) {
    const query_case& c = GetParam();
    std::string out = "before ";
    append_key_target(out, c.target, {.sort = c.sort, .ignore = c.ignore});
    EXPECT_EQ(out, "before " + c.becomes);
}

std::string many_parameters() {
    std::string target = "/p?";
    for (int i = 0; i < 70; ++i) target += (i == 0 ? "" : "&") + std::string(1, static_cast<char>('z' - i % 26)) + "=1";
    return target;
}

INSTANTIATE_TEST_SUITE_P(Examples, Query,
                         ::testing::Values(query_case{"NoQuery", "/p", "/p"}, query_case{"EmptyQuery", "/p?", "/p?"},
                                           query_case{"NoRules", "/p?b=1&a=2&utm_x=1", "/p?b=1&a=2&utm_x=1", false, {}},
                                           query_case{"Sorted", "/p?b=1&a=2", "/p?a=2&b=1"},
                                           query_case{"NotSorted", "/p?b=1&a=2", "/p?b=1&a=2", false},
                                           query_case{"SameNamesKeepTheirOrder", "/p?a=2&b=0&a=1", "/p?a=2&a=1&b=0"},
                                           query_case{"BytesStay", "/p?B=%2F+%zz&a=%41", "/p?B=%2F+%zz&a=%41"},
                                           query_case{"Ignored", "/p?utm_source=x&a=1&fbclid=2", "/p?a=1"},
                                           query_case{"IgnoredWithoutValue", "/p?fbclid&a=1", "/p?a=1"},
                                           query_case{"AllIgnored", "/p?utm_a=1&fbclid=2", "/p"},
                                           query_case{"PrefixNeedsAStar", "/p?fbclid2=1", "/p?fbclid2=1"},
                                           query_case{"IgnoredAlsoUnsorted", "/p?b=1&utm_x=2&a=3", "/p?b=1&a=3", false},
                                           query_case{"StarAlone", "/p?b=1&a=2", "/p", true, {"*"}},
                                           query_case{"EmptyParametersStay", "/p?a=1&&b=2&", "/p?&&a=1&b=2"},
                                           query_case{"SecondQuestionMark", "/p?b=1?&a=2", "/p?a=2&b=1?"},
                                           // an origin decodes names: these two are one name, so their order counts
                                           query_case{"EncodedNameFirst", "/p?%61=1&a=2", "/p?%61=1&a=2"},
                                           query_case{"EncodedNameSecond", "/p?a=2&%61=1", "/p?a=2&%61=1"},
                                           query_case{"EncodedNameSorts", "/p?b=1&%61=1", "/p?%61=1&b=1"},
                                           query_case{"BrokenEncoding", "/p?%6=1&%=2&b", "/p?%=2&%6=1&b"},
                                           query_case{"LowerHexDigits", "/p?%7a=1&y=2", "/p?y=2&%7a=1"},
                                           query_case{"UpperHexDigits", "/p?%4A=1&I=2&%zz=3", "/p?%zz=3&I=2&%4A=1"},
                                           query_case{"PlusIsASpace", "/p?b=1&a+b=2&a%20=3", "/p?a%20=3&a+b=2&b=1"},
                                           query_case{"EncodedIgnoredNameIsKept", "/p?utm%5Fx=1", "/p?utm%5Fx=1"},
                                           // CVE-2020-28473 and its kin: the origin may read id=2 here
                                           query_case{"SemicolonEndsTheRules", "/p?utm_x=1;id=2&a=1",
                                                      "/p?utm_x=1;id=2&a=1"},
                                           query_case{"VeryManyStayAsTheyAre", many_parameters(), many_parameters()}),
                         case_name<query_case>);

}  // namespace
}  // namespace etagere::cache::test
