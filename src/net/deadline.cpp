#include "etagere/net/deadline.hpp"

#include <algorithm>
#include <utility>

namespace etagere::net {

namespace {

using ticks = std::chrono::duration<std::int64_t, std::ratio<1, 100>>;
static_assert(ticks{1} == deadline_wheel::tick);

std::uint64_t not_negative(ticks t) noexcept {
    return static_cast<std::uint64_t>(std::max(t, ticks{0}).count());
}

/// The last tick that has begun at `t`.
std::uint64_t tick_at(steady_time t) noexcept {
    return not_negative(std::chrono::floor<ticks>(t.time_since_epoch()));
}

/// The first tick that does not come up before `t`.
std::uint64_t tick_for(steady_time t) noexcept {
    return not_negative(std::chrono::ceil<ticks>(t.time_since_epoch()));
}

steady_time time_of(std::uint64_t tick) noexcept {
    return steady_time{ticks{static_cast<std::int64_t>(tick)}};
}

}  // namespace

deadline::deadline(deadline_wheel& wheel, std::move_only_function<void()> expire)
    : wheel_(wheel), expire_(std::move(expire)) {}

deadline::~deadline() {
    unlink();
    if (destroyed_ != nullptr) *destroyed_ = true;
}

void deadline::arm(steady_time at) noexcept {
    expired_ = false;
    at_ = at;
    if (at == steady_time::max()) return;
    // Later than its slot: put right when the slot comes up.
    if (link_ != nullptr && slot_time_ - deadline_wheel::tick < at) return;
    unlink();
    wheel_.place(*this);
}

void deadline::link(deadline*& head) noexcept {
    next_ = head;
    link_ = &head;
    if (next_ != nullptr) next_->link_ = &next_;
    head = this;
}

void deadline::unlink() noexcept {
    if (link_ == nullptr) return;
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    next_ = nullptr;
    link_ = nullptr;
}

deadline_wheel::deadline_wheel(asio::io_context& io) : alive_(std::make_shared<char>()), timer_(io.get_executor()) {}

deadline_wheel::~deadline_wheel() {
    for (deadline*& head : heads_) {
        while (head != nullptr) head->unlink();
    }
}

void deadline_wheel::place(deadline& d) {
    // While no wake-up is pending nothing is linked, and done_ may lie far back: without this, everything armed after a
    // quiet time would first go to a slot of the past, for one wake-up too many.
    if (wakes_at_ == steady_time::max() && !advancing_) {
        done_ = std::max(done_, tick_at(clock::now()));
    }
    const std::uint64_t at = std::clamp(tick_for(d.at_), done_ + 1, done_ + slots);
    d.slot_time_ = time_of(at);
    d.link(heads_[at % slots]);
    if (!advancing_) wake_at(d.slot_time_);
}

void deadline_wheel::advance(steady_time now) {
    const std::uint64_t current = tick_at(now);
    if (current > done_) {
        // After a long sleep every slot is looked at once.
        const std::uint64_t first = current - std::min<std::uint64_t>(current - done_, slots) + 1;
        done_ = current;
        advancing_ = true;
        for (std::uint64_t t = first; t <= current; ++t) run_slot(heads_[t % slots], now);
        advancing_ = false;
    }
    schedule();
}

void deadline_wheel::run_slot(deadline*& head, steady_time now) {
    // Taken off first: what is placed meanwhile, perhaps in this very slot, belongs to a later turn. The list stays
    // linked, so that an `expire` may destroy any of its members.
    deadline* due = std::exchange(head, nullptr);
    if (due != nullptr) due->link_ = &due;
    while (due != nullptr) {
        deadline& d = *due;
        d.unlink();
        if (d.at_ <= now) {
            expire(d);
        } else if (d.at_ != steady_time::max()) {
            place(d);
        }
    }
}

void deadline_wheel::expire(deadline& d) {
    bool destroyed = false;
    d.at_ = steady_time::max();
    d.expired_ = true;
    d.destroyed_ = &destroyed;
    // Not called in place: a function must not be destroyed while it runs.
    auto call = std::move(d.expire_);
    call();
    if (destroyed) return;
    d.expire_ = std::move(call);
    d.destroyed_ = nullptr;
}

void deadline_wheel::schedule() {
    for (std::uint64_t t = done_ + 1; t <= done_ + slots; ++t) {
        if (heads_[t % slots] == nullptr) continue;
        wake_at(time_of(t));
        return;
    }
}

void deadline_wheel::wake_at(steady_time at) {
    if (at >= wakes_at_) return;
    wakes_at_ = at;
    timer_.expires_at(at);
    timer_.async_wait([this, alive = std::weak_ptr<void>(alive_)](const boost::system::error_code& ec) {
        if (ec || alive.expired()) return;
        wakes_at_ = steady_time::max();
        advance(clock::now());
    });
}

}  // namespace etagere::net
