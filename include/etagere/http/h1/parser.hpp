// HTTP/1 heads: bytes in, canonical heads out. Beast's basic_parser reads the syntax of requests; a strict layer of
// ours judges what Beast lets through, and all of a response: framing, Host, target, folding, bare CR and LF (RFC 9112
// §2.2, §3, §5, §6).
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace etagere::http::h1 {

struct head_limits {
    std::size_t header_bytes = std::size_t{32} * 1024;  // request or status line and fields together
    std::size_t fields = 100;
    std::size_t target_bytes = std::size_t{8} * 1024;
    /// Responses: a transfer coding that nobody knows is passed on as it is, up to the close of the connection (RFC
    /// 9112 §6.3 frames it so). False refuses it: what it does to the bytes nobody knows either.
    bool foreign_codings = false;
    bool keep_underscores = false;  // names with '_' are dropped: Rack reads X_A and X-A as one
    friend bool operator==(const head_limits&, const head_limits&) = default;
};

/// Answers the number of bytes the head took, 0 where the head is not complete yet, or the errc that http_status()
/// turns into 400, 414, 417, 431, 501 or 505. After an error the connection must be closed: nothing behind it is
/// executed, and `out` means nothing. Allocates nothing where `out` has held a head of that size before.
/// Up to one empty line before the request line is skipped (RFC 9112 §2.2). `scheme` is that of the listener; an
/// absolute-form target has to have the same, and its authority goes before Host (RFC 9112 §3.2.2).
result<std::size_t> parse_request(std::string_view in, const head_limits& limits, std::string_view scheme,
                                  request_head& out);

/// Reads head after head, of any connections. Clients repeat their fields from request to request: where they are octet
/// for octet those of the head before, only the request line is read. What comes out is what parse_request() says.
class request_parser {
public:
    /// As parse_request().
    result<std::size_t> parse(std::string_view in, const head_limits& limits, std::string_view scheme);
    /// What was read last; as good as empty where that was no complete head.
    const request_head& head() const noexcept { return head_; }
    /// Of what it keeps, in octets.
    std::size_t memory() const noexcept { return head_.header.memory() + fields_.capacity(); }

private:
    std::size_t repeat(std::string_view in, const head_limits& limits, std::string_view scheme);

    request_head head_;
    std::string fields_;  // what stood behind the request line of `head_`; "" where that can mean something else now
    head_limits limits_;  // that they were read under
};

/// `answers` is the method of the request this responds to: it decides whether a body follows (RFC 9112 §6.3).
/// Interim responses (1xx) come out like any other; the caller reads on. Any doubt is errc::upstream_bad_response.
result<std::size_t> parse_response(std::string_view in, const head_limits& limits, method answers, response_head& out);

/// Reads head after head of one origin. Origins repeat most lines from answer to answer: one that stands where it stood
/// in the answer before, octet for octet, is not read again. What comes out is what parse_response() says.
class response_parser {
public:
    /// As parse_response().
    result<std::size_t> parse(std::string_view in, const head_limits& limits, method answers, response_head& out);

private:
    fields known_;  // as they were read: `Name: value`, good under any limits
};

}  // namespace etagere::http::h1
