#include "etagere/exchange/route_memory.hpp"

namespace etagere::exchange {

namespace {

/// A new release of the origin may understand more. What asking again costs is one answer in full.
constexpr std::chrono::minutes lesson_lasts{10};

}  // namespace

cache::offer_form route_memory::form(steady_time now) const noexcept {
    const cache::offer_form form = form_.load(std::memory_order_relaxed);
    const steady_time at{steady_time::duration(learned_at_.load(std::memory_order_relaxed))};
    return form != 0 && now - at > lesson_lasts ? cache::offer_form{0} : form;
}

void route_memory::learned(cache::offer_form form, steady_time now) noexcept {
    learned_at_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    form_.store(form, std::memory_order_relaxed);
}

// Multiples of the golden ratio, modulo one, fill the unit interval evenly and in no step with a client's rhythm.
bool route_memory::sampled(double share) noexcept {
    if (share <= 0) return false;
    const std::uint64_t n = validations_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<double>(n * 0x9E3779B97F4A7C15U) < share * 0x1p64;
}

}  // namespace etagere::exchange
