// Nothing else belongs into this file: a program that brings a clock of its own must not need anything from here.
#include "etagere/net/clock.hpp"

namespace etagere::net {

clock::time_point clock::now() noexcept {
    return std::chrono::steady_clock::now();
}

moment clock::wall_and_steady() noexcept {
    // Every request asks several times. One clock is read, the other follows at a distance that is measured again and
    // again: a wall clock that is set is noticed after `trust`.
    constexpr milliseconds trust{10};
    struct distance {
        steady_time known_until{};
        duration wall_ahead{};
    };
    thread_local distance known;
    const steady_time steady = std::chrono::steady_clock::now();
    if (steady >= known.known_until) {
        const auto wall = std::chrono::system_clock::now().time_since_epoch();
        known = {.known_until = steady + trust, .wall_ahead = wall - steady.time_since_epoch()};
    }
    return {wall_time(std::chrono::floor<milliseconds>(steady.time_since_epoch() + known.wall_ahead)), steady};
}

clock::duration clock::to_wait_duration(const duration& remaining) noexcept {
    return remaining;
}

}  // namespace etagere::net
