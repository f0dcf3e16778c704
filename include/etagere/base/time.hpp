// Time is passed in: the pure core takes `now` as an argument and never reads a clock.
#pragma once

#include <chrono>
#include <compare>
#include <optional>

namespace etagere {

using std::chrono::milliseconds;
using std::chrono::seconds;
/// Wall-clock time, for dates in fields and ages (RFC 9111 §4.2.3). May jump.
using wall_time = std::chrono::sys_time<milliseconds>;
/// Whole seconds of wall-clock time: what HTTP-date can say.
using wall_seconds = std::chrono::sys_seconds;
/// std::optional<wall_seconds> in eight bytes, for what is kept by the million.
class maybe_seconds {
public:
    constexpr maybe_seconds() = default;
    constexpr maybe_seconds(wall_seconds at) noexcept : at_(at) {}
    constexpr maybe_seconds(std::optional<wall_seconds> at) noexcept : at_(at.value_or(none)) {}
    constexpr operator std::optional<wall_seconds>() const noexcept {
        return has_value() ? std::optional(at_) : std::nullopt;
    }
    constexpr bool has_value() const noexcept { return at_ != none; }
    constexpr explicit operator bool() const noexcept { return has_value(); }
    constexpr wall_seconds operator*() const noexcept { return at_; }
    constexpr wall_seconds value_or(wall_seconds other) const noexcept { return has_value() ? at_ : other; }
    /// Nothing is before everything, as in std::optional.
    friend constexpr auto operator<=>(const maybe_seconds&, const maybe_seconds&) = default;

private:
    static constexpr wall_seconds none = wall_seconds::min();
    wall_seconds at_ = none;
};
/// Monotonic time, for deadlines and durations.
using steady_time = std::chrono::steady_clock::time_point;

/// What a worker knows about "now": read once a turn of its loop, then passed down.
struct moment {
    wall_time wall{};
    steady_time steady{};
};

}  // namespace etagere
