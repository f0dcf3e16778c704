// The clock of the program: wall time for dates and ages, steady time for deadlines, and how long a timer sleeps until
// one. It is a dependency that the linker puts in: the program gets clock.cpp, the conversations of tests/conversations
// get their own. Nothing but the workers and their timers asks it; the core takes `now` as an argument.
#pragma once

#include "etagere/base/time.hpp"

#include <chrono>

namespace etagere::net {

/// Meets Asio's requirements of a clock and of its wait traits. Thread-safe.
struct clock {
    using duration = std::chrono::steady_clock::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = steady_time;
    static constexpr bool is_steady = true;

    static time_point now() noexcept;
    static moment wall_and_steady() noexcept;
    /// How long to sleep when `remaining` is left; a timer that wakes too early looks again.
    static duration to_wait_duration(const duration& remaining) noexcept;
    static duration to_wait_duration(const time_point& until) noexcept { return to_wait_duration(until - now()); }
};

}  // namespace etagere::net
