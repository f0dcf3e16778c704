// Cache-Control as data (RFC 9111 §5.2). Parsed once when a message arrives, never on a hit.
#pragma once

#include "etagere/http/fields.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace etagere::cache {

inline constexpr std::int64_t absent = -1;

/// Durations are seconds, `absent` where not given. Duplicates and nonsense resolve to the more cautious reading:
/// an argument that is no delta-seconds counts as 0 (RFC 9111 §4.2.1: "encouraged to consider … stale").
struct response_directives {
    std::int64_t max_age = absent;
    std::int64_t s_maxage = absent;
    std::int64_t stale_while_revalidate = absent;
    std::int64_t stale_if_error = absent;
    bool no_store = false;
    bool no_cache = false;  // also every qualified form that cannot be honoured field by field
    bool private_ = false;  // likewise
    bool public_ = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    bool no_transform = false;
    bool immutable = false;
    bool seen = false;  // there was such a field
};
/// Of the field called `control`: "" for Cache-Control, which is read leniently; any other is a targeted field, whose
/// value is a strict dictionary (RFC 9213 §2.1).
response_directives parse_response_directives(const http::fields& header, std::string_view control = {});

/// The field that says how to cache: the first of `targeted` that is there, is a dictionary and has a member; "" where
/// that is Cache-Control. What stands below it counts for nothing, nor does Expires (RFC 9213 §2.2).
std::string_view governing_field(const http::fields& header, std::span<const std::string> targeted);

struct request_directives {
    std::int64_t max_age = absent;
    std::int64_t min_fresh = absent;
    std::int64_t max_stale = absent;  // INT64_MAX for the form without argument
    bool no_store = false;
    bool no_cache = false;  // also Pragma: no-cache without Cache-Control (RFC 9111 §5.4)
    bool only_if_cached = false;
    bool no_transform = false;
};
request_directives parse_request_directives(const http::fields& header);

}  // namespace etagere::cache
