// RFC 9111 and RFC 9110 §13 as functions of (request, stored responses, policy, now). Decisions are data: each carries
// one reason from the closed list. No clock, no I/O, no allocation on the way of a hit.
#pragma once

#include "etagere/base/reason.hpp"
#include "etagere/base/time.hpp"
#include "etagere/cache/key.hpp"
#include "etagere/cache/policy.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace etagere::cache {

// ---------------------------------------------------------------- before the store is asked

enum class request_class : std::uint8_t {
    cacheable,  // GET or HEAD that may be answered from the store and whose answer may be kept
    pass,       // straight to the origin; nothing is looked up, collapsed or kept
    unsafe,     // to the origin; a success invalidates (RFC 9111 §4.4)
};
struct request_decision {
    request_class what = request_class::cacheable;
    reason why = reason::none;
};
/// By method, upgrade, body (a fat GET passes), route policy, and the client's no-store where the route honours it.
request_decision classify(const http::request_head& request, const policy& rules);

// ---------------------------------------------------------------- age and freshness (RFC 9111 §4.2)

/// §4.2.3. Never negative, whatever the clocks say.
seconds current_age(const stored_response& r, wall_time now) noexcept;
/// Who gave a response its lifetime: for people who ask why.
enum class lifetime_source : std::uint8_t {
    none,             // nobody: 0
    s_maxage,         // of the origin, RFC 9111 §5.2.2.10
    max_age,          // §5.2.2.1
    expires,          // §5.3
    expires_invalid,  // likewise: present, but no date
    route_override,   // `lifetime.default` with `override: true`
    route_negative,   // `negative` for its status
    route_default,    // `lifetime.default`
    heuristic,        // §4.2.2
};
struct lifetime {
    seconds value{0};  // never negative
    lifetime_source from = lifetime_source::none;
    bool capped = false;  // it was more, and `lifetime.max` cut it
};
/// §4.2.1 with the route's overrides and caps, §4.2.2 where the route allows heuristics. 0 where there is none.
lifetime find_lifetime(const stored_response& r, const policy& rules) noexcept;
/// find_lifetime().value
seconds freshness_lifetime(const stored_response& r, const policy& rules) noexcept;
/// True where the response's own directives forbid serving it stale (§4.2.4, §5.2.2).
bool stale_forbidden(const stored_response& r, const policy& rules) noexcept;

// ---------------------------------------------------------------- choosing and reusing (RFC 9111 §4)

/// Index of the variant this request selects (§4.1), the most recent by Date/response_time where several match; -1
/// without. `variants` yields stored responses of one key in any order. `digest` as for make_key().
int select_variant(std::span<const stored_response* const> variants, const http::request_head& request,
                   const policy& rules, credential_digest digest);

enum class reuse_action : std::uint8_t {
    serve,             // now, as it is
    serve_revalidate,  // now, and refresh in the background (RFC 5861 §3)
    validate,          // ask the origin with the stored validators first
    complete,          // a part of it is stored: ask the origin for the rest (cache/ranges.hpp)
    fetch,             // ask the origin in full, or for the range that is wanted; the answer may be kept
    refuse,            // only-if-cached and nothing usable: 504
};
struct reuse_decision {
    reuse_action what = reuse_action::fetch;
    reason why = reason::miss_cold;
    seconds age{0};
    seconds ttl{0};       // lifetime − age; negative when stale
    bool reload = false;  // the client said no-cache, and the route honours it
};
/// `chosen` is null where the key is unknown (miss_cold) or no variant matches (`other_variants`: miss_vary). One that
/// was purged for good is fetched as if there were none (miss_purged), one that was purged softly is stale.
reuse_decision decide_reuse(const stored_response* chosen, bool other_variants, const http::request_head& request,
                            const policy& rules, wall_time now, purge_state purge = {}) noexcept;

/// select_variant() and decide_reuse() in one: what the stored responses of a key mean for this request.
struct choice {
    int at = -1;  // the variant it selects; -1 without
    reuse_decision decision;
};
choice choose(std::span<const stored_response* const> variants, const http::request_head& request, const policy& rules,
              wall_time now, credential_digest digest);

/// True where the origin can answer 304 for it: a 200, or a part of one, with a validator of the origin's. A server
/// ignores conditions unless the answer without them would be a 200 (RFC 9110 §13.2.1), so a 304 never speaks of a
/// stored 404.
bool can_validate(const stored_response& r) noexcept;
/// May it answer requests that only waited for the same fetch? Not where each of them has to be validated (RFC 9111
/// §5.2.2.4), nor where a 304 withdrew the permission to keep it.
bool may_answer_others(const stored_response& r, const policy& rules) noexcept;

enum class origin_failure : std::uint8_t {
    error_status,  // 500, 502, 503 or 504
    no_answer,     // RFC 9111 §4.2.4: "disconnected"
};
/// May the stale response be served in place of the failure (RFC 5861 §4, RFC 9111 §4.2.4)?
bool may_serve_on_error(const stored_response& r, const policy& rules, origin_failure how, wall_time now,
                        purge_state purge = {}) noexcept;

// ---------------------------------------------------------------- the client's own condition (RFC 9110 §13)

enum class precondition : std::uint8_t { proceed, not_modified, failed };
/// What is known of a response only where it comes out of the store.
struct stored_hints {
    /// RFC 9111 §4.3.2: what If-Modified-Since is compared with where there is no Last-Modified.
    std::optional<wall_seconds> date{};
    /// A tag with a coding's suffix is another stored variant's own: it must not be read as this one's.
    bool suffix_is_another = false;
};
/// Whether there is anything to evaluate.
bool has_precondition(const http::fields& request) noexcept;
/// Against the response about to be sent, in the order of §13.2.2; If-None-Match beats If-Modified-Since. Only 200s
/// and 206s can become 304.
precondition evaluate_preconditions(const http::request_head& request, int status, std::string_view etag,
                                    std::optional<wall_seconds> last_modified, const policy& rules, wall_time now,
                                    const stored_hints& hints = {}) noexcept;
/// True where a client names, in a tag that ends in a coding's suffix, another stored variant of the key than `chosen`,
/// one that does not owe this suffix to its coding: with `repair: [suffix]` its 304 would be for other bytes.
bool suffix_names_another(const http::fields& request, const stored_response& chosen,
                          std::span<const stored_response* const> variants) noexcept;
/// `variants`: all of the key, for routes that repair suffixes; others need none.
stored_hints hints_of(const stored_response& chosen, const http::request_head& request, const policy& rules,
                      std::span<const stored_response* const> variants) noexcept;
/// The reason for an answer from the store: a fresh one that becomes a 304 or 412 has a reason of its own.
reason served_as(reason why, precondition condition) noexcept;
/// The fields of a 200 that its 304 carries too (RFC 9110 §15.4.5): ETag byte for byte, Date, Cache-Control,
/// Content-Location, Expires, Vary, and Last-Modified where there is no ETag; and the targeted forms of Cache-Control.
bool belongs_in_not_modified(const http::fields::entry& field, bool has_etag) noexcept;

// ---------------------------------------------------------------- asking the origin

/// Removes the client's own conditions and range, which must not reach the origin when the whole answer is wanted: a
/// cold conditional request fetches everything, so that the next client gains.
void strip_conditions(http::fields& request) noexcept;

// What is asked is an offer of tags: offer.hpp.

enum class validation : std::uint8_t {
    freshened,  // 304 for this response: freshen() it
    variant,    // 304 for another stored variant of the key: freshen() and serve that one
    client,     // 304 for what only the client has: it is passed on and freshens nothing
    changed,    // a full answer: judge and store it
    unrelated,  // 304 whose validators name another response: fetch in full (RFC 9111 §4.3.4)
    error,      // 5xx: may_serve_on_error() decides
};
/// For a validation with the stored validators alone.
validation judge_validation(const stored_response& r, const http::response_head& answer) noexcept;
/// RFC 9111 §3.2, §4.3.4: all fields of the 304 replace the stored ones, except what describes the bytes
/// (Content-Length, Content-Encoding, Content-Type, Content-Range, ETag's own rule) and what is never stored. A missing
/// Vary stays.
stored_response freshen(const stored_response& r, const http::response_head& not_modified, const policy& rules,
                        wall_time request_time, wall_time response_time);
/// True where freshen() would make what is there already: the 304 repeats it octet for octet, Date too, within a second
/// of the answer that brought or freshened it. Of a busy response that has to be asked about every time most are such.
bool says_nothing_new(const stored_response& r, const http::response_head& not_modified, const policy& rules,
                      wall_time response_time) noexcept;

/// RFC 9111 §4.3.5: a 200 to HEAD speaks of the stored 200 to GET where validators and length agree: freshen() it.
/// Where they differ, the stored one is out of date.
bool head_confirms(const stored_response& r, const http::response_head& answer) noexcept;

// ---------------------------------------------------------------- keeping the answer (RFC 9111 §3)

struct storability {
    bool store = false;
    bool always_validate = false;  // → stored_response
    bool shareable = true;         // may answer requests that wait for the same fetch
    reason why = reason::none;     // why not, where not
};
/// On the head alone: before the body is read. `body.length` beyond max_object is nostore_too_large.
storability judge_storability(const http::request_head& request, const http::response_head& response,
                              const policy& rules, wall_time now);
/// RFC 9110 §9.3.3: the answer to this POST may be kept as the answer to later GETs of the same target: it says that it
/// is that (Content-Location) and for how long. Whether it is kept then is judge_storability()'s to say.
bool answers_later_gets(const http::request_head& request, const http::response_head& response, const policy& rules,
                        wall_time now);
/// Takes over what may be kept: drops Set-Cookie, X-Request-Id, X-Runtime, Age (kept as a number), Connection-bound and
/// other per-answer fields; adds Date where the origin sent none (RFC 9110 §6.6.1). Indexed. `digest` as for
/// make_key().
stored_response make_stored(const http::request_head& request, const http::response_head& response, const policy& rules,
                            wall_time request_time, wall_time response_time, credential_digest digest);
/// When nothing may use it any more: lifetime, then the longest of the stale windows and validate_for.
wall_time keep_until(const stored_response& r, const policy& rules) noexcept;

/// True for media types and markers that are streams: text/event-stream, x-ndjson, multipart/x-mixed-replace, gRPC,
/// X-Accel-Buffering: no. Never buffered, tagged or stored.
bool is_stream(const http::fields& header) noexcept;
inline bool is_stream(const http::response_head& response) noexcept {
    return is_stream(response.header);
}
/// May an ETag of ours be added to this answer (200 to GET, none there, no stream, no-transform aside)?
bool wants_own_etag(const http::request_head& request, const http::response_head& response,
                    const policy& rules) noexcept;
/// The tag from the digest bytes of the body (and, for strength, of Content-Encoding and Content-Type).
std::string make_etag(std::string_view digest_hex, etag_making strength);

// ---------------------------------------------------------------- invalidation (RFC 9111 §4.4)

/// Targets (origin-form) of the same origin that a non-error answer to an unsafe request invalidates: its own, and
/// those of Location and Content-Location. Empty for safe methods and for errors.
std::vector<std::string> invalidated_targets(const http::request_head& request, const http::response_head& response);

}  // namespace etagere::cache
