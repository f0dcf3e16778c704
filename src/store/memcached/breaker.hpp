// Keeps a server that does not answer from costing every request its timeout. Pure: time is passed in. Not thread-safe.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/store/stats.hpp"

#include <cstdint>

namespace etagere::store {

/// Closed: all may pass. After `failures` in a row: open, nobody may. After `open_for`: half open, one may try; its
/// success closes, its failure opens again. A try that never reports (dropped on its way) is replaced after `open_for`.
class breaker {
public:
    breaker(std::uint32_t failures, milliseconds open_for) noexcept : most_(failures), open_for_(open_for) {}

    bool allow(steady_time now) noexcept {
        if (state_ == breaker_state::closed) return true;
        if (now < until_) return false;
        state_ = breaker_state::half_open;
        until_ = now + open_for_;
        return true;
    }
    void succeeded() noexcept {
        state_ = breaker_state::closed;
        in_a_row_ = 0;
    }
    /// True where this failure opened it.
    bool failed(steady_time now) noexcept {
        if (state_ == breaker_state::closed && ++in_a_row_ < most_) return false;
        const bool opened = state_ != breaker_state::open;
        state_ = breaker_state::open;
        until_ = now + open_for_;
        return opened;
    }
    breaker_state state() const noexcept { return state_; }
    /// When the next may try; meaningful while not closed.
    steady_time until() const noexcept { return until_; }

private:
    std::uint32_t most_;
    milliseconds open_for_;
    std::uint32_t in_a_row_ = 0;
    breaker_state state_ = breaker_state::closed;
    steady_time until_{};
};

}  // namespace etagere::store
