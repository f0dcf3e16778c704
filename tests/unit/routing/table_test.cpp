#include "etagere/routing/table.hpp"

#include "make.hpp"

#include <chrono>

#include <gmock/gmock.h>

namespace etagere::routing {
namespace {

using testing::HasSubstr;

table compiled(std::vector<settings::route> routes) {
    const settings::settings s = with(std::move(routes));
    auto t = table::compile(s.routes, s);
    EXPECT_TRUE(t.has_value());
    return std::move(*t);
}

std::string chosen(const table& t, std::string_view path, std::string_view method = "GET",
                   std::string_view host = "x") {
    const route* r = t.match(http::find_method(method), method, host, path);
    return r == nullptr ? "none" : r->name;
}

struct path_case {
    const char* pattern;
    const char* path;
    bool matches;
};
class PathMatch : public testing::TestWithParam<path_case> {};

TEST_P(PathMatch, FollowsThePattern) {
    const table t = compiled({a_route("r", GetParam().pattern)});
    EXPECT_EQ(chosen(t, GetParam().path), GetParam().matches ? "r" : "none");
}

INSTANTIATE_TEST_SUITE_P(Table, PathMatch,
                         testing::Values(path_case{"/a", "/a", true}, path_case{"/a", "/a/", false},
                                         path_case{"/a", "/A", false}, path_case{"/a/", "/a/", true},
                                         path_case{"/a/", "/a", false}, path_case{"/", "/", true},
                                         path_case{"/", "/a", false}, path_case{"/a/*", "/a/b", true},
                                         path_case{"/a/*", "/a/", false}, path_case{"/a/*", "/a", false},
                                         path_case{"/a/*", "/a/b/c", false}, path_case{"/u/{id}/x", "/u/7/x", true},
                                         path_case{"/u/{id}/x", "/u//x", false}, path_case{"/a/**", "/a", true},
                                         path_case{"/a/**", "/a/", true}, path_case{"/a/**", "/a/b/c/d", true},
                                         path_case{"/a/**", "/ab", false}, path_case{"/a/**", "/a//b", true},
                                         path_case{"/**", "/", true}, path_case{"/**", "/a/b", true},
                                         path_case{"/**", "*", true}, path_case{"/a/**", "*", false},
                                         path_case{"/a//b", "/a//b", true}, path_case{"/a//b", "/a/b", false}));

// The route, the cache key and the origin have to mean the same bytes, so nothing is decoded or resolved.
INSTANTIATE_TEST_SUITE_P(Bytes, PathMatch,
                         testing::Values(path_case{"/admin/**", "/%61dmin/x", false},
                                         path_case{"/admin/**", "/x/../admin/y", false},
                                         path_case{"/admin/**", "//admin/y", false},
                                         path_case{"/a%2fb", "/a%2fb", true}, path_case{"/a%2fb", "/a%2Fb", false},
                                         path_case{"/a/*", "/a/..", true}, path_case{"/a/*", "/a/b%2Fc", true}));

TEST(Preference, IsTheLongestLiteralPrefix) {
    const table t = compiled({a_route("all", "/**"), a_route("api", "/api/**"), a_route("one", "/api/*"),
                              a_route("products", "/api/products/**"), a_route("list", "/api/products")});
    EXPECT_EQ(chosen(t, "/other"), "all");
    EXPECT_EQ(chosen(t, "/api"), "api");
    EXPECT_EQ(chosen(t, "/api/x"), "api");  // the same prefix as `one`, and written before it
    EXPECT_EQ(chosen(t, "/api/products/1"), "products");
    EXPECT_EQ(chosen(t, "/api/products"), "list");  // an exact path before a pattern
}

TEST(Preference, IsTheOrderBehindTheFirstWildcard) {
    const table t = compiled({a_route("first", "/a/*/c"), a_route("second", "/a/*/*"), a_route("third", "/a/{x}/d"),
                              a_route("fourth", "/a/**")});
    EXPECT_EQ(chosen(t, "/a/b/c"), "first");
    EXPECT_EQ(chosen(t, "/a/b/d"), "second");
    EXPECT_EQ(chosen(t, "/a/b/c/d"), "fourth");
    const table other = compiled({a_route("rest", "/a/*/**"), a_route("deep", "/a/*/b/*"), a_route("end", "/a/*")});
    EXPECT_EQ(chosen(other, "/a/1/b/2"), "rest");
    EXPECT_EQ(chosen(other, "/a/1"), "rest");
    const table reversed = compiled({a_route("deep", "/a/*/b/*"), a_route("end", "/a/*"), a_route("rest", "/a/*/**")});
    EXPECT_EQ(chosen(reversed, "/a/1/b/2"), "deep");
    EXPECT_EQ(chosen(reversed, "/a/1"), "end");
    EXPECT_EQ(chosen(reversed, "/a/1/b"), "rest");
}

TEST(Preference, GoesBackWhereALongerPrefixLeadsNowhere) {
    const table t = compiled({a_route("deep", "/a/b/c"), a_route("wild", "/a/*/d"), a_route("all", "/**")});
    EXPECT_EQ(chosen(t, "/a/b/d"), "wild");
    EXPECT_EQ(chosen(t, "/a/b/e"), "all");
}

TEST(Methods, NarrowARoute) {
    const table t = compiled({a_route("read", "/a/**", {"GET"}), a_route("write", "/a/**", {"POST", "PURGE"}),
                              a_route("rest", "/**", {"DELETE"})});
    EXPECT_EQ(chosen(t, "/a/1", "GET"), "read");
    EXPECT_EQ(chosen(t, "/a/1", "HEAD"), "read");  // GET includes HEAD
    EXPECT_EQ(chosen(t, "/a/1", "POST"), "write");
    EXPECT_EQ(chosen(t, "/a/1", "PURGE"), "write");
    EXPECT_EQ(chosen(t, "/a/1", "DELETE"), "rest");
    EXPECT_EQ(chosen(t, "/a/1", "PUT"), "none");
    EXPECT_EQ(chosen(t, "/a/1", "purge"), "none");  // RFC 9110 §9.1: case-sensitive
    EXPECT_EQ(chosen(t, "/a/1", "MKCOL"), "none");
}

TEST(Methods, OfUnknownNamesOnlyDoNotMeanAll) {
    const table t = compiled({a_route("purge", "/**", {"PURGE"})});
    EXPECT_EQ(chosen(t, "/", "PURGE"), "purge");
    EXPECT_EQ(chosen(t, "/", "GET"), "none");
}

TEST(Hosts, ExactThenLongestSuffixThenAny) {
    const table t =
        compiled({a_route("any", "/**"), a_route("below", "/**", {}, "*.example.com"),
                  a_route("deeper", "/**", {}, "*.eu.example.com"), a_route("exact", "/only", {}, "API.example.com")});
    EXPECT_EQ(chosen(t, "/only", "GET", "api.example.com"), "exact");
    EXPECT_EQ(chosen(t, "/only", "GET", "Api.Example.Com"), "exact");
    EXPECT_EQ(chosen(t, "/only", "GET", "api.example.com."), "exact");
    EXPECT_EQ(chosen(t, "/else", "GET", "api.example.com"), "below");  // the exact host has no route for it
    EXPECT_EQ(chosen(t, "/", "GET", "a.b.example.com"), "below");
    EXPECT_EQ(chosen(t, "/", "GET", "a.eu.example.com"), "deeper");
    EXPECT_EQ(chosen(t, "/", "GET", "eu.example.com"), "below");
    EXPECT_EQ(chosen(t, "/", "GET", "example.com"), "any");
    EXPECT_EQ(chosen(t, "/", "GET", "notexample.com"), "any");
    EXPECT_EQ(chosen(t, "/", "GET", ""), "any");
}

TEST(Hosts, WithoutARouteForAnyHostTheOthersGetNone) {
    const table t = compiled({a_route("v6", "/**", {}, "[::1]"), a_route("again", "/x", {}, "[::1]")});
    EXPECT_EQ(chosen(t, "/", "GET", "[::1]"), "v6");
    EXPECT_EQ(chosen(t, "/x", "GET", "[::1]"), "again");
    EXPECT_EQ(chosen(t, "/", "GET", "example.com"), "none");
}

TEST(Table, TakesARequestHead) {
    const table t = compiled({a_route("r", "/a/*", {"GET"})});
    http::request_head head;
    head.host = "x";
    head.target = "/a/b?c=/d/e";
    ASSERT_NE(t.match(head), nullptr);
    EXPECT_EQ(t.match(head)->name, "r");
}

TEST(Table, IsEmptyWithoutRoutes) {
    EXPECT_EQ(chosen(compiled({}), "/"), "none");
    EXPECT_EQ(compiled({}).routes().size(), 0U);
}

TEST(Table, NumbersRoutesAcrossBothSides) {
    settings::settings s = with({a_route("a", "/a"), a_route("b", "/b")});
    s.egress = {a_route("c", "/c")};
    const auto both = compile(s);
    ASSERT_TRUE(both.has_value());
    EXPECT_EQ(both->count(), 3U);
    EXPECT_EQ(both->ingress.routes()[1].index, 1U);
    EXPECT_EQ(both->egress.routes()[0].index, 2U);
}

TEST(Table, RefusesWhatDoesNotExist) {
    const auto error_of = [](settings::route r, bool in_egress = false) {
        settings::settings s = with({});
        (in_egress ? s.egress : s.routes) = {std::move(r)};
        const auto t = compile(s);
        return t ? std::string() : t.error();
    };
    auto r = a_route("r", "/");
    EXPECT_EQ(error_of(r), "");
    r.upstream = "nobody";
    EXPECT_THAT(error_of(r), HasSubstr("route \"r\": no upstream is called \"nobody\""));
    EXPECT_THAT(error_of(r, true), HasSubstr("no upstream"));
    r = a_route("r", "/");
    r.cache.store = "nowhere";
    EXPECT_THAT(error_of(r), HasSubstr("no store is called \"nowhere\""));
    r.cache.enabled = false;
    EXPECT_EQ(error_of(r), "");
    EXPECT_THAT(error_of(a_route("r", "x")), HasSubstr("starts with `/`"));
    EXPECT_THAT(error_of(a_route("r", "/", {}, "a:80")), HasSubstr("without scheme and port"));
}

std::vector<settings::route> siblings(int count) {
    std::vector<settings::route> routes;
    for (int i = 0; i < count; ++i) {
        const std::string n = std::to_string(i);
        routes.push_back(a_route("r" + n, "/api/service" + n + "/items/{id}"));
    }
    return routes;
}

TEST(Table, OfAThousandRoutesFindsEach) {
    const table t = compiled(siblings(1000));
    for (int i = 0; i < 1000; ++i) {
        const std::string n = std::to_string(i);
        EXPECT_EQ(chosen(t, "/api/service" + n + "/items/1"), "r" + n);
    }
    EXPECT_EQ(chosen(t, "/api/service1000/items/1"), "none");
}

TEST(Table, OfAThousandRoutesCostsAboutWhatOneCosts) {
    const auto best_of_many = [](const table& t) {
        auto best = std::chrono::nanoseconds::max();
        for (int round = 0; round < 50; ++round) {
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < 200; ++i) {
                EXPECT_NE(t.match(http::method::get, "GET", "x", "/api/service0/items/1"), nullptr);
            }
            best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        }
        return best;
    };
    // A scan would be some 500 times slower; what is measured is below 2.
    EXPECT_LT(best_of_many(compiled(siblings(1000))), 20 * best_of_many(compiled(siblings(1))));
}

TEST(Overlaps, AreFoundWhereOnlyTheOrderDecides) {
    const auto found = find_overlaps({a_route("a", "/api/products/**"), a_route("b", "/api/products/**", {"GET"}),
                                      a_route("c", "/api/products/{id}")});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].first, 0U);
    EXPECT_EQ(found[0].second, 1U);
    EXPECT_EQ(found[0].example, "GET /api/products");
    EXPECT_EQ(found[1].second, 2U);
    EXPECT_EQ(found[1].example, "GET /api/products/1");
}

TEST(Overlaps, AreNoneWhereOneIsMoreSpecific) {
    EXPECT_TRUE(
        find_overlaps({a_route("a", "/api/**"), a_route("b", "/api/products/**"), a_route("c", "/api"),
                       a_route("d", "/api/**", {}, "*.example.com"), a_route("e", "/api/**", {}, "example.com")})
            .empty());
    EXPECT_TRUE(find_overlaps({a_route("a", "/a", {"GET"}), a_route("b", "/a", {"POST"}), a_route("c", "/a")}).empty());
    EXPECT_TRUE(find_overlaps({a_route("a", "/*/x"), a_route("b", "/*/y"), a_route("c", "broken")}).empty());
}

TEST(Overlaps, KnowThatGetIncludesHeadAndHostsHaveNoCase) {
    const auto found =
        find_overlaps({a_route("a", "/a", {"GET"}, "Example.com"), a_route("b", "/a", {"HEAD"}, "example.com")});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].example, "HEAD /a");
}

}  // namespace
}  // namespace etagere::routing
