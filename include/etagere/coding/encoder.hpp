// Content codings (RFC 9110 §8.4.1) applied: gzip (RFC 1952), br (RFC 7932), zstd (RFC 8878, with the window of RFC
// 9659). Bytes in, coded bytes out; no sockets and no threads. An encoder belongs to one body and one thread.
#pragma once

#include "etagere/http/coding.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace etagere::coding {

class encoder {
public:
    /// What follows the piece: more of the body; more, but what was written so far has to be decodable now; nothing.
    enum class then : std::uint8_t { more, flush, end };

    virtual ~encoder() = default;
    /// Appends the coded bytes that are ready to `out`. False where there was no memory for it: what came out is then
    /// no body, and the encoder is of no more use. Must not be called after `end`. Takes some 10 to 50 ns a byte:
    /// whoever shares a thread passes a body in slices.
    [[nodiscard]] virtual bool write(std::string_view piece, then after, std::string& out) = 0;
};

/// `size`: of the whole body in bytes, where it is known; exactly as many have to be written then. Null for identity,
/// and where there is no memory. The same bytes and size always give the same coded bytes.
std::unique_ptr<encoder> make_encoder(http::coding how, std::optional<std::uint64_t> size);

}  // namespace etagere::coding
