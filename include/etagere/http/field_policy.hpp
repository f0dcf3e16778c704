// Which fields a proxy keeps from going through: the one list, used by every codec.
#pragma once

#include "etagere/http/field_id.hpp"
#include "etagere/http/fields.hpp"

#include <string_view>

namespace etagere::http {

/// True for fields that belong to one connection (RFC 9110 §7.6.1, §11.7; RFC 9112 §6): never passed on, never stored.
bool is_hop_by_hop(field_id id) noexcept;

/// True for fields that a head's codec writes itself, from the head: hop-by-hop fields, framing, Host and Expect.
/// `fields` that hold one of them (from a store, from configuration) cannot smuggle it onto the wire.
bool is_codec_owned(field_id id) noexcept;
/// One of them is in `header`. (Mostly none: what a codec reads, it keeps.)
bool has_codec_owned(const fields& header) noexcept;

/// True for request fields that make an origin act on another request than the one that was routed, keyed and judged.
/// Clients have no business sending them; they are dropped.
bool is_withheld(field_id id, std::string_view name) noexcept;

/// True for a name with '_' whose twin with '-' the proxy judges, sets or withholds. CGI-style origins (Rack) read both
/// as one, so such a name is dropped even where underscores are allowed.
bool is_underscore_twin(std::string_view name) noexcept;

/// RFC 9110 §6.5.1: framing, routing, authentication, modifiers and response control data have no place in trailers,
/// since a receiver that merges them into the header acts on them after everybody else has judged the message.
bool is_forbidden_trailer(field_id id, std::string_view name) noexcept;

}  // namespace etagere::http
