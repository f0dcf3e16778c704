// The store contract: what every store (memory, memcached, the two as tiers) promises, and what the conformance suite
// tests. A store may forget anything at any time; it never gives back anything else than what was put under that key.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/base/time.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/store/shared_bytes.hpp"
#include "etagere/store/stats.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::store {

/// What a stored response gets on its way to a client (RFC 9110 §7.6.3); already in the wire heads.
inline constexpr std::string_view via = "1.1 etagere";

/// Notes that an object was looked at and found not purged; a copy has to be looked at again.
class purge_note {
public:
    purge_note() = default;
    purge_note(const purge_note&) noexcept {}
    purge_note& operator=(const purge_note&) noexcept { return *this; }
    ~purge_note() = default;
    bool says(std::uint64_t what) const noexcept { return said_.load(std::memory_order_relaxed) == what; }
    void say(std::uint64_t what) const noexcept { said_.store(what, std::memory_order_relaxed); }

private:
    mutable std::atomic<std::uint64_t> said_{0};
};

/// The body of an object in a content coding, kept beside it in memory only: it can be made again.
struct coded_form {
    http::coding how = http::coding::gzip;
    shared_bytes body;      // null: this body does not get smaller, or there is no room for a second form
    std::string wire_full;  // as object::wire_full(), with the fields of the coded form; "" without a body
};

/// One stored response ready to be sent: head, body, and the wire bytes that do not change between clients.
/// Immutable; a reader that holds the pointer keeps it alive: eviction never frees bytes being sent.
struct object {
    cache::stored_response response;
    shared_bytes body;       // null: not loaded (only the meta record was read); load_body() brings it
    std::string entity;      // name of the entity record in a remote store, "" where there is none
    wall_time keep_until{};  // after that the store may forget it
    purge_note looked_at;    // purge_table's
    /// For clients that get coded forms, where their tag is another one (cache/compression.hpp); else "".
    std::string coded_etag;
    std::vector<coded_form> forms;  // as many as were asked for so far

    /// "HTTP/1.1 200 OK" … without framing, Age, Cache-Status, Connection and the empty line; see http::h1. The fields
    /// of `response` live in it: a head is kept once.
    std::string_view wire_full() const noexcept { return response.header.octets(); }
    /// Appends the same for "304 Not Modified", with the fields that belong there (RFC 9110 §15.4.5). `coded`: for a
    /// client that gets a coded form.
    void append_not_modified(std::string& out, bool coded) const;
    const coded_form* form(http::coding how) const noexcept {
        for (const coded_form& f : forms) {
            if (f.how == how) return &f;
        }
        return nullptr;
    }
};
using object_ptr = std::shared_ptr<const object>;
/// `header` with what every client gets besides: Via, and Accept-Ranges where ranges of `of` can be asked for.
http::fields complete_header(const cache::stored_response& of, http::fields header);
/// Writes the wire head (complete_header()) and returns the immutable object. Where a head is freshened whose body was
/// never loaded, pass its `entity` on.
object_ptr make_object(cache::stored_response response, shared_bytes body, wall_time keep_until,
                       std::string entity = {});
/// `head` over the bytes of `whole`, which are known to be the same: body, entity name and coded forms, as far as
/// `head` has none of its own.
object_ptr with_bytes_of(object_ptr head, const object& whole);
/// `of` with one form more; `coded` as coded_form::body.
object_ptr with_form(const object& of, http::coding how, shared_bytes coded);

/// All variants of one key. Immutable.
struct variant_set {
    std::vector<object_ptr> variants;

    bool has_a_body() const noexcept {
        return std::ranges::any_of(variants, [](const object_ptr& o) { return static_cast<bool>(o->body); });
    }
};
using variant_set_ptr = std::shared_ptr<const variant_set>;

class purge_table;

/// Which level answered: `store` of the access log, `detail` of Cache-Status.
enum class level : std::uint8_t { none, memory, memcached };
std::string_view name(level l) noexcept;

struct found {
    variant_set_ptr set;  // null: nothing there
    level from = level::none;
};

/// Thread-safe. Completions run exactly once, on any thread, also inside the call; they must be quick (post and leave).
/// A failing, slow or lying backend shows as errc::store_*; it is never an exception and never takes longer than the
/// store's own deadline.
class store {
public:
    using found_handler = std::move_only_function<void(result<found>)>;
    using body_handler = std::move_only_function<void(result<object_ptr>)>;

    virtual ~store() = default;

    /// What memory has now. Never blocks on I/O. `now` decides what is past its keep_until or its local trust.
    virtual found peek(std::string_view key, moment now) = 0;
    /// Whether load() can find more than peek() did: false for memory alone.
    virtual bool has_remote() const noexcept = 0;
    /// Asks all levels. errc::store_miss never appears: a miss is a `found` without a set.
    virtual void load(std::string_view key, moment now, found_handler done) = 0;
    /// load() for somebody who will want a body: where the store can guess which, that body is asked for together with
    /// the heads and comes along. Whoever finds that its object has none asks load_body().
    virtual void load_whole(std::string_view key, moment now, found_handler done) { load(key, now, std::move(done)); }
    /// load() for somebody who only looks: what memory keeps, and for how long, stays as it is.
    virtual void inspect(std::string_view key, moment now, found_handler done) = 0;
    /// Brings the body of an object whose `body` is null, as a new object, into memory too where it fits.
    /// errc::store_miss where the entity is gone; the caller then fetches without a condition.
    virtual void load_body(std::string_view key, object_ptr head, moment now, body_handler done) = 0;
    /// Keeps `o` (body included) as a variant of `key`, replacing the variant with equal `selecting`; the oldest beyond
    /// `max_variants` goes. Memory sees it at once; a remote level later, or never (full queue: counted, never waited
    /// for).
    virtual void put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) = 0;
    /// A validation succeeded: replaces the head of that variant; the entity is not written again.
    virtual void freshen(std::string_view key, object_ptr o, moment now) = 0;
    /// A form of this object's body was made: memory keeps it beside the body, within the same budget, where it still
    /// has that body.
    virtual void keep_forms(std::string_view key, const object& with, moment now) = 0;
    /// Forgets the key with all its variants, at every level.
    virtual void erase(std::string_view key, moment now) = 0;

    /// What was purged. A store gives back what it keeps, purged or not: who uses it asks the table.
    virtual purge_table& purges() noexcept = 0;
    using purge_handler = std::move_only_function<void(bool published)>;
    /// Purges these groups: in this process before it returns, in every process that shares the store when `done` says
    /// so, plus the time they take to notice (memcached_options::purge_poll). `false`: it could not be published yet,
    /// and is as soon as it can.
    virtual void purge(std::span<const cache::purge_target> groups, bool soft, moment now, purge_handler done) = 0;

    struct totals {
        std::uint64_t bytes = 0, entries = 0, evictions = 0;
    };
    virtual totals memory_totals() const = 0;
    /// Counters since the start. Takes short locks: for a scrape, not for a request.
    virtual store_stats stats() const { return {}; }
};

}  // namespace etagere::store
