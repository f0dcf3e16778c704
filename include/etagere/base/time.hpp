// Time is passed in: the pure core takes `now` as an argument and never reads a clock.
#pragma once

#include <chrono>

namespace etagere {

using std::chrono::milliseconds;
using std::chrono::seconds;
/// Wall-clock time, for dates in fields and ages (RFC 9111 §4.2.3). May jump.
using wall_time = std::chrono::sys_time<milliseconds>;
/// Whole seconds of wall-clock time: what HTTP-date can say.
using wall_seconds = std::chrono::sys_seconds;
/// Monotonic time, for deadlines and durations.
using steady_time = std::chrono::steady_clock::time_point;

/// What a worker knows about "now": read once a turn of its loop, then passed down.
struct moment {
    wall_time wall{};
    steady_time steady{};
};

}  // namespace etagere
