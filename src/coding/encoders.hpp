// The encoders by name. Room-internal.
#pragma once

#include "etagere/coding/encoder.hpp"

#include <algorithm>
#include <bit>

namespace etagere::coding {

std::unique_ptr<encoder> make_gzip_encoder();
std::unique_ptr<encoder> make_brotli_encoder(std::optional<std::uint64_t> size);
std::unique_ptr<encoder> make_zstd_encoder(std::optional<std::uint64_t> size);

/// Base-2 logarithm of the window: as far back as the body reaches, and never more than 1 MiB, so that neither an
/// encoder here nor a decoder at the client needs much memory. A body whose length is unknown gets 256 KiB.
constexpr int window_log(std::optional<std::uint64_t> size, int least) noexcept {
    constexpr int most = 20;
    constexpr int unknown = 18;
    if (!size) return unknown;
    return std::clamp(static_cast<int>(std::bit_width(*size)), least, most);
}

/// Room that `out` gets at a time.
inline constexpr std::size_t step = std::size_t{16} * 1024;

}  // namespace etagere::coding
