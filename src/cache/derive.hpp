// What a response's fields say about its freshness and validators. Room-internal.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/fields.hpp"

namespace etagere::cache {

/// Notes which field of `header` says how to cache: governing_field().
void govern(stored_response& r, const http::fields& header, const policy& rules);
/// The part of derive_from() that says whether it may be kept at all: its directives.
void derive_directives(stored_response& into, const http::fields& header);
/// Fills the derived block of `into` from `header`, which need not be `into.header`: a response can be judged before
/// anything is copied. Needs status, response_time and control.
void derive_from(stored_response& into, const http::fields& header);

/// RFC 9111 §5.2.2.3: statuses whose meaning for a cache is known here.
bool is_understood(int status) noexcept;

/// RFC 9111 §5.1: the first member of the first line; 0 where that is no delta-seconds.
seconds read_age(const http::fields& header) noexcept;

}  // namespace etagere::cache
