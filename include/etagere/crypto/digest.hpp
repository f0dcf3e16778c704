// Digests that need a cryptographic library, for keys, entity names, record signatures and ETags (OpenSSL behind it).
// Thread-safe; no state. Nothing here is used on the way of a memory hit.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace etagere::crypto {

std::array<unsigned char, 32> sha256(std::string_view bytes);
std::array<unsigned char, 32> hmac_sha256(std::string_view key, std::string_view bytes);
/// Lower-case hex.
std::string sha256_hex(std::string_view bytes);
std::string md5_hex(std::string_view bytes);  // for ETags like Rack's only
/// Equal in time that does not depend on where they differ.
bool constant_time_equal(std::string_view a, std::string_view b) noexcept;

}  // namespace etagere::crypto
