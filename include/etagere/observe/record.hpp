// One record an exchange: the access log line, the metrics and Cache-Status all come from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "etagere/base/reason.hpp"
#include "etagere/base/time.hpp"

namespace etagere::observe {

/// Views are valid only while the record is being observed.
struct record {
    wall_time at{};
    std::string_view request_id, listener, route, client_ip, method, scheme, host, path, query, protocol;
    std::string_view etag_in, etag_out, user_agent, upstream, endpoint, store, error;
    std::uint32_t route_index = 0;       // dense; metrics are arrays
    int status = 0;
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint64_t duration_us = 0, ttfb_us = 0, store_us = 0, upstream_us = 0, queue_us = 0;
    reason why = reason::none;
    std::int64_t age_s = -1, ttl_s = 0;  // age −1: not from the store
    bool has_ttl = false;
    bool not_modified = false;           // the client got a 304
    bool collapsed = false;
    bool stored = false;                 // the origin's answer was kept
    int upstream_status = 0;             // 0: the origin was not asked (or did not answer)
    std::uint32_t retries = 0;
};

/// Cache-Status value (RFC 9211) of a record: "etagere; hit; ttl=42; detail=hit_fresh", appended to `out`. No allocation
/// beyond `out`'s growth.
void append_cache_status(std::string& out, const record& r);

}  // namespace etagere::observe
