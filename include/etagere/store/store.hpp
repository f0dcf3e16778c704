// The store contract: what every store (memory, memcached, the two as tiers) promises, and what the conformance suite
// tests. A store may forget anything at any time; it never gives back anything else than what was put under that key.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/base/time.hpp"
#include "etagere/cache/purging.hpp"
#include "etagere/store/object.hpp"
#include "etagere/store/stats.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace etagere::store {

class purge_table;

/// Which level answered: `store` of the access log, `detail` of Cache-Status.
enum class level : std::uint8_t { none, memory, memcached };
std::string_view name(level l) noexcept;

struct found {
    variant_set set;  // empty: nothing there
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
    /// Several of them at once: what goes to one place goes there together.
    struct question {
        std::string_view key;  // until load_all() returns
        /// The body will be wanted: where the store can guess which, it is asked for together with the heads and comes
        /// along. Whoever finds that its object has none asks load_body().
        bool whole = false;
        found_handler done;
    };
    virtual void load_all(std::span<question> asked, moment now) {
        for (question& q : asked) load(q.key, now, std::move(q.done));
    }
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
