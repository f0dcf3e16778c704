// Parts of RFC 9111 §4.2 that several decisions share. Room-internal.
#pragma once

#include "etagere/cache/decisions.hpp"

#include <optional>

namespace etagere::cache {

/// RFC 9110 §15.1: statuses that may be kept although nothing says for how long.
bool is_heuristically_cacheable(int status) noexcept;
/// RFC 9111 §4.2.1: what the origin says itself; nullopt where it is silent. May be negative.
std::optional<seconds> explicit_lifetime(const stored_response& r, const policy& rules) noexcept;
/// How long ago a soft purge made it stale.
seconds time_since(const purge_state& purge, wall_time now) noexcept;
/// True where its own directives forbid to have it at all. A 304 can bring them after it was stored.
bool must_forget(const stored_response& r, const policy& rules) noexcept;

/// How long past its lifetime it may be served while it is refreshed (RFC 5861 §3), or in place of an error (§4). 0
/// where the origin forbids it. The origin's own word beats the route's.
seconds stale_while_revalidate_window(const stored_response& r, const policy& rules) noexcept;
seconds stale_if_error_window(const stored_response& r, const policy& rules, origin_failure how) noexcept;

}  // namespace etagere::cache
