// Expected failures are values: every function on the data path that can fail answers result<T>; nothing there throws.
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>

#include <boost/system/error_code.hpp>

namespace etagere {

using error_code = boost::system::error_code;

template <class T> using result = std::expected<T, error_code>;

/// Whose fault a failure is; decides between a 4xx, a 5xx and a counter.
enum class side : std::uint8_t { client, upstream, store, self };

/// Everything that can go wrong on purpose. The names are the `error` values of the access log: stable.
enum class errc : int {  // NOLINT(performance-enum-size): error_code's value type is int
    // the client's message (RFC 9112, RFC 9110); http_status() gives the answer
    bad_request = 1,          // 400, malformed in any way not named below
    bad_framing,              // 400, Content-Length / Transfer-Encoding / chunk syntax, RFC 9112 §6, §7
    bad_host,                 // 400, RFC 9112 §3.2
    request_timeout,          // 408
    content_too_large,        // 413
    uri_too_long,             // 414
    expectation_failed,       // 417
    header_fields_too_large,  // 431
    method_not_implemented,   // 501 (CONNECT and what no origin can be sent)
    version_not_supported,    // 505
    client_closed,            // no answer: the client went away
    client_too_slow,          // no answer: minimum body rate or write deadline
    // the origin
    no_endpoint,                  // 502, no address to connect to
    connect_failed,               // 502, refused or unreachable; nothing was sent
    connect_timeout,              // 504; nothing was sent
    queue_full,                   // 503; nothing was sent
    queue_timeout,                // 503; nothing was sent
    upstream_closed_idle,         // 502, a kept connection was closed before one byte of the answer
    upstream_closed,              // 502, closed inside the answer's head, or before it on a new connection
    upstream_truncated,           // body ended early: visible truncation
    upstream_bad_response,        // 502, RFC 9112 §6.3 and everything unparsable
    upstream_head_too_large,      // 502
    upstream_first_byte_timeout,  // 504
    upstream_idle_timeout,        // 504 before the head, truncation after
    upstream_total_timeout,       // 504 before the head, truncation after
    // the store
    store_miss,
    store_timeout,
    store_unavailable,
    store_corrupt,
    store_too_large,
    // us
    shutting_down,  // 503
    internal,       // 500
};

const boost::system::error_category& etagere_category() noexcept;
error_code make_error_code(errc e) noexcept;
inline std::unexpected<error_code> fail(errc e) noexcept {
    return std::unexpected(make_error_code(e));
}

/// The stable lower-case name ("bad_framing"); for codes of other categories, "io".
std::string_view error_name(const error_code& ec) noexcept;
side error_side(const error_code& ec) noexcept;
/// The status to answer with; 0 where no answer is possible (the client is gone).
int http_status(const error_code& ec) noexcept;
/// True where not one byte of the request reached an origin, so any method may be tried again.
bool nothing_was_sent(const error_code& ec) noexcept;

}  // namespace etagere

template <> struct boost::system::is_error_code_enum<etagere::errc> : std::true_type {};
