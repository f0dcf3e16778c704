// What is learned about a route while a configuration runs; a reload forgets it.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/cache/offer.hpp"

#include <atomic>
#include <cstdint>

namespace etagere::exchange {

/// Shared by all workers. Thread-safe without a lock: two that learn at once lose one lesson, which is then learned
/// again.
class route_memory {
public:
    /// Which form of a tag offer this route's origin is known to understand (cache::learn).
    cache::offer_form form(steady_time now) const noexcept;
    void learned(cache::offer_form form, steady_time now) noexcept;

    /// True for `share` (0 to 1) of the calls, evenly spread, the first one included; the same in every run.
    bool sampled(double share) noexcept;
    /// At most one audit of a route at a time: true for who may begin one, and then has to end it.
    bool begin_audit() noexcept { return !auditing_.exchange(true, std::memory_order_acquire); }
    void end_audit() noexcept { auditing_.store(false, std::memory_order_release); }

private:
    std::atomic<cache::offer_form> form_{0};
    std::atomic<steady_time::rep> learned_at_{0};
    std::atomic<std::uint64_t> validations_{0};
    std::atomic<bool> auditing_{false};
};

}  // namespace etagere::exchange
