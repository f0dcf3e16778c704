// HTTP/1 message bodies without a socket: which of the bytes read are content (RFC 9112 §6, §7).
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::http::h1 {

struct body_limits {
    std::size_t chunk_line_bytes = std::size_t{4} * 1024;  // size, extensions and CRLF of one chunk
    std::size_t trailer_bytes = std::size_t{8} * 1024;
    std::size_t trailer_fields = 64;
};

/// The result does not depend on how the input was cut. Constant memory; no recursion.
class body_decoder {
public:
    /// Starts a new body. A body of no bytes is done at once.
    void start(framing how, const body_limits& limits = {});

    struct step {
        std::size_t consumed = 0;  // bytes of `in` that are dealt with, content included
        std::string_view content;  // a view into `in`; may be empty while consumed > 0 (chunk lines)
    };
    /// Takes bytes until one piece of content was found, `in` is used up, or the body is done. Call again with the
    /// rest. Fails with errc::bad_framing; the connection must then be closed.
    result<step> decode(std::string_view in);
    /// The peer closed its side. Right for until_close; for anything unfinished errc::bad_framing (truncated).
    result<void> end_of_input();

    bool done() const noexcept;
    /// Bytes of content still certain to come (length framing), or 0.
    std::uint64_t remaining() const noexcept;
    /// Trailer fields of a chunked body (RFC 9110 §6.5): framing, routing, authentication and hop-by-hop names are
    /// dropped, never merged into the header.
    const fields& trailers() const noexcept;

private:
    enum class state : std::uint8_t {
        length,
        until_close,
        chunk_line,
        chunk_data,
        chunk_end,  // the CRLF behind the data
        trailer,
        done,
        failed,
    };
    std::unexpected<error_code> refuse();
    std::string_view take_content(std::string_view in);
    result<std::size_t> take_line(std::string_view in, std::size_t limit);
    bool accept_line(std::string_view line);
    bool accept_trailer(std::string_view line);

    state state_ = state::done;
    std::uint64_t left_ = 0;
    std::string line_;  // the unfinished chunk line or trailer line
    std::size_t trailer_bytes_ = 0;
    std::size_t trailer_count_ = 0;
    body_limits limits_;
    fields trailers_;
};

}  // namespace etagere::http::h1
