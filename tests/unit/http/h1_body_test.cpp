#include "etagere/http/h1/body.hpp"

#include "h1_heads.hpp"

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace etagere::http::h1 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct outcome {
    std::string content;
    std::string left;   // what comes after the body
    std::string error;  // "" where there was none
    bool done = false;
    pairs trailers;
    friend bool operator==(const outcome&, const outcome&) = default;
};

// Feeds `text` in pieces that end at `cuts`, the way a connection does.
outcome decode(framing how, std::string_view text, const std::vector<std::size_t>& cuts = {},
               const body_limits& limits = {}) {
    outcome out;
    body_decoder decoder;
    decoder.start(how, limits);
    std::size_t at = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t end = i < cuts.size() ? cuts[i] : text.size();
        while (at < end && !decoder.done()) {
            const auto step = decoder.decode(text.substr(at, end - at));
            if (!step) {
                out.error = error_name(step.error());
                return out;
            }
            EXPECT_GT(step->consumed, 0U);
            EXPECT_LE(step->content.size(), step->consumed);
            out.content += step->content;
            at += step->consumed;
        }
    }
    out.left = text.substr(at);
    out.done = decoder.done();
    out.trailers = list(decoder.trailers());
    return out;
}

outcome chunked(std::string_view text) {
    return decode(framing::chunked(), text);
}

TEST(H1Body, OfALengthEndsThere) {
    const outcome o = decode(framing::of_length(5), "helloNEXT");
    EXPECT_EQ(o.content, "hello");
    EXPECT_EQ(o.left, "NEXT");
    EXPECT_TRUE(o.done);
    EXPECT_FALSE(decode(framing::of_length(6), "hello").done);
}

TEST(H1Body, OfNoBytesIsDoneAtOnce) {
    body_decoder decoder;
    EXPECT_TRUE(decoder.done());
    decoder.start(framing::none());
    EXPECT_TRUE(decoder.done());
    decoder.start(framing::of_length(0));
    EXPECT_TRUE(decoder.done());
    const auto step = decoder.decode("GET /");
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->consumed, 0U);
    decoder.start(framing::chunked());
    EXPECT_FALSE(decoder.done());
}

TEST(H1Body, SaysHowMuchIsCertainToCome) {
    body_decoder decoder;
    decoder.start(framing::of_length(10));
    EXPECT_EQ(decoder.remaining(), 10U);
    ASSERT_TRUE(decoder.decode("abc").has_value());
    EXPECT_EQ(decoder.remaining(), 7U);
    decoder.start(framing::chunked());
    EXPECT_EQ(decoder.remaining(), 0U);
    ASSERT_TRUE(decoder.decode("5\r\n").has_value());
    EXPECT_EQ(decoder.remaining(), 0U);
}

// S027, S220: what was cut short is an error, never a whole body.
TEST(H1Body, TheEndOfInputIsRightOnlyForUntilClose) {
    body_decoder decoder;
    decoder.start(framing::until_close());
    ASSERT_TRUE(decoder.decode("abc").has_value());
    EXPECT_FALSE(decoder.done());
    EXPECT_TRUE(decoder.end_of_input().has_value());
    EXPECT_TRUE(decoder.done());
    EXPECT_TRUE(decoder.end_of_input().has_value());

    decoder.start(framing::of_length(5));
    ASSERT_TRUE(decoder.decode("abc").has_value());
    EXPECT_EQ(decoder.end_of_input().error(), errc::bad_framing);
    EXPECT_FALSE(decoder.done());
    EXPECT_EQ(decoder.decode("de").error(), errc::bad_framing);

    for (const char* part : {"", "5", "5\r\n", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "0\r\n", "0\r\nA: b\r\n"}) {
        decoder.start(framing::chunked());
        std::string_view rest = part;
        while (!rest.empty()) rest.remove_prefix(decoder.decode(rest)->consumed);
        EXPECT_EQ(decoder.end_of_input().error(), errc::bad_framing) << part;
    }
}

TEST(H1Body, ChunksAreJoined) {
    const outcome o = chunked("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET /");
    EXPECT_EQ(o.content, "hello world");
    EXPECT_EQ(o.left, "GET /");
    EXPECT_TRUE(o.done);
    EXPECT_EQ(chunked("A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n").content, "01234567890123456789");
    EXPECT_EQ(chunked("0000000000000005\r\nhello\r\n0\r\n\r\n").content, "hello");
}

// S036.
TEST(H1Body, ChunkExtensionsAreAcceptedAndIgnored) {
    for (const char* extension :
         {";a", ";a=b", " ; a = b", "\t;a=\"b;c\\\"d\"", ";a;b=c;d=\"\"", ";a=\"\xC3\xA9\"", ";a ;b"}) {
        const outcome o = chunked("5" + std::string(extension) + "\r\nhello\r\n0" + extension + "\r\n\r\n");
        EXPECT_EQ(o.content, "hello") << extension;
        EXPECT_TRUE(o.done) << extension;
    }
}

class BadChunk : public testing::TestWithParam<std::string> {};

TEST_P(BadChunk, IsBadFraming) {
    outcome o = chunked(GetParam());
    EXPECT_EQ(o.error, "bad_framing");
    EXPECT_FALSE(o.done);
}

std::string sized(std::string_view size_line) {
    return std::string(size_line) + "\r\nhello\r\n0\r\n\r\n";
}

INSTANTIATE_TEST_SUITE_P(S028_Size, BadChunk,
                         testing::Values(sized("0x5"), sized("+5"), sized("-5"), sized("0_5"), sized("5g"), sized(""),
                                         sized(" 5"), sized("\t5"), sized("5 "), sized("5\t"), sized("5 5"),
                                         sized("5,"), sized("5\r"), sized(std::string_view("5\0", 2)),
                                         sized("\x35\xE9"), sized("5.0")));
INSTANTIATE_TEST_SUITE_P(S029_Overflow, BadChunk,
                         testing::Values(sized("00000000000000005"), sized("10000000000000005"),
                                         sized("fffffffffffffffff"), sized(std::string(4000, '0'))));
INSTANTIATE_TEST_SUITE_P(S033_DataEnd, BadChunk,
                         testing::Values("5\r\nhelloX\r\n0\r\n\r\n", "5\r\nhelloXX0\r\n\r\n", "5\r\nhello0\r\n\r\n",
                                         "5\r\nhello\r0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n",
                                         "5\r\nhello " + std::string(100'000, 'x')));
INSTANTIATE_TEST_SUITE_P(S034_BareLineEnds, BadChunk,
                         testing::Values("5\nhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n",
                                         "5\r\nhello\r\n0\r\n\n", "5\r\nhello\r\n0\r\nA: b\n\r\n",
                                         "5\r\nhello\r\n0\r\n\r\r\n", "5\rhello\r\n0\r\n\r\n"));
INSTANTIATE_TEST_SUITE_P(S037_Extensions, BadChunk,
                         testing::Values(sized("5;"), sized("5;;a"), sized("5;a="), sized("5;=b"), sized("5;a=\"b"),
                                         sized("5;a=\"b\\"), sized("5;a b"), sized("5;a=b c"), sized("5;a=\"b\"c"),
                                         sized("5;a\nb"), sized("5;a\rb"), sized("5;a=\"\n\""), sized("5;a=\x01"),
                                         sized("5;a=\"\x7F\""), sized("5;a=\"b\\\"\r"),
                                         sized("5;" + std::string(70'000, 'a')), "5;" + std::string(8'200, 'a')));
INSTANTIATE_TEST_SUITE_P(Trailers, BadChunk,
                         testing::Values("0\r\nA\r\n\r\n", "0\r\nA : b\r\n\r\n", "0\r\n: b\r\n\r\n",
                                         "0\r\n A: b\r\n\r\n", "0\r\nA: b\r\n c\r\n\r\n", "0\r\nA: b\rc\r\n\r\n",
                                         "0\r\nA: b\x01\r\n\r\n", "0\r\nA: " + std::string(9000, 'x') + "\r\n\r\n"));

TEST(H1Body, LimitsAreExact) {
    body_limits limits{.chunk_line_bytes = 6, .trailer_bytes = 12, .trailer_fields = 2};
    EXPECT_EQ(decode(framing::chunked(), "1;ab\r\nx\r\n0\r\n\r\n", {}, limits).content, "x");
    EXPECT_EQ(decode(framing::chunked(), "1;abc\r\nx\r\n0\r\n\r\n", {}, limits).error, "bad_framing");
    EXPECT_TRUE(decode(framing::chunked(), "0\r\nA:1\r\nB:2\r\n\r\n", {}, limits).done);
    EXPECT_EQ(decode(framing::chunked(), "0\r\nA:1\r\nB:22\r\n\r\n", {}, limits).error, "bad_framing");
    limits.trailer_bytes = 100;
    EXPECT_EQ(decode(framing::chunked(), "0\r\nA:1\r\nB:2\r\nC:3\r\n\r\n", {}, limits).error, "bad_framing");
}

// Bug case B106: gRPC lives in trailers.
TEST(H1Body, TrailersAreKeptApart) {
    const outcome o = chunked("0\r\ngrpc-status: 0\r\nETag: \"x\"\r\nX-Sum:  1 \r\nmy_key-bin: a\r\n\r\n");
    EXPECT_THAT(o.trailers, ElementsAre(Pair("grpc-status", "0"), Pair("ETag", "\"x\""), Pair("X-Sum", "1"),
                                        Pair("my_key-bin", "a")));
}

// S038, bug case B108, RFC 9110 §6.5.1.
TEST(H1Body, TrailersThatDecideAnythingAreDropped) {
    std::string text = "0\r\n";
    for (const char* name : {"Content-Length",
                             "Transfer-Encoding",
                             "Host",
                             "Authorization",
                             "X-Forwarded-For",
                             "X-Forwarded-Server",
                             "Connection",
                             "Upgrade",
                             "TE",
                             "Trailer",
                             "Cache-Control",
                             "Age",
                             "Expires",
                             "Date",
                             "Vary",
                             "Location",
                             "Set-Cookie",
                             "Set-Cookie2",
                             "Content-Type",
                             "Content-Encoding",
                             "Content-Range",
                             "Content-Disposition",
                             "WWW-Authenticate",
                             "Proxy-Authenticate",
                             "Proxy-Foo",
                             "X-Accel-Redirect",
                             "X-Sendfile",
                             "Access-Control-Allow-Origin",
                             "Cookie",
                             "X-HTTP-Method-Override",
                             "Content_Length",
                             "Transfer_Encoding",
                             "If-Match",
                             "Range",
                             "Max-Forwards",
                             "Expect"}) {
        text += std::string(name) + ": x\r\n";
    }
    const outcome o = chunked(text + "Kept: y\r\n\r\n");
    EXPECT_TRUE(o.done);
    EXPECT_THAT(o.trailers, ElementsAre(Pair("Kept", "y")));
}

TEST(H1Body, ANewBodyHasNothingOfTheOneBefore) {
    body_decoder decoder;
    decoder.start(framing::chunked());
    ASSERT_TRUE(decoder.decode("0\r\nA: b\r\n\r\n").has_value());
    EXPECT_EQ(decoder.trailers().size(), 1U);
    decoder.start(framing::chunked());
    EXPECT_THAT(decoder.trailers(), IsEmpty());
    EXPECT_FALSE(decoder.decode("x\r\n").has_value());
    decoder.start(framing::chunked());
    ASSERT_TRUE(decoder.decode("5").has_value());
    decoder.start(framing::chunked());
    ASSERT_TRUE(decoder.decode("0\r\n\r\n").has_value());
    EXPECT_TRUE(decoder.done());
}

// S045: every way to cut the input into two and three pieces gives the same.
TEST(H1Body, TheResultDoesNotDependOnTheCuts) {
    for (const std::string& text :
         {std::string("5;a=\"x\"\r\nhello\r\n10\r\n0123456789abcdef\r\n0;z\r\nA: b\r\nHost: x\r\nC:d\r\n\r\nNEXT"),
          std::string("5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n"), std::string("3\r\nabcX\r\n0\r\n\r\n"),
          std::string("3\r\nabc\r\n0x0\r\n\r\n"), std::string("3\nabc\r\n0\r\n\r\n"),
          std::string("3\r\nabc\r\n0\r\n\n")}) {
        const outcome whole = chunked(text);
        for (std::size_t a = 0; a <= text.size(); ++a) {
            for (std::size_t b = a; b <= text.size(); ++b) {
                ASSERT_EQ(decode(framing::chunked(), text, {a, b}), whole) << a << ' ' << b << ' ' << text;
            }
        }
    }
    EXPECT_EQ(decode(framing::of_length(4), "abcdefg", {1, 2, 3, 4, 5}).content, "abcd");
    EXPECT_EQ(decode(framing::until_close(), "abcdefg", {1, 4}).content, "abcdefg");
}

TEST(H1Body, RandomBodiesSurviveRandomChunksAndCuts) {
    std::mt19937 random(42);
    for (int round = 0; round < 300; ++round) {
        std::string content;
        std::string wire;
        for (auto chunks = random() % 8; chunks > 0; --chunks) {
            std::string data(1 + random() % 300, '\0');
            for (char& c : data) c = static_cast<char>(random());
            std::array<char, 32> line{};
            std::snprintf(line.data(), line.size(), "%zx\r\n", data.size());
            content += data;
            wire += line.data() + data + "\r\n";
        }
        wire += "0\r\n\r\nREST";
        std::vector<std::size_t> cuts;
        for (std::size_t at = 0; at < wire.size();) cuts.push_back(at = std::min(wire.size(), at + 1 + random() % 40));
        const outcome o = decode(framing::chunked(), wire, cuts);
        ASSERT_EQ(o.content, content);
        ASSERT_EQ(o.left, "REST");
        ASSERT_TRUE(o.done);
    }
}

// S040, CVE-2024-25111: no recursion, constant memory.
TEST(H1Body, TwoHundredThousandChunksOfOneOctet) {
    std::string wire;
    for (int i = 0; i < 200'000; ++i) wire += "1\r\nx\r\n";
    wire += "0\r\n\r\n";
    const outcome o = chunked(wire);
    EXPECT_EQ(o.content.size(), 200'000U);
    EXPECT_TRUE(o.done);
}

}  // namespace
}  // namespace etagere::http::h1
