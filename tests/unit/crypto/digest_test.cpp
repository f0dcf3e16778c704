#include "etagere/crypto/digest.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::crypto {
namespace {

std::string hex(const std::array<unsigned char, 32>& bytes) {
    std::string out;
    for (const unsigned char b : bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        out += digits[b >> 4U];
        out += digits[b & 0xFU];
    }
    return out;
}

// FIPS 180-4, examples published by NIST.
TEST(Sha256, KnownVectors) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(hex(sha256("abc")), sha256_hex("abc"));
}

TEST(Sha256, ZeroOctetsCount) {
    EXPECT_NE(sha256_hex(std::string(1, '\0')), sha256_hex(""));
}

// RFC 4231 §4.2, §4.3, §4.7 (a key longer than the block).
TEST(HmacSha256, KnownVectors) {
    EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha256, EmptyKeyIsAKey) {
    const auto other = hmac_sha256("other", "bytes");
    EXPECT_EQ(hex(hmac_sha256("", "")), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
    EXPECT_NE(hmac_sha256({}, "bytes"), other);
}

// RFC 1321 §A.5.
TEST(Md5, KnownVectors) {
    EXPECT_EQ(md5_hex(""), "d41d8cd98f00b204e9800998ecf8427e");
    EXPECT_EQ(md5_hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(ConstantTimeEqual, ComparesLengthAndBytes) {
    EXPECT_TRUE(constant_time_equal("", ""));
    EXPECT_TRUE(constant_time_equal("secret", "secret"));
    EXPECT_FALSE(constant_time_equal("secret", "secreT"));
    EXPECT_FALSE(constant_time_equal("secret", "secre"));
    EXPECT_FALSE(constant_time_equal("secret", ""));
}

}  // namespace
}  // namespace etagere::crypto
