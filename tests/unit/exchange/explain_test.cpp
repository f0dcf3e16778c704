// The question, as étagère would read it, and what is told of it. Decisions: tests/unit/cache/explain_test.cpp.
#include "etagere/exchange/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr wall_time noon = std::chrono::sys_days{std::chrono::November / 30 / 2026} + 12h;

account opened(inquiry about) {
    auto a = open_account(std::move(about), noon);
    EXPECT_TRUE(a) << (a ? "" : a.error());
    return a ? std::move(*a) : account{};
}

settings::settings one_route() {
    settings::settings all;
    all.upstreams.push_back({});
    all.upstreams[0].name = "app";
    all.stores.push_back({});
    all.stores[0].name = "default";
    settings::route r;
    r.name = "all";
    r.upstream = "app";
    r.cache.key.headers = {"X-Tenant", "X-Api-Key"};
    r.cache.key.cookies = {"sid"};
    all.routes.push_back(std::move(r));
    return all;
}

struct explained {
    settings::settings config = one_route();
    routing::tables routes = *routing::compile(config);
    account about;
    explicit explained(inquiry q) : about(opened(std::move(q))) { explain_route(about, config, routes); }
};

TEST(Inquiry, IsReadAsARequestWouldBe) {
    const account a = opened({.url = "HTTP://API.test:8080/p?q=1#there", .fields = {{"Accept", "a"}, {"Accept", "b"}}});
    EXPECT_EQ(a.request.host, "api.test");
    EXPECT_EQ(a.request.port, 8080);
    EXPECT_EQ(a.request.target, "/p?q=1");
    EXPECT_EQ(a.request.header.count(http::field_id::accept), 2U);
    EXPECT_EQ(opened({.url = "http://api.test"}).request.target, "/");
    EXPECT_EQ(opened({.url = "http://api.test?q"}).request.target, "/?q");
    EXPECT_EQ(opened({.url = "/p", .at = "127.0.0.1:81"}).request.port, 81);
    EXPECT_EQ(opened({.url = "/p", .at = "unix:/run/x"}).request.host, "localhost");
    EXPECT_EQ(opened({.url = "/p", .fields = {{"Host", "b.test"}}}).request.host, "b.test");
}

TEST(Inquiry, WhatTheListenerWouldRefuseIsRefused) {
    EXPECT_EQ(opened({.url = "/a b"}).refused_status, 400);
    EXPECT_EQ(opened({.url = "/x", .fields = {{"Host", "a"}, {"Host", "b"}}}).refused_status, 400);
    EXPECT_EQ(opened({.url = "/" + std::string(9000, 'x')}).refused_status, 414);
    EXPECT_EQ(opened({.url = "/x", .fields = {{"A", std::string(40000, 'x')}}}).refused_status, 431);
}

TEST(Inquiry, CannotBecomeAnotherOne) {
    for (const auto* const url :
         {"", "x", "ftp://a/", "http:///x", "/x\r\nA: b", "/x HTTP/1.1\r\nHost: b\r\n\r\nGET /y"}) {
        EXPECT_FALSE(open_account({.url = url}, noon)) << url;
    }
    EXPECT_FALSE(open_account({.url = "/", .fields = {{"A", "b\r\nC: d"}}}, noon));
    EXPECT_FALSE(open_account({.url = "/", .fields = {{"A:", "b"}}}, noon));
    EXPECT_FALSE(open_account({.method = "GET /y HTTP/1.1\r\n", .url = "/"}, noon));
}

TEST(Account, TellsRouteAndKeyWithoutSecrets) {
    const explained e({.url = "http://api.test/p",
                       .fields = {{"X-Tenant", "blue"}, {"X-Api-Key", "hidden"}, {"Cookie", "sid=hidden"}}});
    EXPECT_EQ(e.about.upstream, "app");
    for (const std::string& told : {as_json(e.about, detail::all), as_text(e.about, detail::route, false)}) {
        EXPECT_THAT(told, HasSubstr("blue"));
        EXPECT_THAT(told, HasSubstr("api.test:80"));
        EXPECT_THAT(told, Not(HasSubstr("hidden")));
    }
}

TEST(Account, TextSteersNoTerminalAndColoursOnlyWhenAsked) {
    const explained e({.url = "/p",
                       .fields = {{"X-Tenant",
                                   "a\xc2\x9b"
                                   "31m"}}});
    EXPECT_THAT(as_text(e.about, detail::route, false), Not(HasSubstr("\xc2\x9b")));
    EXPECT_THAT(as_text(e.about, detail::route, false), Not(HasSubstr("\x1b")));
    EXPECT_THAT(as_text(e.about, detail::route, true), HasSubstr("\x1b[1mGET"));
}

TEST(Account, WhatEtagereAnswersItself) {
    EXPECT_EQ(explained({.method = "TRACE", .url = "/"}).about.what->status, 405);
    EXPECT_EQ(explained({.method = "OPTIONS", .url = "*"}).about.what->status, 204);
    EXPECT_EQ(explained({.url = "/a b"}).about.what->why, reason::refused);
    const explained post({.method = "POST", .url = "/p"});
    ASSERT_EQ(post.about.what->then.size(), 1U);
    EXPECT_EQ(post.about.what->then[0].why, reason::invalidated);
}

TEST(Account, CurlSendsTheSameAndQuotesIt) {
    const explained e({.url = "http://api.test/p?a='$(id)",
                       .fields = {{"X-Tenant", "it's"}, {"Cookie", "sid=1"}, {"A", ""}},
                       .at = "127.0.0.1:8080"});
    EXPECT_EQ(as_curl(e.about), R"(curl -sS -D - -o /dev/null --connect-to '::127.0.0.1:8080' -H 'X-Tenant: it'\''s' )"
                                R"(-H 'Cookie: '"$COOKIE" -H 'A;' --path-as-is -g 'http://api.test/p?a='\''$(id)')");
    EXPECT_THAT(as_curl(explained({.method = "HEAD", .url = "/", .at = "unix:/run/e"}).about),
                HasSubstr("-I --unix-socket '/run/e'"));
}

TEST(Answer, IsReadInAllTheFormsThatPeopleHave) {
    const auto curl_i = read_answer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    EXPECT_FALSE(curl_i) << "no answer at all";
    const auto h2 = read_answer("HTTP/2 404 \nCache-Control: max-age=5\nSet-Cookie: a=b\n\nbody: of it");
    ASSERT_TRUE(h2);
    EXPECT_EQ(h2->status, 404);
    EXPECT_EQ(h2->header.get(http::field_id::cache_control), "max-age=5");
    EXPECT_FALSE(h2->header.find("body"));
    const auto bare = read_answer(200, {{"ETag", "\"a\""}, {"Content-Length", "5000000"}});
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->body.length, 5'000'000U);
    EXPECT_FALSE(read_answer(200, {{"A", "b\r\nC: d"}}));
    EXPECT_FALSE(read_answer(99, {}));
    EXPECT_FALSE(read_answer("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"));
}

TEST(Answer, ItsFateIsTold) {
    explained e({.url = "/p"});
    explain_answer(e.about, *read_answer(200, {{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}}));
    EXPECT_THAT(as_text(e.about, detail::all, false), HasSubstr("after 1m: validate (revalidated)"));
    explain_answer(e.about, *read_answer(200, {{"Cache-Control", "no-store"}}));
    const std::string told = as_text(e.about, detail::all, false);
    EXPECT_THAT(told, HasSubstr("would not be kept"));
    EXPECT_THAT(told, HasSubstr("nostore_no_store (RFC 9111 §5.2.2.5)"));
    EXPECT_THAT(told, HasSubstr("say no-cache and send an ETag there"));
}

}  // namespace
}  // namespace etagere::exchange
