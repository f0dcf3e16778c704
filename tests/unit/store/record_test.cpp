#include "etagere/store/record.hpp"

#include "etagere/crypto/digest.hpp"

#include "make.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::store::record {
namespace {

using testing::expect_equal;
using testing::random_response;

seal checksum() {
    return {};
}
seal signature(std::string key = "secret") {
    return {.key = std::move(key), .sign = crypto::hmac_sha256};
}

std::vector<variant> random_variants(std::mt19937& random) {
    std::vector<variant> out(random() % 5);
    for (variant& v : out) {
        v.response = random_response(random);
        v.entity = entity_name(lay_out(crypto::sha256(std::to_string(random())), v.response.body_size, 900 * 1024));
        v.keep_until = v.response.response_time + seconds(random());
    }
    return out;
}

variant small_variant() {
    variant v;
    v.response.selecting = {{"accept", "text/html"}, {"accept-language", std::nullopt}};
    EXPECT_TRUE(v.response.header.add("ETag", "W/\"1\""));
    v.response.body_size = 5;
    v.response.index();
    v.entity = entity_name(lay_out(crypto::sha256("hello"), 5, 900));
    v.keep_until = testing::at(seconds(60)).wall;
    return v;
}

error_code meta_error(std::string_view bytes, std::string_view key, const seal& how) {
    const auto r = decode_meta(bytes, key, how);
    return r ? error_code{} : r.error();
}

class Record : public ::testing::TestWithParam<bool> {
protected:
    seal how_ = GetParam() ? signature() : checksum();
};
INSTANTIATE_TEST_SUITE_P(Sealed, Record, ::testing::Bool(),
                         [](const auto& i) { return i.param ? "BySignature" : "ByChecksum"; });

// Property: whatever was encoded comes back, field for field.
TEST_P(Record, MetaRoundTrip) {
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const std::vector<variant> in = random_variants(random);
        const std::string key = "key " + std::to_string(seed) + std::string(seed % 40, '\0');
        const auto out = decode_meta(encode_meta(key, in, how_), key, how_);
        ASSERT_TRUE(out);
        ASSERT_EQ(out->size(), in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            expect_equal((*out)[i].response, in[i].response);
            EXPECT_EQ((*out)[i].entity, in[i].entity);
            EXPECT_EQ((*out)[i].keep_until, in[i].keep_until);
        }
    }
}

// security-catalogue S243.
TEST_P(Record, EveryFlippedBitOfAMetaRecordIsRefused) {
    const std::string good = encode_meta("key", std::vector{small_variant()}, how_);
    ASSERT_TRUE(decode_meta(good, "key", how_));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(decode_meta(bad, "key", how_)) << bit;
    }
}

TEST_P(Record, EveryFlippedBitOfAPieceIsRefused) {
    const std::string body = "the bytes of a body";
    const entity_layout layout = lay_out(crypto::sha256(body), body.size(), 8);
    const std::string good = encode_piece(layout, 1, std::string_view(body).substr(8, 8), how_);
    ASSERT_EQ(decode_piece(good, layout, 1, how_), body.substr(8, 8));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        std::string bad = good;
        bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_FALSE(decode_piece(bad, layout, 1, how_)) << bit;
    }
}

TEST_P(Record, EveryTruncationAndAnyExtensionIsRefused) {
    const std::string good = encode_meta("key", std::vector{small_variant()}, how_);
    for (std::size_t n = 0; n < good.size(); ++n) {
        EXPECT_EQ(meta_error(good.substr(0, n), "key", how_), errc::store_corrupt) << n;
    }
    EXPECT_EQ(meta_error(good + '\0', "key", how_), errc::store_corrupt);
    EXPECT_EQ(meta_error(good + good, "key", how_), errc::store_corrupt);
}

// security-catalogue S244, S247.
TEST_P(Record, OfAnotherKeyIsRefused) {
    const std::string record = encode_meta("key of tenant A", {}, how_);
    EXPECT_EQ(meta_error(record, "key of tenant B", how_), errc::store_corrupt);
    EXPECT_EQ(meta_error(record, "key of tenant ", how_), errc::store_corrupt);
    EXPECT_EQ(meta_error(record, "", how_), errc::store_corrupt);
}

// security-catalogue S246: another version is no damage; nobody deletes or counts it as such.
TEST_P(Record, OfAnotherVersionIsAMiss) {
    std::string record = encode_meta("key", {}, how_);
    record[4] = static_cast<char>(format_version + 1);
    EXPECT_EQ(meta_error(record, "key", how_), errc::store_miss);
    record[4] = static_cast<char>(format_version - 1);
    EXPECT_EQ(meta_error(record, "key", how_), errc::store_miss);
}

TEST_P(Record, PieceOfAnotherPlaceIsRefused) {
    const std::string body(100, 'b');
    const entity_layout layout = lay_out(crypto::sha256(body), body.size(), 30);
    const std::string piece = encode_piece(layout, 1, std::string_view(body).substr(30, 30), how_);
    EXPECT_TRUE(decode_piece(piece, layout, 1, how_));
    EXPECT_FALSE(decode_piece(piece, layout, 2, how_)) << "same length, other index";
    entity_layout other = layout;
    other.sha256[0] ^= 1U;
    EXPECT_FALSE(decode_piece(piece, other, 1, how_)) << "other entity";
    EXPECT_FALSE(decode_piece(piece, lay_out(layout.sha256, 130, 30), 1, how_)) << "other size";
    EXPECT_FALSE(decode_piece(encode_piece(layout, 1, "short", how_), layout, 1, how_)) << "other length";
    EXPECT_FALSE(decode_meta(piece, "", how_)) << "other kind";
}

TEST(RecordSeal, UnsignedOrForeignRecordsAreRefusedWhereAKeyIsConfigured) {
    const std::string plain = encode_meta("key", {}, checksum());
    const std::string signed_record = encode_meta("key", {}, signature());
    EXPECT_EQ(meta_error(plain, "key", signature()), errc::store_corrupt);
    EXPECT_EQ(meta_error(signed_record, "key", checksum()), errc::store_corrupt);
    EXPECT_EQ(meta_error(signed_record, "key", signature("another secret")), errc::store_corrupt);
}

// The bytes are a contract between processes of different builds: a change of layout needs a new version.
TEST(RecordFormat, IsPinned) {
    EXPECT_EQ(crypto::sha256_hex(encode_meta("key", std::vector{small_variant()}, checksum())),
              "3a3d2530b17972e6b2fd7949a92bb76092e819127b6b708e0fb355f6a8e0d7f1");
    const entity_layout layout = lay_out(crypto::sha256("hello"), 5, 900);
    EXPECT_EQ(crypto::sha256_hex(encode_piece(layout, 0, "hello", checksum())),
              "188bc4732c6e93c73ee242bb92648878b0c9fd12646deb3d9f79abc206c58287");
}

// S216: a part that a record takes for the whole would be served as one.
TEST(RecordFormat, PartsThatContradictThemselvesAreRefused) {
    variant good = small_variant();
    good.response.status = 206;
    good.response.rest.edit().parts = {{2, 4}, {7, 8}};
    good.response.rest.edit().complete_length = 10;
    const auto error = [](const variant& v) {
        return meta_error(encode_meta("key", std::vector{v}, checksum()), "key", checksum());
    };
    EXPECT_FALSE(error(good));
    const auto broken = [&](auto change) {
        variant v = good;
        change(v.response);
        return error(v) == errc::store_corrupt;
    };
    using response = cache::stored_response;
    EXPECT_TRUE(broken([](response& r) { r.status = 200; }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().parts.clear(); }));
    EXPECT_TRUE(broken([](response& r) { r.body_size = 6; }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().complete_length = 8; }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().complete_length = ~std::uint64_t{0}; }));
    EXPECT_TRUE(broken([](response& r) { std::swap(r.rest.edit().parts[0], r.rest.edit().parts[1]); }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().parts[1] = {5, 6}; }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().parts[1] = {4, 5}; }));
    EXPECT_TRUE(broken([](response& r) { r.rest.edit().parts[0] = {4, 2}; }));
    EXPECT_TRUE(broken([](response& r) {
        r.rest.edit().parts = {{0, 4}};
        r.rest.edit().complete_length = 5;  // all of it is no part
    }));
}

// A record with a good checksum is no reason to believe what it says about counts and lengths.
TEST(RecordFormat, LyingCountsNeitherCrashNorAllocate) {
    const std::string good = encode_meta("key", std::vector{small_variant()}, checksum());
    // Overwrites each position of the content with 0xFF and seals it again by going through a signature that is
    // constant.
    const seal constant{.key = "k", .sign = [](std::string_view, std::string_view) { return digest{}; }};
    const std::string sealed = encode_meta("key", std::vector{small_variant()}, constant);
    for (std::size_t at = 12; at + 4 <= sealed.size() - 32; ++at) {
        std::string bad = sealed;
        bad.replace(at, 4, "\xff\xff\xff\xff");
        const auto r = decode_meta(bad, "key", constant);
        if (r) EXPECT_LE(r->size(), 1U);
    }
    EXPECT_TRUE(decode_meta(sealed, "key", constant));
}

TEST(EntityLayout, CoversEveryByteOnce) {
    for (const std::uint64_t size : {0U, 1U, 9U, 10U, 11U, 19U, 20U, 21U, 1000U}) {
        const entity_layout layout = lay_out(crypto::sha256("x"), size, 10);
        std::uint64_t covered = 0;
        for (std::uint32_t i = 0; i < layout.count; ++i) {
            EXPECT_EQ(layout.offset(i), covered);
            covered += layout.length(i);
            EXPECT_LE(layout.length(i), 10U);
        }
        EXPECT_EQ(covered, size);
        const auto parsed = parse_entity_name(entity_name(layout), size);
        ASSERT_TRUE(parsed);
        EXPECT_EQ(parsed->sha256, layout.sha256);
        EXPECT_EQ(parsed->count, layout.count);
        EXPECT_EQ(parsed->piece, layout.piece);
    }
}

TEST(EntityName, OnlyOneSpellingIsTaken) {
    const std::string hex = crypto::sha256_hex("x");
    EXPECT_TRUE(parse_entity_name(hex, 100));
    EXPECT_TRUE(parse_entity_name(hex + ".10", 100));
    for (const std::string& bad :
         {std::string(), hex.substr(1), hex + "0", hex + ".", hex + ".0", hex + ".010", hex + ".10x", hex + ".100",
          hex + ".-1", hex + ".18446744073709551616", "G" + hex.substr(1), hex + "\r\nset x", std::string(64, 'A')}) {
        EXPECT_FALSE(parse_entity_name(bad, 100)) << bad;
    }
    EXPECT_FALSE(parse_entity_name(hex + ".1", std::uint64_t{1} << 40U)) << "more pieces than a count holds";
}

TEST(PieceKey, NamesTheIndexOfSeveral) {
    const std::string hex = crypto::sha256_hex("x");
    EXPECT_EQ(piece_key(lay_out(crypto::sha256("x"), 10, 10), 0), hex);
    EXPECT_EQ(piece_key(lay_out(crypto::sha256("x"), 11, 10), 1), hex + ".10:1");
}

}  // namespace
}  // namespace etagere::store::record
