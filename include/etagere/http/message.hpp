// The canonical request and response heads: what every codec fills and everything behind it reads. What goes out is
// serialised from these only; no raw head or framing is ever copied through.
#pragma once

#include "etagere/http/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::http {

enum class method : std::uint8_t { get, head, post, put, delete_, connect, options, trace, patch, other };
method find_method(std::string_view text) noexcept;  // case-sensitive, RFC 9110 §9.1
/// RFC 9110 §9.2.1. Unknown methods are unsafe.
bool is_safe(method m) noexcept;
/// RFC 9110 §9.2.2: may be repeated after a connection died.
bool is_idempotent(method m) noexcept;

enum class version : std::uint8_t { http10, http11, http2 };

/// How long a body is (RFC 9112 §6.3; in HTTP/2 by END_STREAM).
struct framing {
    enum class kind : std::uint8_t { none, length, chunked, until_close };
    kind how = kind::none;
    std::uint64_t length = 0;  // for kind::length

    static framing none() noexcept { return {}; }
    static framing of_length(std::uint64_t n) noexcept { return {kind::length, n}; }
    static framing chunked() noexcept { return {kind::chunked, 0}; }
    static framing until_close() noexcept { return {kind::until_close, 0}; }
    bool has_body() const noexcept { return how == kind::length ? length != 0 : how != kind::none; }
    friend bool operator==(const framing&, const framing&) = default;
};

/// `header` holds neither framing (Content-Length, Transfer-Encoding), nor Host, Expect, hop-by-hop fields (RFC 9110
/// §7.6.1), fields that Connection names (as far as they are none of field_id's), fields of field_policy's withheld
/// list, nor names with an underscore unless the parser was told to keep them: the codec has judged and taken them out,
/// so nobody behind it can trust the wrong one. X-Forwarded-*, Forwarded and Via are still there: who may send them is
/// for the exchange to say.
struct request_head {
    method verb = method::get;
    std::string method_name = "GET";
    std::string target = "/";  // origin-form, bytes as received; "*" for OPTIONS
    std::string scheme = "http";
    std::string host;        // lower case, without port; "" only for HTTP/1.0 without Host
    std::uint16_t port = 0;  // as the client named it, or the scheme's default
    version protocol = version::http11;
    fields header;
    framing body;
    bool keep_alive = true;         // the client will send another request on this connection
    bool expects_continue = false;  // RFC 9110 §10.1.1
    std::string upgrade;            // value of Upgrade where Connection named it and it is not h2c; else ""

    void clear();
    /// host, with ":port" where it is not the scheme's default: for Host and Forwarded. IPv6 literals keep their
    /// brackets.
    std::string authority() const;
    std::string_view path() const noexcept;   // target up to '?'
    std::string_view query() const noexcept;  // after '?', "" without
};

/// As request_head: framing and hop-by-hop fields are taken out of `header` by the codec. Content-Length of a response
/// to HEAD and of a 304 is kept in `declared_length`; of 1xx and 204, which must not have one, it is not.
struct response_head {
    int status = 200;
    std::string reason;  // RFC 9112 §4; "" is fine
    version protocol = version::http11;
    fields header;
    framing body;
    std::int64_t declared_length = -1;  // Content-Length where there was one, also where no body follows; else -1
    bool keep_alive = true;             // the connection may carry another response
    std::string upgrade;                // of a 101

    void clear();
};

std::string_view status_phrase(int status) noexcept;

}  // namespace etagere::http
