#include "etagere/http/h1/body.hpp"
#include "etagere/http/h1/serializer.hpp"
#include "etagere/http/lists.hpp"

#include "h1_heads.hpp"

#include <random>

#include <gmock/gmock.h>

namespace etagere::http::h1 {
namespace {

std::string written(const request_head& head) {
    std::string out;
    write_request_head(out, head);
    return out;
}

TEST(H1Serializer, WritesARequestFromTheCanonicalHeadOnly) {
    const auto parsed = request(
        "GET http://Shop.test:8080/a?b HTTP/1.1\r\nHost: x\r\nConnection: X-Hop, close\r\nX-Hop: 1\r\nAccept: "
        "*/*\r\n\r\n");
    EXPECT_EQ(written(parsed.head), "GET /a?b HTTP/1.1\r\nHost: shop.test:8080\r\nAccept: */*\r\n\r\n");
}

TEST(H1Serializer, WritesFramingOfRequests) {
    request_head head;
    head.host = "a";
    EXPECT_EQ(written(head), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    head.body = framing::of_length(0);
    EXPECT_EQ(written(head), "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    head.body = framing::chunked();
    EXPECT_EQ(written(head), "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    head.body = framing::of_length(18'446'744'073'709'551'615U);
    EXPECT_THAT(written(head), testing::HasSubstr("Content-Length: 18446744073709551615\r\n"));
    // RFC 9110 §8.6: a method that anticipates content says that there is none.
    for (const char* name : {"POST", "PUT", "PATCH"}) {
        head.method_name = name;
        head.verb = find_method(name);
        head.body = framing::none();
        EXPECT_EQ(written(head), std::string(name) + " / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    }
}

TEST(H1Serializer, WritesUpgradeWithItsConnection) {
    request_head head;
    head.host = "a";
    head.upgrade = "websocket";
    EXPECT_EQ(written(head), "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

// Fields that came from a store or from configuration cannot add framing of their own.
TEST(H1Serializer, NeverWritesFieldsThatItOwns) {
    request_head head;
    head.host = "a";
    for (const field_id id : {field_id::content_length, field_id::transfer_encoding, field_id::connection,
                              field_id::host, field_id::upgrade, field_id::te, field_id::trailer, field_id::keep_alive,
                              field_id::expect, field_id::proxy_authorization, field_id::proxy_connection}) {
        head.header.append(id, "5");
    }
    EXPECT_EQ(written(head), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    std::string out;
    write_response_start(out, 200, "OK", head.header);
    EXPECT_EQ(out, "HTTP/1.1 200 OK\r\n");
    out.clear();
    write_last_chunk(out, head.header);
    EXPECT_EQ(out, "0\r\n\r\n");
}

TEST(H1Serializer, FramesResponsesForTheClient) {
    response_head head;
    head.body = framing::of_length(5);
    EXPECT_EQ(response_framing(head, version::http11, method::get), framing::of_length(5));
    EXPECT_EQ(response_framing(head, version::http10, method::get), framing::of_length(5));
    EXPECT_EQ(response_framing(head, version::http11, method::head), framing::none());
    for (const framing unknown : {framing::chunked(), framing::until_close()}) {
        head.body = unknown;
        EXPECT_EQ(response_framing(head, version::http11, method::get), framing::chunked());
        EXPECT_EQ(response_framing(head, version::http10, method::get), framing::until_close());  // S108
        EXPECT_EQ(response_framing(head, version::http11, method::head), framing::none());
    }
    head.body = framing::none();
    EXPECT_EQ(response_framing(head, version::http11, method::get), framing::of_length(0));
    for (const int status : {100, 101, 103, 199, 204, 304}) {  // bug case B18
        head.status = status;
        head.body = framing::chunked();
        EXPECT_EQ(response_framing(head, version::http11, method::get), framing::none()) << status;
    }
    head.status = 205;
    EXPECT_EQ(response_framing(head, version::http11, method::get), framing::chunked());
}

TEST(H1Serializer, WritesResponses) {
    fields header;
    ASSERT_TRUE(header.add("etag", "\"v1\""));
    std::string out;
    write_response_start(out, 304, "Not Modified", header);
    write_head_end(out, framing::none(), 35'942, version::http11, true);
    EXPECT_EQ(out, "HTTP/1.1 304 Not Modified\r\netag: \"v1\"\r\nContent-Length: 35942\r\n\r\n");
    out.clear();
    write_response_start(out, 599, "", {});
    EXPECT_EQ(out, "HTTP/1.1 599 \r\n");
}

TEST(H1Serializer, EndsHeadsWithHowTheBodyIsFramed) {
    const auto end = [](framing how, std::int64_t declared_length) {
        std::string out;
        write_head_end(out, how, declared_length, version::http11, true);
        return out;
    };
    EXPECT_EQ(end(framing::none(), -1), "\r\n");
    EXPECT_EQ(end(framing::none(), 0), "Content-Length: 0\r\n\r\n");
    EXPECT_EQ(end(framing::until_close(), 7), "\r\n");
    EXPECT_EQ(end(framing::of_length(7), -1), "Content-Length: 7\r\n\r\n");
    EXPECT_EQ(end(framing::of_length(std::numeric_limits<std::uint64_t>::max()), -1),
              "Content-Length: 18446744073709551615\r\n\r\n");
    EXPECT_EQ(end(framing::chunked(), 9), "Transfer-Encoding: chunked\r\n\r\n");
}

TEST(H1Serializer, SaysConnectionOnlyWhereTheDefaultDoesNotHold) {
    const auto connection = [](version client, bool keep_alive) {
        std::string out;
        write_head_end(out, framing::none(), -1, client, keep_alive);
        return out;
    };
    EXPECT_EQ(connection(version::http11, true), "\r\n");
    EXPECT_EQ(connection(version::http11, false), "Connection: close\r\n\r\n");
    EXPECT_EQ(connection(version::http10, true), "Connection: keep-alive\r\n\r\n");
    EXPECT_EQ(connection(version::http10, false), "Connection: close\r\n\r\n");
}

TEST(H1Serializer, ChunksAreReadBackByTheDecoder) {
    std::string wire;
    std::string content;
    for (const std::size_t size : {1U, 15U, 16U, 255U, 4096U}) {
        content.append(size, 'c');
        write_chunk_start(wire, size);
        wire.append(size, 'c').append("\r\n");
    }
    fields trailers;
    ASSERT_TRUE(trailers.add("grpc-status", "0"));
    write_last_chunk(wire, trailers);
    EXPECT_THAT(wire, testing::EndsWith("\r\n0\r\ngrpc-status: 0\r\n\r\n"));
    body_decoder decoder;
    decoder.start(framing::chunked());
    std::string read;
    for (std::string_view rest = wire; !rest.empty();) {
        const auto step = decoder.decode(rest);
        ASSERT_TRUE(step.has_value());
        read += step->content;
        rest.remove_prefix(step->consumed);
    }
    EXPECT_TRUE(decoder.done());
    EXPECT_EQ(read, content);
    EXPECT_EQ(list(decoder.trailers()), list(trailers));
}

std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t most) {
    std::string out(random() % (most + 1), ' ');
    for (char& c : out) c = alphabet[random() % alphabet.size()];
    return out;
}

// What is written is read back as the same head: there is one meaning, and no second.
TEST(H1Serializer, RequestsSurviveTheRoundTrip) {
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        request_head head;
        head.method_name = std::array{"GET", "POST", "DELETE", "BREW"}[random() % 4];
        head.verb = find_method(head.method_name);
        head.target = "/" + random_text(random, "abc/?&=%;.~\\\"", 30);
        head.host = "h" + random_text(random, "abc-09", 10);
        head.port = random() % 2 == 0 ? 80 : static_cast<std::uint16_t>(1 + random() % 65'535);
        for (auto n = random() % 6; n > 0; --n) {
            const auto value = random_text(random, "a,;=\"\\ \t\xE9", 20);
            ASSERT_TRUE(head.header.add("X-" + random_text(random, "abcXYZ09", 6), trim(value)));
        }
        head.body = std::array{framing::none(), framing::of_length(random() % 100), framing::chunked()}[random() % 3];
        const std::string wire = written(head);
        const auto again = request(wire);
        ASSERT_EQ(again.taken, wire.size()) << wire;
        EXPECT_EQ(again.head.method_name, head.method_name);
        EXPECT_EQ(again.head.target, head.target);
        EXPECT_EQ(again.head.authority(), head.authority());
        EXPECT_EQ(list(again.head.header), list(head.header));
        EXPECT_EQ(again.head.body.has_body(), head.body.has_body());
        if (head.body.has_body()) EXPECT_EQ(again.head.body, head.body);
    }
}

}  // namespace
}  // namespace etagere::http::h1
