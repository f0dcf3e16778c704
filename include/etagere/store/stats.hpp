// What a store counted since it was made: plain values, printed by `observe` as etagere_store_* metrics.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::store {

enum class operation : std::uint8_t { peek, load, load_body, put, freshen, erase, count_ };
std::string_view name(operation op) noexcept;  // the `op` label

enum class outcome : std::uint8_t {
    ok,
    miss,
    timeout,      // the store's own deadline
    unavailable,  // breaker open, full queue, or stopping: answered at once
    error,        // refused connection, closed connection, an answer that is none
    too_large,    // not kept
    count_
};
std::string_view name(outcome result) noexcept;  // the `result` label

/// Upper bounds of the buckets in seconds; the last bucket has none.
inline constexpr std::array<double, 14> duration_bounds{.0005, .001, .0025, .005, .01, .025, .05,
                                                        .1,    .25,  .5,    1,    2.5, 5,    10};

struct durations {
    std::array<std::uint64_t, duration_bounds.size() + 1> buckets{};  // each counts its own range only
    std::uint64_t nanoseconds = 0;                                    // sum
    std::uint64_t count = 0;
};

enum class breaker_state : std::uint8_t { closed, open, half_open };

/// One memcached server.
struct server_stats {
    std::string name;  // host:port
    breaker_state breaker = breaker_state::closed;
    std::uint64_t opened = 0;       // times the breaker opened
    std::uint64_t queue_depth = 0;  // operations that wait for the lane
    std::uint64_t reconnects = 0;   // connections closed because of a timeout or a surprise
    std::uint64_t owed_erases = 0;  // kept for when the server is back
    std::uint64_t lost_erases = 0;  // given up: the entries live until they expire
};

struct store_stats {
    /// [operation][outcome]. `peek` is memory; the rest is the remote level where there is one, memory otherwise.
    std::array<std::array<std::uint64_t, static_cast<std::size_t>(outcome::count_)>,
               static_cast<std::size_t>(operation::count_)>
        operations{};
    /// Of the remote level only: reading a clock for a memory hit would cost more than the hit.
    std::array<durations, static_cast<std::size_t>(operation::count_)> times{};

    std::uint64_t corrupt = 0;          // records that did not verify: misses
    std::uint64_t other_version = 0;    // records of another format version: misses
    std::uint64_t lost_bodies = 0;      // meta record there, entity gone
    std::uint64_t dropped_writes = 0;   // full queue or breaker open
    std::uint64_t deduplicated = 0;     // bodies that were there already
    std::uint64_t pending_writes = 0;   // gauge
    std::uint64_t pending_purges = 0;   // gauge: known here, and not yet to others
    std::vector<server_stats> servers;  // empty for memory alone

    std::uint64_t& of(operation op, outcome result) {
        return operations.at(static_cast<std::size_t>(op)).at(static_cast<std::size_t>(result));
    }
    std::uint64_t of(operation op, outcome result) const {
        return operations.at(static_cast<std::size_t>(op)).at(static_cast<std::size_t>(result));
    }
};

}  // namespace etagere::store
