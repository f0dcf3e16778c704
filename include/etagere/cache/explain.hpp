// What étagère would do with a request and why, without doing it. Nothing is decided here: explain() asks the functions
// of decisions.hpp in the order in which a request meets them, so it cannot say anything else than what is done.
//
// Pure, for people: allocates, and is not on the way of any request.
#pragma once

#include "etagere/cache/decisions.hpp"
#include "etagere/cache/offer.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// What is remembered of a key besides its stored responses.
struct key_knowledge {
    reason not_kept = reason::none;  // why the last answer was not kept, as long as that is remembered
    milliseconds remembered_for{0};
    bool in_flight = false;                 // the origin is being asked for it already
    offer_form form = 0;                    // how much of an offer of tags the route's origin is known to read
    std::span<const purge_state> purges{};  // of each variant; empty: none was purged
};

enum class course : std::uint8_t {
    serve,        // from the store
    serve_stale,  // from the store, and refreshed in the background
    validate,     // the origin is asked with the stored validators
    fetch,        // the origin is asked in full
    pass,         // the origin is asked past the cache
    refuse,       // answered by étagère itself, with an error
};
std::string_view name(course c) noexcept;

/// What a request that goes to the origin may meet there.
enum class event : std::uint8_t {
    not_modified,         // 304 to the stored validators
    kept,                 // a full answer that may be kept
    not_kept,             // one that may not be kept, as the last one
    client_not_modified,  // 304 to the client's own condition
    success,              // 2xx or 3xx to an unsafe method
    error_status,         // 500, 502, 503 or 504
    no_answer,
    leader_answered,  // the request that is under way brought an answer for both
};
std::string_view words(event e) noexcept;

struct outlook {
    event when;
    reason why;  // what Cache-Status and the log say then
};

struct explanation {
    request_class klass = request_class::cacheable;
    course what = course::fetch;
    reason why = reason::none;  // of the decision; what goes to the origin ends with one of `then`
    int at = -1;                // index of the variant that is selected; -1 without
    int status = 0;             // of an answer without the origin; 0 where it answers
    seconds age{0};
    seconds ttl{0};
    precondition condition = precondition::proceed;  // the client's, against what is served
    http::fields conditions;                         // what the origin is asked with, besides the request itself
    bool asks_in_full = false;                       // the client's own conditions do not reach the origin
    std::vector<outlook> then;                       // for validate, fetch, and pass of unsafe methods
};
/// `variants`: what the store has under the request's key. Nothing of it is asked where the class does not need it.
/// `digest` as for make_key().
explanation explain(const http::request_head& request, const policy& rules,
                    std::span<const stored_response* const> variants, const key_knowledge& known, wall_time now,
                    credential_digest digest);

// ---------------------------------------------------------------- one response and its future

/// From `after` (counted from `now`) on, this request would meet that.
struct phase {
    seconds after{0};
    reuse_action what = reuse_action::fetch;
    reason why = reason::none;
};
/// The phases of a stored response for this request, until the store may forget it (fetch, miss_cold).
std::vector<phase> phases_of(const stored_response& r, const http::request_head& request, const policy& rules,
                             wall_time now);

struct freshness {
    seconds age{0};
    seconds ttl{0};
    lifetime fresh_for;
    seconds while_revalidate{0};  // windows after that, the origin's or the route's
    seconds if_error{0};
    seconds if_unreachable{0};
    bool stale_forbidden = false;
    bool can_validate = false;
};
freshness freshness_of(const stored_response& r, const policy& rules, wall_time now);
/// "max-age of Cache-Control", "lifetime.default of the route".
std::string words(const lifetime& l, const stored_response& r);

/// What would become of this answer to this request?
struct fate {
    storability may;
    std::optional<stored_response> kept;  // where it may be kept
    bool own_etag = false;                // it would get a tag of ours, where its body comes in time
    std::vector<phase> phases;            // where it may be kept
};
fate foretell(const http::request_head& request, const http::response_head& response, const policy& rules,
              wall_time now, credential_digest digest);

// ---------------------------------------------------------------- a policy in words

struct rule {
    std::string name;  // the key in the routes file, as far as there is one: "lifetime"
    std::string text;  // one sentence
};
std::vector<rule> describe(const policy& rules);

/// "0s", "90s", "10m", "1h30m".
std::string duration_text(milliseconds d);

/// Fields and cookies whose values are shown to nobody: credentials and what is named like one.
bool is_secret_name(std::string_view name) noexcept;

}  // namespace etagere::cache
