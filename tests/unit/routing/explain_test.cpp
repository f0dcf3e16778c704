#include "etagere/routing/explain.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::routing {
namespace {

using testing::HasSubstr;

settings::settings config_of(std::vector<settings::match> matches) {
    settings::settings all;
    all.upstreams.push_back({});
    all.upstreams[0].name = "app";
    all.stores.push_back({});
    all.stores[0].name = "default";
    for (settings::match& m : matches) {
        settings::route r;
        r.name = "r" + std::to_string(all.routes.size());
        r.upstream = "app";
        r.match = std::move(m);
        all.routes.push_back(std::move(r));
    }
    return all;
}

http::request_head request(std::string_view method, std::string_view host, std::string_view target) {
    http::request_head made;
    made.verb = http::find_method(method);
    made.method_name = method;
    made.host = host;
    made.target = target;
    return made;
}

std::vector<considered> consider(const settings::settings& all, const http::request_head& asked) {
    const auto t = table::compile(all.routes, all);
    EXPECT_TRUE(t) << (t ? "" : t.error());
    return consider(all.routes, all, *t, asked);
}

TEST(Consider, NamesTheFirstThingThatDoesNotFit) {
    const auto all = config_of({{.host = "b.test", .path = "/**", .methods = {}},
                                {.host = "", .path = "/other/**", .methods = {}},
                                {.host = "", .path = "/a/**", .methods = {"POST"}},
                                {.host = "", .path = "/a/*", .methods = {}},
                                {.host = "", .path = "/**", .methods = {}}});
    const auto told = consider(all, request("GET", "a.test", "/a/1?q"));
    ASSERT_EQ(told.size(), 5U);
    EXPECT_EQ(told[0].is, verdict::other_host);
    EXPECT_THAT(told[0].because, HasSubstr("\"b.test\", not \"a.test\""));
    EXPECT_EQ(told[1].is, verdict::other_path);
    EXPECT_EQ(told[2].is, verdict::other_method);
    EXPECT_THAT(told[2].because, HasSubstr("POST only"));
    EXPECT_EQ(told[3].is, verdict::chosen);
    EXPECT_EQ(told[4].is, verdict::less_specific);
}

TEST(Consider, GetTakesHeadAndHostsBelowAStarMatch) {
    const auto all = config_of({{.host = "*.test", .path = "/x", .methods = {"GET"}}});
    EXPECT_EQ(consider(all, request("HEAD", "a.test", "/x"))[0].is, verdict::chosen);
    EXPECT_EQ(consider(all, request("HEAD", "test", "/x"))[0].is, verdict::other_host);
    EXPECT_EQ(consider(all, request("BREW", "a.test", "/x"))[0].is, verdict::other_method);
}

// Exactly one is chosen where anything matches, none where nothing does, and it is that of the table.
TEST(Consider, AgreesWithTheTable) {
    std::mt19937 random{20261130};
    const auto one_of = [&](const auto& from) { return from[random() % std::size(from)]; };
    const char* const hosts[] = {"", "a.test", "*.test", "b.a.test", "*.a.test"};
    const char* const paths[] = {"/**", "/", "/a", "/a/*", "/a/**", "/a/{id}/b", "/*/b", "/a/1"};
    const char* const targets[] = {"/", "/a", "/a/", "/a/1", "/a/1/b", "/b/b", "*", "/c?x"};
    const char* const methods[] = {"GET", "HEAD", "POST", "BREW"};
    int chosen = 0;
    for (int i = 0; i < 300; ++i) {
        std::vector<settings::match> matches;
        for (std::size_t n = random() % 5; n > 0; --n) {
            settings::match m{.host = one_of(hosts), .path = one_of(paths), .methods = {}};
            if (random() % 3 == 0) m.methods = {one_of(methods)};
            matches.push_back(m);
        }
        const auto all = config_of(matches);
        const auto asked = request(one_of(methods), random() % 2 == 0 ? "c.test" : "b.a.test", one_of(targets));
        const auto t = table::compile(all.routes, all);
        ASSERT_TRUE(t);
        const route* const taken = t->match(asked);
        int found = 0;
        bool any_less = false;
        for (const considered& c : consider(all.routes, all, *t, asked)) {
            found += c.is == verdict::chosen ? 1 : 0;
            any_less = any_less || c.is == verdict::less_specific;
            if (c.is == verdict::chosen) ASSERT_EQ(c.name, taken->name);
        }
        ASSERT_EQ(found, taken != nullptr ? 1 : 0);
        if (taken == nullptr) ASSERT_FALSE(any_less) << "something matches, but the table takes nothing";
        chosen += found;
    }
    EXPECT_GT(chosen, 50);
}

}  // namespace
}  // namespace etagere::routing
