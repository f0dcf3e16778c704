// Deadlines for every wait: one coarse wheel a worker instead of a timer an operation. Arming costs a store in the
// common case: a deadline that moves later is put right when its old slot comes up.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

namespace etagere::net {

class deadline_wheel;

/// Calls `expire` once, on the worker, at or up to two ticks after the armed time (tick: 10 ms). Typically it cancels
/// or closes a socket, so that the awaiting operation comes back and asks expired(). `expire` may arm and destroy
/// deadlines, its own included. Not thread-safe: belongs to its worker. May outlive the wheel, but must not be armed
/// then.
class deadline {
public:
    deadline(deadline_wheel& wheel, std::move_only_function<void()> expire);
    ~deadline();
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;

    /// Replaces an earlier arming. A time that has passed expires with the next tick; steady_time::max() is disarm().
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
    steady_time slot_time_ = steady_time::max();  // when its slot comes up; less than a tick after at_ while linked
    deadline* next_ = nullptr;
    deadline** link_ = nullptr;  // what points to it: a head or the next_ before; null while it is in no slot
    bool* destroyed_ = nullptr;  // set while `expire` runs: where to say that this object is gone
    bool expired_ = false;
};

class deadline_wheel {
public:
    static constexpr milliseconds tick{10};
    static constexpr std::size_t slots = 1024;

    explicit deadline_wheel(asio::io_context& io);
    /// Forgets what is armed; nothing expires any more. Not to be called by an `expire`.
    ~deadline_wheel();
    deadline_wheel(const deadline_wheel&) = delete;
    deadline_wheel& operator=(const deadline_wheel&) = delete;

    /// Runs what is due at `now`. Called by the wheel's own timer; tests call it with a virtual time, not before the
    /// steady clock's. Not to be called by an `expire`.
    void advance(steady_time now);
    /// When the wheel's timer will wake the worker; steady_time::max() while nothing is armed.
    steady_time wakes_at() const noexcept { return wakes_at_; }

private:
    friend class deadline;
    void place(deadline& d);
    void expire(deadline& d);
    void run_slot(deadline*& head, steady_time now);
    void schedule();
    void wake_at(steady_time at);

    std::array<deadline*, slots> heads_{};  // a deadline of tick t hangs at t mod slots, at most `slots` ticks ahead
    std::uint64_t done_ = 0;                // the last tick that ran
    bool advancing_ = false;
    steady_time wakes_at_ = steady_time::max();
    std::shared_ptr<void> alive_;  // a wait that has completed but not yet been delivered outlives the timer
    steady_timer timer_;
};

}  // namespace etagere::net
