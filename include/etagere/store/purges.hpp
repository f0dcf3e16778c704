// What was purged: a number for each purged group, and the question whether a stored object is older than the numbers
// of its groups. So a purge costs the same whatever it hits, and an answer that was asked for before a purge and comes
// in after it is caught as well (src/docs/adr/0019-purging-by-generations.md).
#pragma once

#include "etagere/cache/purging.hpp"
#include "etagere/store/record_journal.hpp"
#include "etagere/store/store.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace etagere::store {

/// Of one store. Thread-safe. On the way of a hit nothing is locked and nothing allocated while nothing was purged
/// since the object was last looked at; the first look after a purge takes a shared lock.
class purge_table {
public:
    /// `shared`: a journal that other processes write too says what counts, and nothing of it is known yet. Otherwise
    /// every purge counts at once.
    explicit purge_table(bool shared);

    /// To be read before a request is sent to the origin, and kept with the answer.
    cache::purge_mark mark() const;

    /// Whether `o` may be used for this request. `route` and `rules` are those of the request.
    cache::purge_state judge(const object& o, const http::request_head& request, std::string_view route,
                             const cache::policy& rules, std::string& scratch) const;

    /// From here on, in this process.
    void purge(std::span<const cache::purge_target> targets, bool soft, wall_time now);

    // ---- for who keeps the journal

    bool known() const;
    std::size_t pending() const;
    /// Takes over what others have published. A journal of another era replaces what is known; purges of this process
    /// that are not published yet stay.
    void adopt(const record::journal& read);
    /// What to write so that nothing that is known here is missing in it: `read` (empty: there is none) with our
    /// pending purges, numbered. nullopt: nothing is missing.
    struct edition {
        record::journal journal;
        std::vector<std::pair<record::journal::entry, std::uint64_t>> ours;  // with the local number each had
    };
    std::optional<edition> next_edition(const std::optional<record::journal>& read, std::uint64_t new_era,
                                        wall_time now) const;
    /// It was written.
    void published(const edition& e);

private:
    struct name {
        cache::group_id group = 0;
        bool soft = false;
        friend bool operator==(const name&, const name&) = default;
    };
    struct name_hash {
        std::size_t operator()(const name& n) const noexcept { return n.group ^ (n.soft ? 0x9E3779B97F4A7C15U : 0U); }
    };
    struct number {
        std::uint64_t seq = 0;    // 0: not published yet
        std::uint64_t local = 0;  // 0: another process's
        wall_time since{};
        std::uint16_t prefix_length = 0;
    };

    void look(cache::group_id group, const object& o, cache::purge_state& out) const;
    cache::purge_state judge_slowly(const object& o, const http::request_head& request, std::string_view route,
                                    const cache::policy& rules, std::string& scratch) const;
    void set(const name& n, const number& to);
    void take(const record::journal::entry& e);
    void forget_covered();
    void bound();
    void changed() noexcept { version_.fetch_add(1, std::memory_order_release); }

    const bool shared_;
    std::atomic<std::uint64_t> version_{1};  // moved on by every change
    mutable std::shared_mutex mutex_;
    std::uint64_t era_;
    std::uint64_t newest_ = 0;
    std::uint64_t floor_ = 0;
    std::uint64_t local_ = 1;  // 0 is what comes out of a record
    std::size_t pending_ = 0;
    std::unordered_map<name, number, name_hash> numbers_;
    std::vector<std::uint16_t> prefix_lengths_;  // of all prefixes in numbers_, sorted
};

}  // namespace etagere::store
