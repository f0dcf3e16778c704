// A response as a cache keeps it (RFC 9111 §3): its head, when it came, which requests it is for. The body is apart.
#pragma once

#include "etagere/base/seldom.hpp"
#include "etagere/base/time.hpp"
#include "etagere/cache/directives.hpp"
#include "etagere/cache/purging.hpp"
#include "etagere/cache/selection.hpp"
#include "etagere/http/entity_tag.hpp"
#include "etagere/http/fields.hpp"
#include "etagere/http/range.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// What few responses have.
struct particulars {
    std::string control;  // name of the field that governs it (RFC 9213); "" for Cache-Control
    /// RFC 9111 §3.3: an incomplete response (status 206) holds these octets of `complete_length`, one part after the
    /// other, in ascending order and never touching. Empty: the body is the whole. Its header has no Content-Range.
    std::vector<http::byte_range> parts;
    std::uint64_t complete_length = 0;
    std::vector<group_id> tags;  // groups that it belongs to by name; collect_tags()
};

/// The first block is what is written to a record; the second is derived from it by index() and never stored.
/// Immutable and shared between threads once index() was called. A cache has millions: it is to be small.
struct stored_response {
    int status = 200;
    bool always_validate = false;  // kept by a route rule on the condition that the origin is asked every time
    bool own_etag = false;         // the ETag in `header` was made by us: good for clients, never sent to the origin
    http::fields header;           // as storable(): no hop-by-hop, framing, per-answer or connection fields
    selection selecting;           // the requests that it is for
    wall_time request_time;        // when the request that brought (or last freshened) it was sent
    wall_time response_time;       // when its head arrived
    seconds age_value{0};          // Age field as received (RFC 9111 §5.1); not in `header`, and needed after a restart
    std::uint64_t body_size = 0;
    purge_mark known;  // of purges, when the request that brought (or last freshened) it was sent
    seldom<particulars> rest;

    // ---- derived
    bool expires_invalid = false;  // present but no date: already expired (RFC 9111 §5.3)
    bool codable = false;          // may be sent in a coding of ours, as far as it says itself (cache/compression.hpp)
    bool tagged = false;           // has an ETag that says something
    response_directives directives;
    maybe_seconds date;
    maybe_seconds expires;
    maybe_seconds last_modified;

    /// Answers only what cache/ranges.hpp lets it answer, never a request for the whole.
    bool is_partial() const noexcept { return !rest->parts.empty(); }
    /// Derives the second block from the first.
    void index();
    /// Byte for byte; "" without.
    std::string_view etag() const noexcept { return header.get(http::field_id::etag); }
    std::optional<http::entity_tag> tag() const noexcept { return http::parse_entity_tag(etag()); }
    /// Something the origin can answer 304 to.
    bool has_validator() const noexcept { return (tagged && !own_etag) || last_modified.has_value(); }
};

}  // namespace etagere::cache
