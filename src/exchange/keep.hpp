// Turning a complete answer into a stored one, and answering from a stored one: shared by the fast path, the exchange
// and the background refresh, so that there is one place for each rule.
#pragma once

#include "etagere/cache/decisions.hpp"
#include "etagere/cache/ranges.hpp"
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
    store::shared_bytes body;
    std::string own_etag;  // "" where the origin sent one, or none is wanted
    bool always_validate = false;
    moment asked{};
    wall_time received{};
    cache::purge_mark known;  // of purges, when it was asked for
};
/// Stores it under its own key, or, where it carries a rule about queries, under that of the simplified target, for all
/// equivalent requests. Not if that key, or `key`, under which it was asked for, was invalidated or purged since; null
/// then.
store::object_ptr keep(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                       answer_to_keep answer);

/// A 304 freshened `before`, which lies under `key`; `fresh` takes its place. False: it did not, for the key was
/// invalidated since, or the answer may not lie there any more.
bool keep_freshened(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                    const cache::stored_response& before, store::object_ptr fresh, moment asked);

/// A 206 that was judged storable and whose body is as long as its Content-Range says; `held`: what is stored now for
/// the same request, with its body, or null, and where. Together they may be the whole (RFC 9111 §3.4). Stores what
/// they are, unless the key was invalidated or something newer is there; null then.
store::object_ptr keep_part(worker_state& state, const runtime& runtime, const routing::route& route,
                            const std::string& key, const answer_to_keep& answer, const cache::part_judgement& judged,
                            store::object_ptr held, const std::string& held_under);

/// How a stored response is to be sent to this request.
struct stored_answer {
    bool usable = true;  // false: a part, which does not hold what is asked for
    cache::precondition condition = cache::precondition::proceed;
    cache::range_answer range;
    /// Of ours, which this client gets; a 304 speaks of that form too. identity where the body is known not to get
    /// smaller.
    http::coding coding = http::coding::identity;
    bool needs_body = false;  // and `object` has none yet
    bool needs_form = false;  // and `object` has none of that coding yet
};
/// `variants`: all of the key, for routes that repair suffixes.
stored_answer plan(const store::object& object, const http::request_head& request, const cache::policy& rules,
                   wall_time now, std::span<const cache::stored_response* const> variants) noexcept;

/// Fills `a` with the 304, 412, 206, 416 or full answer from the object, Age and Cache-Status made anew. The pin keeps
/// it alive; except for several ranges it is the object itself. `cache_status`: "" for none. `boundary`: of several
/// ranges.
void fill_from_object(net::immediate_answer& a, store::object_ptr object, const stored_answer& planned, seconds age,
                      std::string_view cache_status, std::string_view boundary);

/// The 206 or 416 that `wanted` makes of a 200 with all its `body`; `bytes` holds what has to be made for it, if
/// anything. The content to send.
std::string_view cut(http::response_head& head, const cache::range_answer& wanted, std::string_view body,
                     std::string& bytes, std::string_view boundary);
/// Its head alone, for one range or none of it.
void cut_head(http::response_head& head, const cache::range_answer& wanted);

/// What the record says about the answer that fill_from_object() made.
void note_form(observe::record& r, const store::object& object, const net::immediate_answer& a) noexcept;

}  // namespace etagere::exchange
