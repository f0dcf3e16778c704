// Architecture decision 3: a hit allocates nothing in the steady state. Counted here for what the codec does in it.
#include "etagere/http/h1/body.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "h1_heads.hpp"
#include "support/allocations.hpp"

#include <gtest/gtest.h>

namespace etagere::http::h1 {
namespace {

using test::allocations;

const std::string browser_request =
    "GET /api/products?page=1&per=100 HTTP/1.1\r\nHost: Shop.Example.com:8080\r\nConnection: keep-alive, X-Hop\r\n"
    "X-Hop: something that is not passed on\r\nCache-Control: max-age=0\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) "
    "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36\r\nAccept: text/html,application/xhtml+xml,"
    "application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: "
    "en-US,en;q=0.9\r\nIf-None-Match: W/\"5f2b1c9d8e7a6b5c4d3e2f1a0b9c8d7e\"\r\nCookie: "
    "_session=aaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nContent-Length: 0\r\n\r\n";

TEST(Allocations, TheCounterCounts) {
    const std::size_t before = allocations();
    const std::string heap(1000, 'x');
    EXPECT_GT(allocations(), before) << heap.size();
}

TEST(Allocations, AReusedRequestHeadNeedsNone) {
    request_head head;
    ASSERT_TRUE(parse_request(browser_request, {}, "http", head).has_value());
    const std::size_t before = allocations();
    bool ok = true;
    for (int i = 0; i < 100; ++i) ok = ok && parse_request(browser_request, {}, "http", head) == browser_request.size();
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(ok);
}

TEST(Allocations, AParserThatRemembersNeedsNone) {
    request_parser parser;
    const std::string other = "HEAD /a" + browser_request.substr(browser_request.find(" HTTP"));
    const std::string third = get_with({"Accept: */*"});
    for (const std::string* head : {&browser_request, &other, &third})
        ASSERT_EQ(parser.parse(*head, {}, "http"), head->size());
    const std::size_t before = allocations();
    bool ok = true;
    for (int i = 0; i < 100; ++i) {
        for (const std::string* head : {&browser_request, &other, &third}) {
            ok = ok && parser.parse(*head, {}, "http") == head->size();
        }
    }
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(ok);
}

TEST(Allocations, ARefusedRequestNeedsNone) {
    request_head head;
    ASSERT_TRUE(parse_request(browser_request, {}, "http", head).has_value());
    const std::string bad = get_with({"Transfer-Encoding: gzip, chunked"});
    const std::size_t before = allocations();
    const bool refused = !parse_request(bad, {}, "http", head).has_value();
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(refused);
}

TEST(Allocations, AReusedResponseHeadAndBufferNeedNone) {
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nETag: W/\"0123456789abcdef0123456789\"\r\n"
        "Cache-Control: max-age=0, private, must-revalidate\r\nContent-Length: 35942\r\n\r\n";
    response_head head;
    response_parser parser;
    std::string out;
    const auto turn = [&] {
        out.clear();
        const auto taken = parser.parse(text, {}, method::get, head);
        write_response_start(out, head.status, head.reason, head.header);
        write_head_end(out, head.body, head.declared_length, version::http11, true);
        return taken.has_value();
    };
    ASSERT_TRUE(turn());
    const std::size_t before = allocations();
    const bool ok = turn() && turn();
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(ok);
}

TEST(Allocations, AReusedDecoderNeedsNone) {
    body_decoder decoder;
    const std::string wire = "5;extension=value-that-is-longer-than-a-small-string\r\nhello\r\n0\r\n\r\n";
    const auto turn = [&] {
        decoder.start(framing::chunked());
        for (const char& octet : wire) {
            if (!decoder.decode({&octet, 1})) return false;
        }
        return decoder.done();
    };
    ASSERT_TRUE(turn());
    const std::size_t before = allocations();
    const bool ok = turn();
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(ok);
}

}  // namespace
}  // namespace etagere::http::h1
