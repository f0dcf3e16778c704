// Field names the proxy itself looks at. Anything else is `other` and found by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace etagere::http {

// Below 64, so that a field map can answer "is there one?" from one word.
// clang-format off
enum class field_id : std::uint8_t {
    other,
    accept, accept_encoding, accept_language, accept_ranges, age, allow, alt_svc, authorization,
    cache_control, cdn_cache_control, cache_status, connection, content_encoding, content_length, content_location,
    content_range, content_type, cookie, date, etag, expect, expires, forwarded, host, if_match, if_modified_since,
    if_none_match, if_range, if_unmodified_since, keep_alive, last_modified, link, location, max_forwards, origin, pragma,
    proxy_authenticate, proxy_authentication_info, proxy_authorization, proxy_connection, range, retry_after, server,
    set_cookie, te, trailer, transfer_encoding, upgrade, user_agent, vary, via, warning, x_forwarded_for,
    x_forwarded_host, x_forwarded_port, x_forwarded_prefix, x_forwarded_proto, x_request_id, x_real_ip, sec_websocket_key,
    count_
};
// clang-format on
static_assert(static_cast<int>(field_id::count_) <= 64);

/// Case-insensitive. O(1), no allocation.
field_id find_field_id(std::string_view name) noexcept;
/// "Content-Length"; "" for `other`.
std::string_view canonical_name(field_id id) noexcept;

}  // namespace etagere::http
