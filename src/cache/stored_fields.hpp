// Which fields of a response are kept. One table, so that storing and freshening agree. Room-internal.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/http/fields.hpp"

namespace etagere::cache {

/// False for fields that belong to one connection (RFC 9111 §3.1) or to one answer: nobody else may get them.
bool is_stored(const http::fields::entry& field, const policy& rules) noexcept;

/// True for fields that describe the bytes that are kept, and for those with a rule of their own: a 304 leaves them
/// alone (RFC 9111 §3.2).
bool stays_when_freshened(const http::fields::entry& field) noexcept;

}  // namespace etagere::cache
