#include "stored_fields.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace etagere::cache {
namespace {

constexpr std::array<std::string_view, 33> never_stored{
    // of one connection: RFC 9111 §3.1, RFC 9110 §7.6.1. The codec took these out already; a record never depends on
    // it.
    "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length",
    "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Authentication-Info",
    // of one answer: its age (kept as a number), its way through other caches, its cost and its names in traces and
    // logs
    "Age", "Cache-Status", "X-Cache", "X-Cache-Hits", "X-Rack-Cache", "X-Served-By", "X-Timer", "Server-Timing",
    "X-Runtime", "X-Request-Id", "X-Correlation-Id", "Request-Id", "Traceparent", "Tracestate", "Traceresponse",
    "X-Trace-Id", "X-B3-TraceId", "X-B3-SpanId", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "X-Amzn-RequestId"};

// Of one user: RFC 6265, and its forerunner.
constexpr std::array<std::string_view, 2> set_cookie{"Set-Cookie", "Set-Cookie2"};

// ETag and Vary have rules of their own in freshen(); the others say what the stored bytes are.
constexpr std::array<std::string_view, 10> stay_when_freshened{
    "Content-Encoding", "Content-Type", "Content-Range", "Content-Length", "Content-MD5",
    "Content-Digest",   "Repr-Digest",  "Digest",        "ETag",           "Vary"};

bool contains(std::span<const std::string_view> names, std::string_view name) noexcept {
    return std::ranges::any_of(
        names, [name](std::string_view n) { return n.size() == name.size() && http::iequals(n, name); });
}

}  // namespace

bool is_stored(const http::fields::entry& field, const policy& rules) noexcept {
    if (contains(never_stored, field.name)) return false;
    return rules.cookies == cookie_rule::plain || !contains(set_cookie, field.name);
}

bool stays_when_freshened(const http::fields::entry& field) noexcept {
    return contains(stay_when_freshened, field.name);
}

}  // namespace etagere::cache
