#include "etagere/base/bytes.hpp"

#include <gtest/gtest.h>

namespace etagere {
namespace {

// Values of the reference implementation's own xxhsum -H2.
TEST(Digest, IsXxh3In128Bits) {
    EXPECT_EQ(to_hex(xxh3_128("")), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(to_hex(xxh3_128("a")), "a96faf705af16834e6c632b61e964e1f");
}

TEST(Digest, DiffersForEveryChangedOctet) {
    const std::string text(300, 'x');
    const digest128 whole = xxh3_128(text);
    EXPECT_EQ(whole, xxh3_128(std::string(300, 'x')));
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string other = text;
        other[i] = 'y';
        EXPECT_NE(whole, xxh3_128(other)) << i;
    }
}

TEST(Digest, HexKeepsTheHighHalfFirstAndLeadingZeros) {
    EXPECT_EQ(to_hex({.high = 1, .low = 0xABCDEF}), "00000000000000010000000000abcdef");
}

}  // namespace
}  // namespace etagere
