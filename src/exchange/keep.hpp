// Turning a complete answer into a stored one, and answering from a stored one: shared by the fast path, the exchange
// and the background refresh, so that there is one place for each rule.
#pragma once

#include "etagere/cache/decisions.hpp"
#include "etagere/exchange/runtime.hpp"
#include "etagere/net/transaction.hpp"

#include <span>
#include <string>

namespace etagere::exchange {

/// Hex digest of a body for an ETag of ours, by the route's algorithm. Content-Encoding is part of it: two codings of
/// one content are two representations (RFC 9110 §8.8.1).
std::string etag_for(std::string_view body, const http::fields& header, const cache::policy& rules);

struct answer_to_keep {
    const http::request_head* request = nullptr;  // as the client sent it: its fields select the variant
    const http::response_head* head = nullptr;
    shared_bytes body;
    std::string own_etag;  // "" where the origin sent one, or none is wanted
    bool always_validate = false;
    moment asked{};
    wall_time received{};
};
/// Stores it under its own key, or, where it carries a rule about queries, under that of the simplified target, for all
/// equivalent requests. Not if that key, or `key`, under which it was asked for, was invalidated since; null then.
store::object_ptr keep(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                       answer_to_keep answer);

/// A 304 freshened `before`, which lies under `key`; `fresh` takes its place. False: it did not, for the key was
/// invalidated since, or the answer may not lie there any more.
bool keep_freshened(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                    const cache::stored_response& before, store::object_ptr fresh, moment asked);

/// How a stored response is to be sent to this request.
struct stored_answer {
    cache::precondition condition = cache::precondition::proceed;
    /// Of ours, which this client gets; a 304 speaks of that form too. identity where the body is known not to get
    /// smaller.
    http::coding coding = http::coding::identity;
    bool needs_body = false;  // and `object` has none yet
    bool needs_form = false;  // and `object` has none of that coding yet
};
/// `variants`: all of the key, for routes that repair suffixes.
stored_answer plan(const store::object& object, const http::request_head& request, const cache::policy& rules,
                   wall_time now, std::span<const cache::stored_response* const> variants) noexcept;

/// Fills `a` with the 304, 412 or full answer from the object, Age and Cache-Status made anew. The pin keeps it alive.
/// `cache_status` is the field's value, "" for none. A form that is needed and not there is replaced by identity.
void fill_from_object(net::immediate_answer& a, store::object_ptr object, const stored_answer& planned, seconds age,
                      std::string_view cache_status);

/// What the record says about the answer that fill_from_object() made.
void note_form(observe::record& r, const store::object& object, const net::immediate_answer& a) noexcept;

}  // namespace etagere::exchange
