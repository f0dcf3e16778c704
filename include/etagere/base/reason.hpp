// The closed list of reasons. One name appears in Cache-Status (RFC 9211), the access log, the metrics, `explain` and
// the tests; nothing else may say why a request went the way it went.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace etagere {

enum class reason : std::uint8_t {
    none,
    // answered from the store without asking the origin
    hit_fresh,
    hit_not_modified,         // fresh, and the client's own validator matched: 304
    hit_precondition_failed,  // fresh, If-Match / If-Unmodified-Since failed: 412
    hit_stale_revalidating,   // RFC 5861 §3
    hit_stale_error,          // RFC 5861 §4
    // the origin was asked whether the stored response is still good
    revalidated,
    revalidated_changed,
    // nothing usable was stored, and the answer was kept
    miss_cold,
    miss_vary,
    miss_partial,  // RFC 9111 §3.4: a part is stored, and the request wants more
    miss_evicted_body,
    miss_purged,  // stored, and purged since
    // another request's fetch answered this one
    collapsed_local,
    // the request went past the cache
    pass_method,
    pass_upgrade,
    pass_stream,
    pass_route_off,
    pass_store_down,
    pass_client_directive,
    pass_range,
    pass_request_body,
    // the answer was not kept
    nostore_private,
    nostore_no_store,
    nostore_authorization,
    nostore_set_cookie,
    nostore_cookie,
    nostore_vary_star,
    nostore_no_lifetime_no_validator,
    nostore_status,
    nostore_too_large,
    nostore_incomplete,
    nostore_policy,
    nostore_sendfile,
    nostore_hit_for_miss,  // remembered: the last answers for this key were not kept, so it is not collapsed
    invalidated,           // an unsafe method succeeded (RFC 9111 §4.4)
    only_if_cached,        // RFC 9111 §5.2.1.7: 504
    refused,               // our own 4xx
    failed,                // our own 5xx: the origin did not answer
    count_                 // number of reasons; not a reason
};

/// What an operator is told about a reason. All views are static.
struct reason_info {
    std::string_view name;         // "hit_fresh"
    std::string_view cache_class;  // hit | stale | revalidated | miss | pass | refused: `cache` of log and metrics
    std::string_view rack_cache;   // Rack::Cache's words: "fresh"; "" where it has none, or the answer decides them
    std::string_view section;      // "RFC 9111 §4.2"
    std::string_view remedy;       // what to write in the routes file, or at the origin; "" where nothing is wrong
};
const reason_info& info(reason r) noexcept;
inline std::string_view name(reason r) noexcept {
    return info(r).name;
}

}  // namespace etagere
