#include "etagere/http/field_policy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace etagere::http {
namespace {

constexpr std::uint64_t set_of(auto... ids) noexcept {
    return (std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(ids)));
}

constexpr bool contains(std::uint64_t set, field_id id) noexcept {
    return (set >> static_cast<unsigned>(id) & 1U) != 0;
}

constexpr std::uint64_t hop_by_hop =
    set_of(field_id::connection, field_id::keep_alive, field_id::proxy_connection, field_id::proxy_authenticate,
           field_id::proxy_authentication_info, field_id::proxy_authorization, field_id::te, field_id::trailer,
           field_id::transfer_encoding, field_id::upgrade);
constexpr std::uint64_t codec_owned = hop_by_hop | set_of(field_id::content_length, field_id::host, field_id::expect);

constexpr std::array<std::string_view, 9> withheld{
    "Proxy",                   // becomes HTTP_PROXY in CGI-style origins and redirects their own requests
    "X-HTTP-Method-Override",  // Rack::MethodOverride and others: a GET here is a DELETE there
    "X-HTTP-Method",           //
    "X-Method-Override",       //
    "X-Original-URL",          // some frameworks route by these, not by the target that was keyed
    "X-Rewrite-URL",           //
    "X-Sendfile-Type",         // Rack::Sendfile lets the request choose how, and from where, files are sent
    "X-Accel-Mapping",         //
    "HTTP2-Settings",          // RFC 7540 §3.2.1: the other half of Upgrade: h2c, which is never passed on
};

bool starts_with(std::string_view name, std::string_view prefix) noexcept {
    return name.size() >= prefix.size() && iequals(name.substr(0, prefix.size()), prefix);
}

}  // namespace

bool is_hop_by_hop(field_id id) noexcept {
    return contains(hop_by_hop, id);
}

bool is_codec_owned(field_id id) noexcept {
    return contains(codec_owned, id);
}

bool has_codec_owned(const fields& header) noexcept {
    return header.has_any(codec_owned);
}

bool is_withheld(field_id id, std::string_view name) noexcept {
    if (id != field_id::other || name.empty()) return false;
    const char first = static_cast<char>(name.front() | 0x20);
    if (first != 'x' && first != 'p' && first != 'h') return false;  // most names are none of them: decided here
    return std::ranges::any_of(withheld, [&](std::string_view w) { return iequals(w, name); });
}

bool is_underscore_twin(std::string_view name) noexcept {
    std::array<char, 32> hyphens{};  // longer than any name that matters
    if (name.size() > hyphens.size() || name.find('_') == std::string_view::npos) return false;
    std::ranges::replace_copy(name, hyphens.begin(), '_', '-');
    const std::string_view twin(hyphens.data(), name.size());
    const field_id id = find_field_id(twin);
    return id != field_id::other || is_withheld(id, twin) || starts_with(twin, "X-Forwarded-");
}

bool is_forbidden_trailer(field_id id, std::string_view name) noexcept {
    // Every name the proxy knows decides something about the message; ETag alone is defined for trailers (§8.8.3).
    if (id != field_id::other) return id != field_id::etag;
    constexpr std::array<std::string_view, 8> prefixes{
        "Content-",   "Proxy-",           "X-Forwarded-",    "X-Accel-",
        "X-Sendfile", "WWW-Authenticate", "Access-Control-", "Set-Cookie",
    };
    return is_withheld(id, name) || is_underscore_twin(name) ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) { return starts_with(name, prefix); });
}

}  // namespace etagere::http
