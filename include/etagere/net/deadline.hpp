// Deadlines for every wait: one coarse wheel a worker instead of a timer an operation. Arming costs a store in the common
// case: a deadline that moves later is put right when its old slot comes up.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"

namespace etagere::net {

class deadline_wheel;

/// Calls `expire` once, on the worker, at or up to two ticks after the armed time (tick: 10 ms). Typically it cancels or
/// closes a socket, so that the awaiting operation comes back and asks expired(). Not thread-safe: belongs to its worker.
class deadline {
public:
    deadline(deadline_wheel& wheel, std::move_only_function<void()> expire);
    ~deadline();
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    void arm(steady_time at) noexcept;
    void disarm() noexcept { at_ = steady_time::max(); }
    /// True from expiry until arm() is called again.
    bool expired() const noexcept { return expired_; }

private:
    friend class deadline_wheel;
    void link(deadline*& head) noexcept;
    void unlink() noexcept;

    deadline_wheel& wheel_;
    std::move_only_function<void()> expire_;
    steady_time at_ = steady_time::max();
    steady_time slot_time_ = steady_time::max();  // when its slot comes up; never later than at_ while linked
    deadline* next_ = nullptr;
    deadline** link_ = nullptr;
    bool expired_ = false;
};

class deadline_wheel {
public:
    static constexpr milliseconds tick{10};
    static constexpr std::size_t slots = 1024;

    explicit deadline_wheel(asio::io_context& io);
    ~deadline_wheel();
    deadline_wheel(const deadline_wheel&) = delete;
    deadline_wheel& operator=(const deadline_wheel&) = delete;

    /// Runs what is due at `now`. Called by the wheel's own timer; tests call it with a virtual time.
    void advance(steady_time now);

private:
    friend class deadline;
    std::uint64_t tick_of(steady_time t) const noexcept;
    void place(deadline& d) noexcept;
    void schedule();

    std::array<deadline*, slots> heads_{};
    std::uint64_t done_ = 0;  // the last tick that ran
    steady_time wakes_at_ = steady_time::max();
    steady_timer timer_;
};

}  // namespace etagere::net
