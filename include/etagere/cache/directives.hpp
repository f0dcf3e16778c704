// Cache-Control as data (RFC 9111 §5.2). Parsed once when a message arrives, never on a hit.
#pragma once

#include "etagere/http/fields.hpp"

#include <cstdint>

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
    bool seen = false;  // there was a Cache-Control field
};
response_directives parse_response_directives(const http::fields& header);

struct request_directives {
    std::int64_t max_age = absent;
    std::int64_t min_fresh = absent;
    std::int64_t max_stale = absent;  // INT64_MAX for the form without argument
    bool no_store = false;
    bool no_cache = false;  // also Pragma: no-cache without Cache-Control (RFC 9111 §5.4)
    bool only_if_cached = false;
};
request_directives parse_request_directives(const http::fields& header);

}  // namespace etagere::cache
