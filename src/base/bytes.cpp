#include "etagere/base/bytes.hpp"

#include <cstddef>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace etagere {

digest128 xxh3_128(std::string_view bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {.high = hash.high64, .low = hash.low64};
}

std::string to_hex(const digest128& d) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out(32, '0');
    for (std::size_t i = 0; i < 16; ++i) {
        const unsigned shift = 60U - 4U * static_cast<unsigned>(i);
        out[i] = digits[(d.high >> shift) & 0xFU];
        out[16 + i] = digits[(d.low >> shift) & 0xFU];
    }
    return out;
}

}  // namespace etagere
