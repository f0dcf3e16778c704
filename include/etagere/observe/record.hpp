// One record an exchange: the access log line, the metrics and Cache-Status all come from it.
#pragma once

#include "etagere/base/reason.hpp"
#include "etagere/base/time.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/http/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::observe {

/// What a request found when it asked the store.
enum class looked_up : std::uint8_t {
    no,       // it went past the store
    nothing,  // nothing that it selects
    stored,   // a response, fresh or not
    reload,   // it does not matter what: the client said no-cache, and the route honours that
};

/// Filled once, by the exchange, when the last byte of the answer is out. Views are valid only while the record is
/// being observed. Text may be anything a client sent: whoever writes it somewhere escapes it. Durations are
/// microseconds.
struct record {
    wall_time at;
    std::string_view request_id, listener, route, client_ip, method, scheme, host, path, query;
    std::string_view protocol;  // "HTTP/1.1"
    std::string_view etag_in, etag_out, user_agent, referer, store, error;
    std::string_view upstream, endpoint;      // "" where this exchange made no call of its own
    std::uint32_t route_index = 0;            // what metrics::route(name) gave; 0: no route was found
    std::uint32_t listener_index = 0;         // what metrics::listener(name) gave
    http::method verb = http::method::other;  // that of `method`
    int status = 0;                           // 0: nothing was answered
    std::uint64_t bytes_in = 0, bytes_out = 0;
    std::uint64_t entity_bytes = 0;  // content length of the stored response that was used; 0: none was
    std::uint64_t duration_us = 0, ttfb_us = 0, store_us = 0;
    std::uint64_t upstream_us = 0, queue_us = 0;       // of the upstream call: all of it, waiting for a connection
    std::uint64_t connect_us = 0;                      // 0: a kept connection
    std::uint64_t upstream_ttfb_us = 0;                // from sending to the answer's head
    http::coding coding = http::coding::identity;      // of ours, that the client's body came in
    std::uint64_t uncoded_bytes = 0, coded_bytes = 0;  // of that body, before and after
    std::uint64_t encoded_bytes = 0;                   // fed to an encoder for this exchange
    reason why = reason::none;
    std::int64_t age_s = -1, ttl_s = 0;  // age −1: not from the store
    bool has_ttl = false;
    bool not_modified = false;  // the client got a 304
    bool collapsed = false;
    bool stored = false;     // the origin's answer was kept
    bool freshened = false;  // the origin's 304 made the stored response good again, and that was kept
    bool ignored = false;    // what was kept lacks the Set-Cookie of the answer
    looked_up found = looked_up::no;
    int upstream_status = 0;  // 0: the origin was not asked (or did not answer)
    std::uint32_t retries = 0;
};

/// Cache-Status value (RFC 9211) of a record: "etagere; hit; ttl=42; detail=hit_fresh", appended to `out`. No
/// allocation beyond `out`'s growth.
void append_cache_status(std::string& out, const record& r);
/// What Rack::Cache says of such a request: "stale, valid, store". Where it has no words, the name of our reason. No
/// allocation beyond `out`'s growth.
void append_rack_cache_words(std::string& out, const record& r);

}  // namespace etagere::observe
