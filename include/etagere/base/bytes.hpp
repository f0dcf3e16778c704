// Digests that name bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace etagere {

/// xxh3-128 in canonical big-endian order: names entity bytes. Not for secrets: whoever can choose bytes can collide
/// it, so a reader compares length and checksum as well.
struct digest128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    friend bool operator==(const digest128&, const digest128&) = default;
};
digest128 xxh3_128(std::string_view bytes) noexcept;
/// 32 lower-case hex digits.
std::string to_hex(const digest128& d);

}  // namespace etagere
