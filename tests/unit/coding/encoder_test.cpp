#include "etagere/coding/encoder.hpp"

#include "decode.hpp"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::coding {
namespace {

constexpr std::size_t kib = 1024;

std::string json(std::size_t size) {
    std::string out;
    for (unsigned i = 0; out.size() < size; ++i) {  // wraps, and may
        out += R"({"id":)" + std::to_string(i * 7919 % 100'003) + R"(,"name":"article )" + std::to_string(i) + "\"},\n";
    }
    out.resize(size);
    return out;
}

std::string noise(std::size_t size) {
    std::mt19937_64 source(size);
    std::string out(size, '\0');
    for (char& c : out) c = static_cast<char>(source());
    return out;
}

std::string encode(http::coding how, std::string_view body, std::size_t piece, bool tell_size,
                   encoder::then between = encoder::then::more) {
    const auto e = make_encoder(how, tell_size ? std::optional<std::uint64_t>(body.size()) : std::nullopt);
    std::string out;
    std::string_view rest = body;
    while (rest.size() > piece) {
        EXPECT_TRUE(e->write(rest.substr(0, piece), between, out));
        rest.remove_prefix(piece);
    }
    EXPECT_TRUE(e->write(rest, encoder::then::end, out));
    return out;
}

class Encoder : public testing::TestWithParam<http::coding> {};

TEST_P(Encoder, EverySizeComesBack) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{2}, 15 * kib, 16 * kib - 1, 16 * kib,
                                   16 * kib + 1, 64 * kib, 300 * kib, 1024 * kib, 3 * 1024 * kib + 1}) {
        for (const bool tell_size : {true, false}) {
            for (const std::string& body : {json(size), noise(size), std::string(size, 'x')}) {
                const decoded back = decode(GetParam(), encode(GetParam(), body, 32 * kib, tell_size));
                EXPECT_TRUE(back.whole) << size;
                EXPECT_TRUE(back.text == body) << size;
            }
        }
    }
}

TEST_P(Encoder, AnySplitComesBack) {
    const std::string body = json(5000);
    for (const std::size_t piece : {1U, 2U, 7U, 100U, 4999U}) {
        for (const auto between : {encoder::then::more, encoder::then::flush}) {
            const decoded back = decode(GetParam(), encode(GetParam(), body, piece, false, between));
            EXPECT_TRUE(back.whole) << piece;
            EXPECT_TRUE(back.text == body) << piece;
        }
    }
}

TEST_P(Encoder, AFlushHoldsNothingBack) {
    const auto e = make_encoder(GetParam(), std::nullopt);
    std::string out, sent;
    for (int i = 0; i < 50; ++i) {
        const std::string piece = "event " + std::to_string(i) + "\n";
        sent += piece;
        ASSERT_TRUE(e->write(piece, encoder::then::flush, out));
        const decoded so_far = decode(GetParam(), out);
        EXPECT_EQ(so_far.text, sent);
        EXPECT_FALSE(so_far.whole);
    }
    ASSERT_TRUE(e->write({}, encoder::then::end, out));
    EXPECT_TRUE(decode(GetParam(), out).whole);
}

TEST_P(Encoder, JsonGetsSmall) {
    const std::string body = json(10 * kib);
    EXPECT_LT(encode(GetParam(), body, body.size(), true).size(), body.size() / 3);
}

TEST_P(Encoder, TheSameBytesGiveTheSameCoding) {
    const std::string body = json(100 * kib);
    EXPECT_EQ(encode(GetParam(), body, 32 * kib, true), encode(GetParam(), body, 32 * kib, true));
}

TEST_P(Encoder, ACutBodyIsNotWhole) {
    const std::string coded = encode(GetParam(), json(10 * kib), 10 * kib, true);
    EXPECT_FALSE(decode(GetParam(), std::string_view(coded).substr(0, coded.size() - 1)).whole);
}

INSTANTIATE_TEST_SUITE_P(Codings, Encoder, testing::Values(http::coding::gzip, http::coding::br, http::coding::zstd),
                         [](const auto& info) { return std::string(http::name(info.param)); });

TEST(MakeEncoder, IdentityNeedsNone) {
    EXPECT_EQ(make_encoder(http::coding::identity, 1), nullptr);
}

// RFC 9659 §3: a decoder need not offer more than 8 MiB.
TEST(Zstd, TheWindowStaysSmall) {
    const std::string coded = encode(http::coding::zstd, json(20 * 1024 * kib), 1024 * kib, true);
    ZSTD_DCtx* const c = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(c, ZSTD_d_windowLogMax, 20);
    std::vector<char> room(64 * kib);
    ZSTD_inBuffer in{coded.data(), coded.size(), 0};
    ZSTD_outBuffer into{room.data(), room.size(), 0};
    EXPECT_EQ(ZSTD_isError(ZSTD_decompressStream(c, &into, &in)), 0U);
    ZSTD_freeDCtx(c);
}

}  // namespace
}  // namespace etagere::coding
