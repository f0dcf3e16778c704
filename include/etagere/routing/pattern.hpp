// Path and host patterns of routes.
//
// A path pattern is matched against the path as it was received and as it will be forwarded: bytes, case-sensitive, no
// percent-decoding, `..` and `//` not resolved. So the route that was chosen, the cache key and what the origin sees
// can never mean different resources; whoever guards a path by a route has to guard the origin's spellings of it too.
//
//   /api/home          that path only
//   /api/products/*    `*` is one whole, non-empty segment
//   /users/{id}        the same; the name is for the reader
//   /api/**            /api, /api/ and everything below; `**` only at the end
//
// Host patterns: `api.example.com`, or `*.example.com` for any name below it (not example.com itself). ASCII
// case-insensitive, without port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::routing {

struct segment {
    enum class kind : std::uint8_t { literal, one, rest };
    kind is = kind::literal;
    std::string text;  // literal
    friend bool operator==(const segment&, const segment&) = default;
};

struct pattern {
    std::vector<segment> segments;

    /// How many segments come before the first wildcard: the longer prefix wins.
    std::size_t literal_prefix() const noexcept;
    /// No wildcard at all: wins over every pattern that has one.
    bool exact() const noexcept { return literal_prefix() == segments.size(); }
};

inline constexpr std::size_t max_segments = 64;

/// The error is a sentence for the operator, without the text itself.
std::expected<pattern, std::string> parse_pattern(std::string_view text);
std::expected<void, std::string> check_host_pattern(std::string_view text);

/// A path that both patterns match, or nullopt.
std::optional<std::string> common_path(const pattern& a, const pattern& b);

}  // namespace etagere::routing
