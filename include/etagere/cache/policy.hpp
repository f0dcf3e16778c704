// What a route's operator decided about caching: plain values, compiled from the settings by `routing`.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/http/entity_tag.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace etagere::cache {

/// What to do with a response that the origin marks `private` (Rails' default says so on every answer).
enum class private_rule : std::uint8_t {
    leave,       // do not store; RFC 9111 §5.2.2.7
    revalidate,  // keep it under the caller's credentials and ask the origin before every use: a 304 saves the render
};
/// What a cookie, in the request or the answer, means for keeping it (RFC 9111 §7.3).
enum class cookie_rule : std::uint8_t {
    guard,  // the answer to a request with cookies needs the origin's word that it is for everybody; never Set-Cookie
    plain,  // nothing: the RFC has no rule about them
};
enum class client_directives : std::uint8_t { ignore, honour };  // RFC 9111 §5.2.1
enum class etag_making : std::uint8_t { off, weak, strong };
enum class etag_digest : std::uint8_t { xxh3_128, sha_256, md5 };

struct query_rules {
    bool sort = false;
    std::vector<std::string> ignore;  // names; a trailing '*' matches any rest
};

struct policy {
    bool enabled = true;  // false: `cache: off`, requests pass
    bool shared = true;   // RFC 9111 §1: a shared cache; false: a private cache of one consumer (egress)
    bool stream = false;  // `stream: true`: never buffered, tagged or stored

    // --- key
    std::vector<std::string> key_headers;     // request fields whose values are part of the key
    std::vector<std::string> key_cookies;     // cookies whose values are part of the key
    std::vector<std::string> per_credential;  // fields (Authorization, Cookie) whose values split the key, as digests;
                                              // filled by default where private responses may be kept
    query_rules query;
    bool no_vary_search = true;  // an origin may say which parameters do not matter

    // --- storing
    private_rule on_private = private_rule::leave;
    cookie_rule cookies = cookie_rule::guard;
    bool foreign_codings = false;  // take answers in transfer codings that nobody knows (http::h1::head_limits)
    /// RFC 9213: fields that stand above Cache-Control, the first one that is present and valid wins.
    std::vector<std::string> targeted{"Etagere-Cache-Control", "CDN-Cache-Control"};
    bool heuristic_freshness = false;   // RFC 9111 §4.2.2
    bool override_lifetime = false;     // default_lifetime beats what the origin says
    bool has_default_lifetime = false;  // `lifetime.default` was written: a silent origin's answer is kept that long
    seconds default_lifetime{0};
    seconds max_lifetime{0};                             // 0: no cap
    std::vector<std::pair<int, seconds>> negative;       // status → lifetime where the origin is silent
    std::uint64_t max_object = std::uint64_t{1} << 20U;  // bytes of body; larger ones stream through unstored
    std::uint32_t max_variants = 32;                     // per key; the oldest goes
    bool normalize_accept_encoding = true;  // Vary comparison after normalising where the meaning is the same
    bool normalize_accept_language = true;

    bool normalize_accept = false;

    // --- purging
    std::vector<std::string> tag_fields;  // response fields that name the tags of an answer
    std::vector<std::string> tags;        // of every answer of this route

    // --- reuse
    client_directives client = client_directives::ignore;
    seconds stale_while_revalidate{0};  // beyond what the origin grants; never where it forbids stale
    seconds stale_if_error{0};
    seconds stale_if_unreachable{0};  // §4.2.4: only where the origin gave no answer at all
    seconds validate_for{24 * 3600};  // kept after staleness so that a 304 can revive it

    // --- collapsed forwarding
    bool collapse = true;
    milliseconds collapse_wait{5000};
    seconds hit_for_miss{10};  // how long "not kept" is remembered

    // --- validators of our own
    etag_making etag_when_missing = etag_making::weak;
    etag_digest digest = etag_digest::xxh3_128;
    std::uint64_t etag_max_body = std::uint64_t{1} << 20U;  // larger bodies get none
    milliseconds etag_max_hold{50};        // a body that is still arriving after that streams on without a tag
    std::vector<std::string> json_ignore;  // JSON pointers that do not count for a tag of ours; it is weak then
    http::tag_reading if_none_match = http::tag_reading::lenient;
    bool repair_weak_prefix = false;  // the origin is offered a weak tag in its strong form too
    bool repair_suffix = false;       // "x-gzip" is taken for "x", and offered as such
    double audit = 0;                 // share of validated hits that are fetched in full besides

    // --- codings of our own (RFC 9110 §8.4), in order of preference; none: bodies go as they came
    std::vector<http::coding> compress;
    std::uint64_t compress_above = 1024;
};

}  // namespace etagere::cache
