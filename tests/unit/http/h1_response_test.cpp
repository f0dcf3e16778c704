#include "h1_heads.hpp"

#include <random>

#include <gmock/gmock.h>

namespace etagere::http::h1 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string ok_with(const std::vector<std::string_view>& lines, std::string_view start = "HTTP/1.1 200 OK") {
    std::string out(start);
    out += "\r\n";
    for (const std::string_view line : lines) out.append(line).append("\r\n");
    return out + "\r\n";
}

TEST(H1Response, BecomesACanonicalHead) {
    const std::string text = ok_with({"Content-Length: 5", "ETag: \"v1\"", "X_Runtime: 1"});
    const auto [taken, head] = response(text + "hello");
    ASSERT_EQ(taken, text.size());
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.reason, "OK");
    EXPECT_EQ(head.protocol, version::http11);
    EXPECT_THAT(list(head.header), ElementsAre(Pair("ETag", "\"v1\""), Pair("X_Runtime", "1")));
    EXPECT_EQ(head.body, framing::of_length(5));
    EXPECT_EQ(head.declared_length, 5);
    EXPECT_TRUE(head.keep_alive);
}

TEST(H1Response, NoPrefixOfAResponseIsAResponse) {
    const std::string text = ok_with({"Content-Length: 5", "Connection: X-Hop", "X-Hop: 1"});
    for (std::size_t n = 0; n < text.size(); ++n) {
        EXPECT_EQ(verdict(response(std::string_view(text).substr(0, n)).taken), "incomplete") << n;
    }
}

TEST(H1Response, StatusLineMayHaveAnyReasonOrNone) {
    EXPECT_EQ(response(ok_with({}, "HTTP/1.1 599 ")).head.status, 599);
    EXPECT_EQ(response(ok_with({}, "HTTP/1.1 200 ")).head.reason, "");
    EXPECT_EQ(response(ok_with({}, "HTTP/1.0 404 Not  Found \xE9")).head.reason, "Not  Found \xE9");
}

struct framing_case {
    const char* name;
    const char* start;
    std::vector<std::string_view> lines;
    method answers;
    framing body;
    std::int64_t declared;
    bool keep_alive;
};

void PrintTo(const framing_case& c, std::ostream* out) {
    *out << c.name;
}

class H1ResponseFraming : public testing::TestWithParam<framing_case> {};

// RFC 9112 §6.3.
TEST_P(H1ResponseFraming, IsJudgedByStatusMethodAndFields) {
    const framing_case& c = GetParam();
    const auto [taken, head] = response(ok_with(c.lines, c.start), c.answers);
    ASSERT_EQ(verdict(taken), "ok");
    EXPECT_EQ(head.body, c.body);
    EXPECT_EQ(head.declared_length, c.declared);
    EXPECT_EQ(head.keep_alive, c.keep_alive);
    EXPECT_THAT(head.header, IsEmpty());
}

constexpr auto get = method::get;
constexpr auto head_ = method::head;

INSTANTIATE_TEST_SUITE_P(
    All, H1ResponseFraming,
    testing::Values(
        framing_case{"Length", "HTTP/1.1 200 OK", {"Content-Length: 5"}, get, framing::of_length(5), 5, true},
        framing_case{"NoLengthMeansUntilClose", "HTTP/1.1 200 OK", {}, get, framing::until_close(), -1, false},
        framing_case{"Chunked", "HTTP/1.1 200 OK", {"Transfer-Encoding: Chunked"}, get, framing::chunked(), -1, true},
        framing_case{"EqualLengths", "HTTP/1.1 200 OK", {"Content-Length: 5, 5"}, get, framing::of_length(5), 5, true},
        framing_case{"TwoEqualLengths",
                     "HTTP/1.1 200 OK",
                     {"Content-Length: 5", "Content-Length: 5"},
                     get,
                     framing::of_length(5),
                     5,
                     true},
        framing_case{"Zero", "HTTP/1.1 200 OK", {"Content-Length: 0"}, get, framing::of_length(0), 0, true},
        framing_case{"Close",
                     "HTTP/1.1 200 OK",
                     {"Content-Length: 1", "Connection: close"},
                     get,
                     framing::of_length(1),
                     1,
                     false},
        framing_case{"Version10Closes", "HTTP/1.0 200 OK", {"Content-Length: 1"}, get, framing::of_length(1), 1, false},
        framing_case{"Version10KeepsIfItSaysSo",
                     "HTTP/1.0 200 OK",
                     {"Content-Length: 1", "Connection: keep-alive"},
                     get,
                     framing::of_length(1),
                     1,
                     true},
        framing_case{"Version10UntilClose",
                     "HTTP/1.0 200 OK",
                     {"Connection: keep-alive"},
                     get,
                     framing::until_close(),
                     -1,
                     false},
        framing_case{"HeadHasNoBody", "HTTP/1.1 200 OK", {"Content-Length: 5"}, head_, framing::none(), 5, true},
        framing_case{"HeadWithoutLength", "HTTP/1.1 200 OK", {}, head_, framing::none(), -1, true},
        // Bug case B18: the last chunk may follow, so the connection is not used again.
        framing_case{
            "HeadChunked", "HTTP/1.1 200 OK", {"Transfer-Encoding: chunked"}, head_, framing::none(), -1, false},
        framing_case{"NotModified", "HTTP/1.1 304 Not Modified", {}, get, framing::none(), -1, true},
        framing_case{
            "NotModifiedLength", "HTTP/1.1 304 Not Modified", {"Content-Length: 10"}, get, framing::none(), 10, true},
        framing_case{"B18NotModifiedChunked",
                     "HTTP/1.1 304 Not Modified",
                     {"Transfer-Encoding: chunked"},
                     get,
                     framing::none(),
                     -1,
                     false},
        framing_case{"NoContent", "HTTP/1.1 204 No Content", {}, get, framing::none(), -1, true},
        framing_case{"NoContentZero", "HTTP/1.1 204 No Content", {"Content-Length: 0"}, get, framing::none(), -1, true},
        framing_case{
            "NoContentLength", "HTTP/1.1 204 No Content", {"Content-Length: 5"}, get, framing::none(), -1, false},
        framing_case{"NoContentChunked",
                     "HTTP/1.1 204 No Content",
                     {"Transfer-Encoding: chunked"},
                     get,
                     framing::none(),
                     -1,
                     false},
        framing_case{"Continue", "HTTP/1.1 100 Continue", {}, get, framing::none(), -1, true},
        framing_case{
            "EarlyHintsZero", "HTTP/1.1 103 Early Hints", {"Content-Length: 0"}, get, framing::none(), -1, true}),
    [](const auto& info) { return std::string(info.param.name); });

// S103, S102.
TEST(H1Response, SwitchingProtocolsKeepsTheUpgrade) {
    const auto upgrade_of = [](const char* start, const std::vector<std::string_view>& lines) {
        return response(ok_with(lines, start)).head.upgrade;
    };
    EXPECT_EQ(upgrade_of("HTTP/1.1 101 Switching", {"Connection: Upgrade", "Upgrade: websocket"}), "websocket");
    EXPECT_EQ(upgrade_of("HTTP/1.1 101 Switching", {"Upgrade: websocket"}), "");
    EXPECT_EQ(upgrade_of("HTTP/1.1 101 Switching", {"Connection: Upgrade", "Upgrade: h2c"}), "");
    EXPECT_EQ(upgrade_of("HTTP/1.1 200 OK", {"Connection: Upgrade", "Upgrade: websocket"}), "");
}

// S104, S106; bug cases B71, B114. Cache-Control and Vary are never removed: without them the answer would be kept.
TEST(H1Response, HopByHopAndConnectionNamedFieldsAreGone) {
    const auto [taken, head] = response(ok_with(
        {"Connection: X-Hop, Cache-Control, Set-Cookie, Vary", "X-Hop: 1", "Keep-Alive: timeout=5", "Upgrade: h2c",
         "Trailer: X", "Content-Length: 0", "Cache-Control: no-store", "Set-Cookie: a=b", "Vary: Cookie"}));
    ASSERT_EQ(verdict(taken), "ok");
    EXPECT_THAT(list(head.header),
                ElementsAre(Pair("Cache-Control", "no-store"), Pair("Set-Cookie", "a=b"), Pair("Vary", "Cookie")));
}

struct refused {
    std::string row;
    std::string text;
    std::string error = "upstream_bad_response";
};

void PrintTo(const refused& r, std::ostream* out) {
    *out << r.row << ": " << testing::PrintToString(r.text.substr(0, 300));
}

class H1ResponseRefused : public testing::TestWithParam<refused> {};

TEST_P(H1ResponseRefused, AsABadResponse) {
    EXPECT_EQ(verdict(response(GetParam().text).taken), GetParam().error);
    const std::string& text = GetParam().text;
    const std::size_t step = text.size() > 2000 ? 997 : 1;
    for (std::size_t n = 0; n < text.size(); n += step) {
        EXPECT_NE(verdict(response(std::string_view(text).substr(0, n)).taken), "ok") << n;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Framing, H1ResponseRefused,
    testing::Values(refused{"S120", ok_with({"Content-Length: 5", "Content-Length: 6"})},
                    refused{"S120", ok_with({"Content-Length: 5x"})},
                    refused{"B117", ok_with({"Content-Length: bogus"})},
                    refused{"B117", ok_with({"Content-Length: 5, 6"})},
                    refused{"B117", ok_with({"Content-Length: -1"})}, refused{"B117", ok_with({"Content-Length: +5"})},
                    refused{"B117", ok_with({"Content-Length:"})},
                    refused{"B117", ok_with({"Content-Length: 9223372036854775808"})},
                    refused{"S121", ok_with({"Content-Length: 5", "Transfer-Encoding: chunked"})},
                    refused{"S121", ok_with({"Transfer-Encoding: chunked", "Content-Length: 5"})},
                    refused{"S014", ok_with({"Transfer-Encoding: gzip"})},
                    refused{"S014", ok_with({"Transfer-Encoding: gzip, chunked"})},
                    refused{"S007", ok_with({"Transfer-Encoding: chunked", "Transfer-Encoding: chunked"})},
                    refused{"S017", ok_with({"Transfer-Encoding: chunked"}, "HTTP/1.0 200 OK")},
                    refused{"S096", ok_with({"Content-Length: 5"}, "HTTP/1.1 103 Early Hints")},
                    refused{"S096", ok_with({"Transfer-Encoding: chunked"}, "HTTP/1.1 100 Continue")}));

INSTANTIATE_TEST_SUITE_P(
    Lines, H1ResponseRefused,
    testing::Values(refused{"S125", ok_with({"X-A : b"})}, refused{"S125", ok_with({"X-A: b", " folded"})},
                    refused{"S125", ok_with({"X-A: b\rc"})},
                    refused{"S125", ok_with({std::string_view("X-A: b\0c", 8)})},
                    refused{"S125", "HTTP/1.1 200 OK\nX: y\n\n"}, refused{"S125", ok_with({"X-A: b\nX-B: c"})},
                    refused{"S125", ok_with({": b"})}, refused{"S125", ok_with({"no colon"})},
                    refused{"S125", ok_with({"Connection: a b"})}, refused{"S126", "220 smtp.example ESMTP\r\n"},
                    refused{"S126", "<html>"}, refused{"S126", "\r\nHTTP/1.1 200 OK\r\n\r\n"},
                    refused{"S126", ok_with({}, "HTTP/1.1 1000 OK")}, refused{"S126", ok_with({}, "HTTP/1.1 99 OK")},
                    refused{"S126", ok_with({}, "HTTP/1.1 099 OK")}, refused{"S126", ok_with({}, "HTTP/1.1 000 OK")},
                    refused{"S126", ok_with({}, "HTTP/1.1 600 OK")}, refused{"S126", ok_with({}, "HTTP/1.1 2x0 OK")},
                    refused{"S126", ok_with({}, "HTTP/1.1 200")}, refused{"S126", ok_with({}, "HTTP/1.1  200 OK")},
                    refused{"S126", ok_with({}, "HTTP/1.2 200 OK")}, refused{"S126", ok_with({}, "HTTP/2.0 200 OK")},
                    refused{"S126", ok_with({}, "http/1.1 200 OK")},
                    refused{"S126", ok_with({}, "HTTP/1.1 200 O\x01K")}));

INSTANTIATE_TEST_SUITE_P(
    Limits, H1ResponseRefused,
    testing::Values(refused{"S127", ok_with({"X: " + std::string(300'000, 'v')}), "upstream_head_too_large"},
                    refused{"S127", "HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'v'), "upstream_head_too_large"},
                    refused{"S127", "HTTP/1.1 200 " + std::string(40'000, 'v'), "upstream_head_too_large"}));

// RFC 9112 §6.3: what is not chunked in the end goes on to the close. Only where asked for, and never a coding that is
// known: its bytes would be taken for the content.
TEST(H1Response, AForeignCodingIsReadToTheCloseWhereThatIsAllowed) {
    head_limits lenient;
    lenient.foreign_codings = true;
    const auto verdict_of = [&](std::initializer_list<std::string_view> lines) {
        return verdict(response(ok_with(lines), get, lenient).taken);
    };
    const auto foreign = response(ok_with({"Transfer-Encoding: frob"}), get, lenient);
    ASSERT_EQ(verdict(foreign.taken), "ok");
    EXPECT_EQ(foreign.head.body, framing::until_close());
    EXPECT_FALSE(foreign.head.keep_alive);
    EXPECT_FALSE(foreign.head.header.has(field_id::transfer_encoding));
    EXPECT_EQ(response(ok_with({"Transfer-Encoding: chunked"}), get, lenient).head.body, framing::chunked());
    for (const auto* coding :
         {"gzip", "x-gzip", "deflate", "compress", "identity", "chunked, frob", "frob, chunked", "frob;q=1", ""}) {
        EXPECT_EQ(verdict_of({std::string("Transfer-Encoding: ") + coding}), "upstream_bad_response") << coding;
    }
    EXPECT_EQ(verdict_of({"Transfer-Encoding: frob", "Content-Length: 5"}), "upstream_bad_response");
    EXPECT_EQ(verdict_of({"Transfer-Encoding: frob", "Transfer-Encoding: chunked"}), "upstream_bad_response");
}

TEST(H1Response, TooManyFieldsAreTooLarge) {
    head_limits limits;
    limits.fields = 1;
    EXPECT_EQ(verdict(response(ok_with({"A: 1"}), get, limits).taken), "ok");
    EXPECT_EQ(verdict(response(ok_with({"A: 1", "B: 2"}), get, limits).taken), "upstream_head_too_large");
}

/// Everything that a head says.
std::string told(const parsed_response& r) {
    std::string out = verdict(r.taken);
    if (out != "ok") return out;
    out += " " + std::to_string(*r.taken) + " " + std::to_string(r.head.status) + " " + r.head.reason + " " +
           std::to_string(static_cast<int>(r.head.body.how)) + " " + std::to_string(r.head.body.length) + " " +
           std::to_string(r.head.declared_length) + (r.head.keep_alive ? " kept\n" : " closed\n");
    for (const fields::entry f : r.head.header) out.append(f.name).append("=").append(f.value).append("\n");
    for (std::size_t i = 0; i < r.head.header.size(); ++i) out += r.head.header.line(i);
    return out;
}

// Heads that have much in common, in an order of chance: what was read before changes nothing.
TEST(H1Response, WhatIsKnownOfTheHeadBeforeChangesNothing) {
    const std::vector<std::string> lines{
        "Server: a",
        "ETag: \"1\"",
        "ETag: \"2\"",
        "ETag:\"2\"",
        "etag: \"1\"",
        "X-Id: 1",
        "X-Id: 12",
        "X-Id: ",
        "X-Id:",
        "Connection: X-Id",
        "Vary: a",
        "Vary: a, b",
        "Content-Length: 5",
        "Content-Length: 6",
        " folded",
        "Cookie: a\x01b",
        "Connection: close",
        "Vary: a \t",
        "X Id: 1",
        "Keep-Alive: 5",
    };
    std::mt19937 random(20'261'201);
    response_parser parser;
    response_head head;
    std::size_t good = 0;
    std::vector<std::string_view> chosen;
    for (int round = 0; round < 20'000; ++round) {
        // Mostly one line more, less or another than before.
        const std::size_t at = chosen.empty() ? 0 : random() % chosen.size();
        const std::string_view other = lines[random() % lines.size()];
        switch (random() % 4) {
            case 0: break;
            case 1: chosen.insert(chosen.begin() + static_cast<std::ptrdiff_t>(at), other); break;
            case 2:
                if (!chosen.empty()) chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            default:
                if (!chosen.empty()) chosen[at] = other;
        }
        if (chosen.size() > 6) chosen.clear();
        const std::string text = ok_with(chosen) + "body";
        const std::string_view in(text.data(), random() % 8 == 0 ? random() % text.size() : text.size());
        const head_limits limits{.fields = random() % 4 == 0 ? 3U : 100U};
        parsed_response known;
        known.taken = parser.parse(in, limits, method::get, head);
        known.head = head;
        ASSERT_EQ(told(known), told(response(in, method::get, limits))) << in;
        if (known.taken && *known.taken != 0) ++good;
    }
    EXPECT_GT(good, 5'000U);
}

}  // namespace
}  // namespace etagere::http::h1
