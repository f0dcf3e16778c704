// Content codings of our own (RFC 9110 §8.4): which answers may get one, which one a client gets, and what that does to
// the fields. The origin is asked for identity; that is what is stored, under the origin's tag. A coded form is derived
// from it and carries the same tag as a weak one: equal content, other bytes (§8.8.1).
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/http/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace etagere::cache {

/// Bodies that are known to be longer (bytes) stay as they are: making and keeping a second form of them costs more
/// than it is worth here.
inline constexpr std::uint64_t largest_coded = std::uint64_t{8} << 20U;

/// RFC 9110 §12.5.3 over all lines of Accept-Encoding: the one of `offered` with the greatest weight, the first of
/// those that weigh the same. identity where the client prefers it, takes none of them, or has no such field. A client
/// that refuses identity as well gets identity (§12.5.3: "or 406"; bytes are worth more). No allocation.
http::coding negotiate_coding(const http::fields& request, std::span<const http::coding> offered) noexcept;

/// Whether the route's answers may be coded by us at all; then the origin is asked for identity.
inline bool codes_answers(const policy& rules) noexcept {
    return !rules.compress.empty() && !rules.stream;
}
/// What the answer itself says: a status with content, a media type that gets smaller, no coding and no range yet, no
/// stream, no `no-transform`; and nothing that marks it as one user's (private, Set-Cookie, Vary on Cookie or
/// Authorization): the length of such content, coded together with what an attacker put in, tells secrets (BREACH).
bool is_codable(int status, const http::fields& header) noexcept;
/// Together with the route's settings and the length, as far as it is known.
bool may_code(const http::response_head& response, const policy& rules) noexcept;
bool may_code(const stored_response& r, const policy& rules) noexcept;

/// The coding that this client gets of an answer that may be coded. identity for HTTP/1.0 (its proxies do not know
/// Vary), for Range and If-Range (offsets are those of the identity bytes), for If-Match (which needs the strong tag),
/// for a client that says no-transform (RFC 9111 §5.2.1.6),
/// and for a request with Cookie unless the answer says that it is everybody's.
http::coding coding_for(const http::request_head& request, const response_directives& answer,
                        const policy& rules) noexcept;

/// Turns the header of the identity form into that of the coded one: Content-Encoding; the tag weak; digests of other
/// bytes gone (Content-MD5, and RFC 9530's both: a coding is part of the representation); no ranges offered.
void describe_coding(http::fields& header, http::coding how);
/// The weak form of a strong tag; anything else byte for byte.
std::string weak_form(std::string_view etag);
/// Adds Accept-Encoding to Vary, on the identity form too (RFC 9110 §12.5.5). Not twice, and not to "*".
void vary_on_accept_encoding(http::fields& header);
/// What no trailer of a coded body may hold.
void drop_digests(http::fields& trailers) noexcept;

/// The origin's 304 to a condition of the client's own that was passed on: a client that holds only the weak form, as
/// our coded answers carry it, is told that one (RFC 9111 §4.3.4 updates by equal tags).
void echo_held_tag(http::fields& not_modified, const http::fields& request);

}  // namespace etagere::cache
