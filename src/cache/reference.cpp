#include "reference.hpp"

#include "etagere/http/fields.hpp"

#include <charconv>
#include <cstdint>

namespace etagere::cache {
namespace {

std::uint16_t default_port(std::string_view scheme) noexcept {
    if (http::iequals(scheme, "http")) return 80;
    return http::iequals(scheme, "https") ? 443 : 0;
}

// host [":" port], RFC 3986 §3.2. User information names no origin that a request of ours could have.
bool is_authority_of(std::string_view authority, std::string_view scheme, const http::request_head& request) noexcept {
    if (authority.contains('@')) return false;
    std::string_view host = authority;
    std::uint16_t port = default_port(scheme);
    const auto colon = authority.rfind(':');
    if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
        host = authority.substr(0, colon);
        const std::string_view digits = authority.substr(colon + 1);
        if (!digits.empty()) {
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
            if (error != std::errc{} || end != digits.data() + digits.size()) return false;
        }
    }
    return http::iequals(scheme, request.scheme) && http::iequals(host, request.host) && port == request.port;
}

// Cuts "scheme:" off; "" where the reference is relative (RFC 3986 §4.2).
std::string_view take_scheme(std::string_view& reference) noexcept {
    const auto colon = reference.find_first_of(":/?");
    if (colon == std::string_view::npos || reference[colon] != ':') return {};
    const std::string_view scheme = reference.substr(0, colon);
    reference.remove_prefix(colon + 1);
    return scheme;
}

// RFC 3986 §5.2.4, for absolute paths.
std::string remove_dot_segments(std::string_view path) {
    std::string out;
    while (!path.empty()) {
        const auto end = path.find('/', 1);
        const std::string_view segment = path.substr(0, end);
        const bool last = end == std::string_view::npos;
        path.remove_prefix(last ? path.size() : end);
        if (segment == "/." || segment == "/..") {
            if (segment == "/..") out.resize(out.empty() ? 0 : out.rfind('/'));
            if (last) out += '/';
        } else {
            out += segment;
        }
    }
    return out.empty() ? "/" : out;
}

}  // namespace

std::optional<std::string> resolve_same_origin(std::string_view reference, const http::request_head& request) {
    reference = reference.substr(0, reference.find('#'));
    const std::string_view scheme = take_scheme(reference);
    if (reference.starts_with("//")) {
        reference.remove_prefix(2);
        const std::string_view authority = reference.substr(0, reference.find_first_of("/?"));
        reference.remove_prefix(authority.size());
        if (!is_authority_of(authority, scheme.empty() ? request.scheme : scheme, request)) return std::nullopt;
        if (reference.empty() || reference.front() == '?') return "/" + std::string(reference);
    } else if (!scheme.empty()) {
        return std::nullopt;  // "mailto:…", or "http:x", which RFC 3986 §5.2.2 takes for nothing relative
    }
    const auto question = reference.find('?');
    const std::string_view path = reference.substr(0, question);
    const std::string_view query = question == std::string_view::npos ? std::string_view{} : reference.substr(question);

    if (path.empty()) return query.empty() ? request.target : std::string(request.path()).append(query);
    if (path.front() == '/') return remove_dot_segments(path).append(query);
    const std::string_view base = request.path();
    const std::string_view folder = base.substr(0, base.rfind('/') + 1);
    return remove_dot_segments(std::string(folder).append(path)).append(query);
}

}  // namespace etagere::cache
