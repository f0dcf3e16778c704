// Authorities: host and optional port, as in Host, an absolute-form target or :authority (RFC 9110 §4.2, §7.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace etagere::http {

struct authority {
    std::string_view host;              // as received; IPv6 literals with their brackets; never empty
    std::optional<std::uint16_t> port;  // nullopt: not named
};

/// Host names, IPv4 addresses and IPv6 literals, at most 255 octets of host. Stricter than RFC 3986 on purpose: no user
/// information, no percent-encoding, no sub-delims, no empty label, no IPvFuture, no zone. What two parsers could read
/// differently would make a cache key and an origin's idea of its own name disagree.
std::optional<authority> parse_authority(std::string_view text) noexcept;

/// 80, or 443 for https and wss.
std::uint16_t default_port(std::string_view scheme) noexcept;

}  // namespace etagere::http
