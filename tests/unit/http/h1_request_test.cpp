// Requests that are accepted, and what the canonical head says then. What is refused is in h1_request_refused_test.cpp.
#include "etagere/http/h1/serializer.hpp"

#include "h1_heads.hpp"

#include <gmock/gmock.h>

namespace etagere::http::h1 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(H1Request, BecomesACanonicalHead) {
    const std::string text =
        "GET /api/products?page=1 HTTP/1.1\r\nHost: Shop.Example:8080\r\nAccept: */*\r\nX-Trace:  a b \t\r\n\r\n";
    const auto [taken, head] = request(text + "GET /next");
    ASSERT_EQ(taken, text.size());
    EXPECT_EQ(head.verb, method::get);
    EXPECT_EQ(head.method_name, "GET");
    EXPECT_EQ(head.target, "/api/products?page=1");
    EXPECT_EQ(head.scheme, "http");
    EXPECT_EQ(head.host, "shop.example");
    EXPECT_EQ(head.port, 8080);
    EXPECT_EQ(head.protocol, version::http11);
    EXPECT_THAT(list(head.header), ElementsAre(Pair("Accept", "*/*"), Pair("X-Trace", "a b")));
    EXPECT_EQ(head.body, framing::none());
    EXPECT_TRUE(head.keep_alive);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_EQ(head.upgrade, "");
}

TEST(H1Request, NothingIsLeftOfTheRequestBefore) {
    request_head head;
    const std::string first =
        "POST /a HTTP/1.1\r\nHost: h:1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\nA: "
        "b\r\n\r\n";
    ASSERT_TRUE(parse_request(first, {}, "https", head).has_value());
    EXPECT_TRUE(head.expects_continue);
    ASSERT_TRUE(parse_request("FOO /b HTTP/1.0\r\n\r\n", {}, "http", head).has_value());
    EXPECT_EQ(head.verb, method::other);
    EXPECT_EQ(head.method_name, "FOO");
    EXPECT_EQ(head.scheme, "http");
    EXPECT_EQ(head.host, "");
    EXPECT_EQ(head.port, 80);
    EXPECT_EQ(head.body, framing::none());
    EXPECT_FALSE(head.expects_continue);
    EXPECT_THAT(head.header, IsEmpty());
}

// Whatever came before, a parser that remembers it reads what one reads that does not.
TEST(H1RequestParser, WhatCameBeforeMakesNoDifference) {
    const std::string fields = "Host: shop.example:81\r\nAccept: */*\r\nX-Trace: 1\r\n\r\n";
    const std::string credential = "Host: shop.example:81\r\nAccept: */*\r\nAuthorization: Bearer a\r\n\r\n";
    const std::string long_path(5000, 'p');
    const std::vector<std::string> heads{
        "GET /a HTTP/1.1\r\n" + fields,
        "GET /b?x=1 HTTP/1.1\r\n" + fields,
        "HEAD /b?x=1 HTTP/1.1\r\n" + fields,
        "DELETE /b HTTP/1.1\r\n" + fields,
        "GET /a HTTP/1.0\r\n" + fields,
        "GET /a HTTP/1.2\r\n" + fields,
        "GET /a http/1.1\r\n" + fields,
        "GET /a HTTP/1.1 \r\n" + fields,
        "GET  /a HTTP/1.1\r\n" + fields,
        "GET /a b HTTP/1.1\r\n" + fields,
        "GET /a\tb HTTP/1.1\r\n" + fields,
        "GET /a#b HTTP/1.1\r\n" + fields,
        "GET /a HTTP/1.1\n" + fields,
        "GET HTTP/1.1\r\n" + fields,
        "GET\r\n" + fields,
        "\n" + fields,
        "\r\n" + fields,
        fields,
        "\r\nGET /a HTTP/1.1\r\n" + fields,
        "GE(T /a HTTP/1.1\r\n" + fields,
        "PROPFIND /a HTTP/1.1\r\n" + fields,
        "CONNECT shop.example:81 HTTP/1.1\r\n" + fields,
        "CONNECT /a HTTP/1.1\r\n" + fields,
        "OPTIONS * HTTP/1.1\r\n" + fields,
        "GET * HTTP/1.1\r\n" + fields,
        "GET http://other.example/a HTTP/1.1\r\n" + fields,
        "GET https://other.example/a HTTP/1.1\r\n" + fields,
        "GET /" + long_path + " HTTP/1.1\r\n" + fields,
        "GET /a HTTP/1.1\r\n" + credential,
        "GET /a HTTP/1.1\r\nHost: shop.example:81\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: shop.example:82\r\nAccept: */*\r\nX-Trace: 1\r\n\r\n",
        "GET /a HTTP/1.1\r\n" + fields.substr(0, fields.size() - 2),
        "GET /a HTTP/1.1\r\n" + fields + "GET /behind",
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close, x-hop\r\n"
        "X-Hop: 1\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close, x-hop\r\n"
        "X-Hop: 1\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: h\r\nX_A: 1\r\n\r\n",
        "GET /a HTTP/1.0\r\n\r\n",
    };
    const std::vector<head_limits> limits{
        {}, {.fields = 2}, {.target_bytes = 4}, {.header_bytes = 60}, {.keep_underscores = true}};
    const auto told = [](const result<std::size_t>& taken, const request_head& h) {
        if (!taken || *taken == 0) return verdict(taken);
        std::string text = std::to_string(*taken) + " " + h.method_name + std::to_string(static_cast<int>(h.verb)) +
                           " " + h.scheme + "://" + h.authority() + h.target +
                           (h.protocol == version::http10 ? " 1.0" : " 1.1") + (h.keep_alive ? " kept" : "") +
                           (h.expects_continue ? " expects " : " ") + h.upgrade + " " +
                           std::to_string(static_cast<int>(h.body.how)) + ":" + std::to_string(h.body.length);
        for (const auto& [name, value] : list(h.header)) text.append("|").append(name).append("=").append(value);
        return text;
    };
    for (const head_limits& before_under : limits) {
        for (const head_limits& under : limits) {
            for (const std::string_view scheme : {"http", "https"}) {
                for (const std::string& before : heads) {
                    for (const std::string& head : heads) {
                        request_parser parser;
                        (void)parser.parse(before, before_under, "http");
                        (void)parser.parse(before, before_under, "http");
                        const auto taken = parser.parse(head, under, scheme);
                        const auto [fresh, wanted] = request(head, under, scheme);
                        ASSERT_EQ(told(taken, parser.head()), told(fresh, wanted)) << before << "then\n" << head;
                    }
                }
            }
        }
    }
}

// Who is refused, or never ends a head, is not taken for who came before.
TEST(H1RequestParser, NothingIsLeftForAHeadThatIsNone) {
    for (const std::string_view none : {"\x16\x03", "GET /half HTTP/1.1\r\nHost: a\r\n", " "}) {
        request_parser parser;
        ASSERT_TRUE(parser.parse("GET /mine HTTP/1.1\r\nHost: me\r\nUser-Agent: me\r\n\r\n", {}, "http").has_value());
        (void)parser.parse(none, {}, "http");
        EXPECT_EQ(parser.head().host, "");
        EXPECT_EQ(parser.head().target, "/");
        EXPECT_THAT(parser.head().header, IsEmpty());
    }
}

// S045, S055: a prefix is never a request, and says so or fails, but never succeeds.
TEST(H1Request, NoPrefixOfARequestIsARequest) {
    const std::string text =
        "\r\nPOST http://H:81/a?b HTTP/1.1\r\nHost: h:81\r\nContent-Length: 5\r\nConnection: x-hop\r\nX-Hop: "
        "1\r\nUser-Agent: t\r\n\r\n";
    for (std::size_t n = 0; n < text.size(); ++n) {
        EXPECT_EQ(verdict(request(std::string_view(text).substr(0, n)).taken), "incomplete") << n;
    }
    EXPECT_EQ(request(text).taken, text.size());
}

// S041, S044: what follows is left for the next call.
TEST(H1Request, PipelinedRequestsComeOneByOne) {
    std::string_view in =
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HTTP/1.1\r\nHost: a\r\n\r\n";
    std::vector<std::string> targets;
    request_head head;
    while (!in.empty()) {
        const auto taken = parse_request(in, {}, "http", head);
        ASSERT_TRUE(taken.has_value() && *taken > 0);
        in.remove_prefix(*taken);
        targets.push_back(head.method_name + head.target);
        EXPECT_FALSE(head.body.has_body());
    }
    EXPECT_THAT(targets, ElementsAre("GET/1", "POST/2", "GET/3"));
}

// S068.
TEST(H1Request, OneEmptyLineBeforeItIsSkipped) {
    EXPECT_EQ(request("\r\n" + get_with({})).taken, get_with({}).size() + 2);
    EXPECT_EQ(verdict(request("\r").taken), "incomplete");
    EXPECT_EQ(verdict(request("\r\n").taken), "incomplete");
}

// S073, VSV18: the authority of the target goes before Host, an empty path is "/".
TEST(H1Request, AbsoluteFormIsTakenApart) {
    const auto target_of = [](std::string_view method, std::string_view target, std::string_view scheme = "http") {
        const auto [taken, head] =
            request(std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\nHost: other:9\r\n\r\n", {}, scheme);
        return taken ? head.authority() + ' ' + head.target : verdict(taken);
    };
    EXPECT_EQ(target_of("GET", "http://a.test/x?y"), "a.test /x?y");
    EXPECT_EQ(target_of("GET", "HTTP://A.Test:81/x"), "a.test:81 /x");
    EXPECT_EQ(target_of("GET", "http://a.test"), "a.test /");
    EXPECT_EQ(target_of("GET", "http://a.test?q"), "a.test /?q");
    EXPECT_EQ(target_of("GET", "http://a.test/http://b/"), "a.test /http://b/");
    EXPECT_EQ(target_of("OPTIONS", "http://a.test"), "a.test *");
    EXPECT_EQ(target_of("OPTIONS", "http://a.test/"), "a.test /");
    EXPECT_EQ(target_of("GET", "https://a.test/", "https"), "a.test /");
    EXPECT_EQ(target_of("OPTIONS", "*"), "other:9 *");
    // What a listener without TLS cannot vouch for.
    EXPECT_EQ(target_of("GET", "https://a.test/"), "bad_request");
    EXPECT_EQ(target_of("GET", "ftp://a.test/"), "bad_request");
    EXPECT_EQ(target_of("GET", "http://"), "bad_host");
    EXPECT_EQ(target_of("GET", "http:///x"), "bad_host");
    EXPECT_EQ(target_of("GET", "http://user@a.test/"), "bad_host");
    EXPECT_EQ(target_of("GET", "http:/a.test/"), "bad_request");
}

// S196: bytes as received, each its own key.
TEST(H1Request, TheTargetIsNotNormalised) {
    for (const char* target :
         {"/a/../b", "//b", "/a;v", "/%2f", "/%00", "/a\\b", "/A", "/a/", "/?", "/a?b?c", "/\"<>^`{|}"}) {
        EXPECT_EQ(request("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n").head.target, target);
    }
}

TEST(H1Request, Version10NeedsNoHostAndClosesUnlessAsked) {
    auto [taken, head] = request("GET / HTTP/1.0\r\n\r\n");
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_EQ(head.protocol, version::http10);
    EXPECT_EQ(head.host, "");
    EXPECT_FALSE(head.keep_alive);
    EXPECT_TRUE(request("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").head.keep_alive);
    EXPECT_FALSE(request("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n").head.keep_alive);
    EXPECT_FALSE(request("GET / HTTP/1.0\r\nProxy-Connection: keep-alive\r\n\r\n").head.keep_alive);
    EXPECT_FALSE(request(get_with({"Connection: a, CLOSE"})).head.keep_alive);
    EXPECT_FALSE(request(get_with({"Connection: a", "Connection: close"})).head.keep_alive);
}

// S018, S024, S043: framing that everybody reads the same way.
TEST(H1Request, FramingIsJudgedOnce) {
    const auto body_of = [](std::initializer_list<std::string_view> lines) {
        const auto [taken, head] = request(get_with(lines));
        EXPECT_EQ(verdict(taken), "ok");
        EXPECT_EQ(head.header.find(field_id::content_length), std::nullopt);
        EXPECT_EQ(head.header.find(field_id::transfer_encoding), std::nullopt);
        return head.body;
    };
    EXPECT_EQ(body_of({}), framing::none());
    EXPECT_EQ(body_of({"Content-Length: 0"}), framing::of_length(0));
    EXPECT_EQ(body_of({"Content-Length: 005"}), framing::of_length(5));
    EXPECT_EQ(body_of({"content-length:5"}), framing::of_length(5));
    EXPECT_EQ(body_of({"Content-Length: 5", "Content-Length: 5"}), framing::of_length(5));
    EXPECT_EQ(body_of({"Content-Length: 5, 5"}), framing::of_length(5));
    EXPECT_EQ(body_of({"Content-Length: 9223372036854775807"}), framing::of_length(9'223'372'036'854'775'807U));
    EXPECT_EQ(body_of({"Transfer-Encoding: chunked"}), framing::chunked());
    EXPECT_EQ(body_of({"Transfer-Encoding: ChUnKeD"}), framing::chunked());
}

// S090, S097.
TEST(H1Request, ExpectContinueIsKeptAsAFlagWhereABodyComes) {
    auto [taken, head] = request(get_with({"Expect: 100-Continue", "Content-Length: 3"}));
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_TRUE(head.expects_continue);
    EXPECT_THAT(head.header, IsEmpty());
    EXPECT_FALSE(request(get_with({"Expect: 100-continue"})).head.expects_continue);
    const auto old = request("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    EXPECT_EQ(verdict(old.taken), "ok");
    EXPECT_FALSE(old.head.expects_continue);
    EXPECT_EQ(verdict(request("PUT / HTTP/1.0\r\nExpect: foo\r\n\r\n").taken), "ok");
}

// S099, S101, S102; CVE-2026-58055.
TEST(H1Request, UpgradeIsKeptOnlyWhereItCanBeHonoured) {
    const auto upgrade_of = [](std::initializer_list<std::string_view> lines) {
        const auto [taken, head] = request(get_with(lines));
        EXPECT_EQ(verdict(taken), "ok");
        EXPECT_EQ(head.header.find(field_id::upgrade), std::nullopt);
        EXPECT_EQ(head.header.find("HTTP2-Settings"), std::nullopt);
        return head.upgrade;
    };
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: websocket"}), "websocket");
    EXPECT_EQ(upgrade_of({"Connection: keep-alive, upgrade", "Upgrade: websocket"}), "websocket");
    EXPECT_EQ(upgrade_of({"Upgrade: websocket"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: h2c"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: websocket, H2C"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: h2c/1"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: websocket", "Upgrade: h2c"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: websocket", "Content-Length: 3"}), "");
    EXPECT_EQ(upgrade_of({"Connection: Upgrade", "Upgrade: websocket", "Transfer-Encoding: chunked"}), "");
    EXPECT_EQ(request("GET / HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n").head.upgrade, "");
}

// S104, RFC 9110 §7.6.1.
TEST(H1Request, HopByHopAndConnectionNamedFieldsAreGone) {
    const auto [taken, head] = request(
        get_with({"Connection: X-Hop, close,, keep-alive", "Connection: other", "X-Hop: 1", "x-hop: 2", "Other: 3",
                  "Keep-Alive: timeout=5", "TE: trailers", "Trailer: X", "Proxy-Authorization: Basic x",
                  "Proxy-Connection: close", "Proxy-Authenticate: Basic", "Stays: 4"}));
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_THAT(list(head.header), ElementsAre(Pair("Stays", "4")));
}

// S106: nobody removes by Connection what somebody else relies on, and framing stays what it is.
TEST(H1Request, ConnectionCannotNameFieldsMeantForEverybody) {
    const auto [taken, head] =
        request(get_with({"Connection: X-Forwarded-For, X-Real-IP, Via, Forwarded, Authorization, Cache-Control, "
                          "Cookie, Host, Content-Length",
                          "X-Forwarded-For: 1", "X-Real-IP: 2", "Via: 3", "Forwarded: for=4", "Authorization: 5",
                          "Cache-Control: no-cache", "Cookie: 6", "Content-Length: 7"}));
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_EQ(head.host, "a");
    EXPECT_EQ(head.body, framing::of_length(7));
    EXPECT_EQ(head.header.size(), 7U);
}

// S019, S101, S192, S194; §1b rule 6.
TEST(H1Request, FieldsThatMakeAnotherRequestOfItAreDropped) {
    const auto [taken, head] = request(
        get_with({"Content_Length: 5", "Transfer_Encoding: chunked", "X_Forwarded_Host: evil.test", "a_b: c",
                  "Proxy: http://evil", "X-HTTP-Method-Override: DELETE", "x-http-method: PUT",
                  "X-Method-Override: PUT", "X-Original-URL: /admin", "X-Rewrite-URL: /admin",
                  "X-Sendfile-Type: X-Accel-Redirect", "X-Accel-Mapping: /=/", "HTTP2-Settings: x", "X-Proxy: stays"}));
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_EQ(head.body, framing::none());
    EXPECT_THAT(list(head.header), ElementsAre(Pair("X-Proxy", "stays")));
}

// Bug case B48: kept on request, but never as a second spelling of what the proxy itself judges.
TEST(H1Request, UnderscoresAreKeptOnlyOnRequestAndNeverAsTwins) {
    head_limits limits;
    limits.keep_underscores = true;
    const auto [taken, head] =
        request(get_with({"my_header: 1", "X_Forwarded_Host: evil", "X-Forwarded_Ssl: on", "Content_Length: 5",
                          "X_HTTP_Method_Override: PUT", "x_original-url: /",
                          "a_name_that_is_longer_than_any_that_matters: 2"}),
                limits);
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_THAT(list(head.header),
                ElementsAre(Pair("my_header", "1"), Pair("a_name_that_is_longer_than_any_that_matters", "2")));
}

// S058, S061.
TEST(H1Request, ObsTextAndEightThousandOctetsAreFine) {
    EXPECT_EQ(request(get_with({"X: caf\xE9"})).head.header.find("X"), "caf\xE9");
    const std::string text =
        "GET /" + std::string(3500, 'p') + " HTTP/1.1\r\nHost: a\r\nX: " + std::string(3500, 'v') + "\r\n\r\n";
    EXPECT_EQ(request(text).taken, text.size());
}

TEST(H1Request, EmptyValuesAndTabsAreFields) {
    const auto [taken, head] = request(get_with({"A:", "B: \t ", "C:\tc\td"}));
    EXPECT_EQ(verdict(taken), "ok");
    EXPECT_THAT(list(head.header), ElementsAre(Pair("A", ""), Pair("B", ""), Pair("C", "c\td")));
}

TEST(H1Request, LimitsAreExact) {
    head_limits limits;
    limits.fields = 3;
    EXPECT_EQ(verdict(request(get_with({"A: 1", "B: 2"}), limits).taken), "ok");
    EXPECT_EQ(verdict(request(get_with({"A: 1", "B: 2", "C: 3"}), limits).taken), "header_fields_too_large");
    const std::string text = get_with({"A: 1"});
    limits = {};
    limits.header_bytes = text.size();
    EXPECT_EQ(verdict(request(text, limits).taken), "ok");
    EXPECT_EQ(verdict(request(text + std::string(1000, 'b'), limits).taken), "ok");  // the body is not the head's
    limits.header_bytes = text.size() - 1;
    EXPECT_EQ(verdict(request(text, limits).taken), "header_fields_too_large");
    limits = {};
    limits.target_bytes = 1;
    EXPECT_EQ(verdict(request(text, limits).taken), "ok");
    limits.target_bytes = 0;
    EXPECT_EQ(verdict(request(text, limits).taken), "uri_too_long");
}

}  // namespace
}  // namespace etagere::http::h1
