// Counters of a remote store. Atomics without order: they are read for a scrape only.
#pragma once

#include "etagere/store/stats.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace etagere::store {

class counters {
    template <class Enum> static constexpr std::size_t index(Enum e) noexcept { return static_cast<std::size_t>(e); }
    static constexpr auto operations = static_cast<std::size_t>(operation::count_);
    static constexpr auto outcomes = static_cast<std::size_t>(outcome::count_);

public:
    using count = std::atomic<std::uint64_t>;

    count corrupt, other_version, lost_bodies, dropped_writes, deduplicated;

    void add(operation op, outcome result) noexcept { increment(operations_[index(op)][index(result)]); }
    void add(operation op, outcome result, std::chrono::steady_clock::duration took) noexcept {
        add(op, result);
        auto& t = times_[index(op)];
        const auto bucket = std::ranges::lower_bound(duration_bounds, std::chrono::duration<double>(took).count());
        increment(t.buckets[static_cast<std::size_t>(bucket - duration_bounds.begin())]);
        increment(t.nanoseconds, static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count()));
    }
    static void increment(count& c, std::uint64_t by = 1) noexcept { c.fetch_add(by, std::memory_order_relaxed); }

    void read(store_stats& into) const {
        for (std::size_t op = 0; op < operations_.size(); ++op) {
            for (std::size_t result = 0; result < operations_[op].size(); ++result) {
                into.operations[op][result] += operations_[op][result];
            }
            auto& out = into.times[op];
            for (std::size_t i = 0; i < out.buckets.size(); ++i) {
                out.buckets[i] += times_[op].buckets[i];
                out.count += times_[op].buckets[i];
            }
            out.nanoseconds += times_[op].nanoseconds;
        }
        into.corrupt += corrupt;
        into.other_version += other_version;
        into.lost_bodies += lost_bodies;
        into.dropped_writes += dropped_writes;
        into.deduplicated += deduplicated;
    }

private:
    struct timing {
        std::array<count, duration_bounds.size() + 1> buckets{};
        count nanoseconds = 0;
    };
    std::array<std::array<count, outcomes>, operations> operations_{};
    std::array<timing, operations> times_{};
};

}  // namespace etagere::store
