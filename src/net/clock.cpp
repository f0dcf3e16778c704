// Nothing else belongs into this file: a program that brings a clock of its own must not need anything from here.
#include "etagere/net/clock.hpp"

namespace etagere::net {

clock::time_point clock::now() noexcept {
    return std::chrono::steady_clock::now();
}

moment clock::wall_and_steady() noexcept {
    return {std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()),
            std::chrono::steady_clock::now()};
}

clock::duration clock::to_wait_duration(const duration& remaining) noexcept {
    return remaining;
}

}  // namespace etagere::net
