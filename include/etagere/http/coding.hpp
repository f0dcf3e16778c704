// Content codings (RFC 9110 §8.4.1) that étagère itself can apply.
#pragma once

#include <cstdint>
#include <string_view>

namespace etagere::http {

enum class coding : std::uint8_t { identity, gzip, br, zstd };

/// As in Content-Encoding and Accept-Encoding. "identity" for identity.
std::string_view name(coding c) noexcept;

}  // namespace etagere::http
