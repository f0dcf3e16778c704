// memcached's idea of time.
#pragma once

#include "etagere/base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace etagere::store {

/// What to send so that an item lives until `keep_until`. memcached reads up to 30 days as seconds from now, which no
/// skew between the clocks can spoil, and more as a Unix time of 31 bits; what is meant as "90 days" would be 1970.
inline std::int64_t memcached_expiry(wall_time keep_until, wall_time now) noexcept {
    constexpr seconds relative_most = std::chrono::days(30);
    constexpr std::int64_t absolute_most = INT32_MAX;
    const seconds lifetime = std::chrono::ceil<seconds>(keep_until - now);
    if (lifetime <= seconds{0}) return -1;
    if (lifetime <= relative_most) return lifetime.count();
    const std::int64_t absolute =
        std::min(std::chrono::ceil<seconds>(keep_until.time_since_epoch()).count(), absolute_most);
    const std::int64_t now_absolute = std::chrono::ceil<seconds>(now.time_since_epoch()).count();
    return absolute - now_absolute > relative_most.count() ? absolute : relative_most.count();
}

/// Of an entity, which several keys may share: touching it for one that lives shortly must not end the others' early,
/// and memcached does not tell what an item's time was. A day covers all but the long-lived.
inline std::int64_t entity_expiry(wall_time keep_until, wall_time now) noexcept {
    return memcached_expiry(std::max<wall_time>(keep_until, now + std::chrono::days(1)), now);
}

}  // namespace etagere::store
