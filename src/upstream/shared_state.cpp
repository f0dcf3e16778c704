#include "shared_state.hpp"

#include "pool.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace etagere::upstream {

void permit::reset() noexcept {
    if (of_) std::exchange(of_, nullptr)->release();
}

shared_state::shared_state(options o) : settings(std::move(o)), addresses(settings.endpoints, settings.resolve_every) {}

pool_link& shared_state::attach(std::weak_ptr<pool> owner, const net::io_executor& executor) {
    const std::scoped_lock lock(mutex_);
    return pools_.emplace_back(pool_link{.executor = executor, .owner = std::move(owner)});
}

void shared_state::detach(pool_link& link) noexcept {
    const std::scoped_lock lock(mutex_);
    pools_.remove_if([&](const pool_link& l) { return &l == &link; });
}

permit shared_state::try_permit() {
    const std::scoped_lock lock(mutex_);
    if (open_ >= settings.max_connections) return {};
    ++open_;
    return permit(shared_from_this());
}

void shared_state::release() noexcept {
    std::shared_ptr<waiter> next;
    {
        const std::scoped_lock lock(mutex_);
        if (queue_.empty()) {
            --open_;
            return;
        }
        next = std::move(queue_.front());
        queue_.pop_front();
        next->now = waiter::state::granted;
    }
    wake(std::move(next));
}

void shared_state::wake(std::shared_ptr<waiter> w) {
    const net::io_executor executor = w->executor;
    net::asio::post(executor, [w = std::move(w)] {
        if (w->timer != nullptr) w->timer->cancel();
    });
}

shared_state::admission shared_state::enqueue(const std::shared_ptr<waiter>& w) {
    const std::scoped_lock lock(mutex_);
    if (open_ < settings.max_connections) {
        ++open_;
        w->now = waiter::state::granted;
        return admission::granted;
    }
    const auto rich = std::ranges::find_if(pools_, [](const pool_link& l) { return l.idle > l.asked; });
    if (rich != pools_.end()) {
        ++rich->asked;
        net::asio::post(rich->executor, [owner = rich->owner] {
            if (const auto p = owner.lock()) p->give_one_up();
        });
    } else if (queue_.size() >= settings.queue) {
        return admission::full;
    }
    w->place = queue_.insert(queue_.end(), w);
    return admission::queued;
}

bool shared_state::withdraw(waiter& w) noexcept {
    const std::scoped_lock lock(mutex_);
    if (w.now == waiter::state::granted) return false;
    if (std::exchange(w.now, waiter::state::withdrawn) == waiter::state::queued) queue_.erase(w.place);
    return true;
}

shared_state::verdict shared_state::offer(pool_link& link) {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) {
        ++link.idle;
        return {};
    }
    waiter& first = *queue_.front();
    auto own = std::ranges::find(queue_, &link, &waiter::from);
    if (own != queue_.begin()) {
        if (own == queue_.end() || first.passed_over >= most_passes) return {.what = fate::close, .to = nullptr};
        ++first.passed_over;
    }
    verdict out{.what = fate::hand_over, .to = std::move(*own)};
    queue_.erase(own);
    out.to->now = waiter::state::granted;
    return out;
}

void shared_state::no_longer_idle(pool_link& link) noexcept {
    const std::scoped_lock lock(mutex_);
    --link.idle;
}

bool shared_state::still_wanted(pool_link& link) noexcept {
    const std::scoped_lock lock(mutex_);
    --link.asked;
    return !queue_.empty();
}

totals shared_state::read() const {
    totals out;
    {
        const std::scoped_lock lock(mutex_);
        for (const pool_link& l : pools_) out.idle += l.idle;
        out.active = open_ - out.idle;
        out.queued = queue_.size();
    }
    out.queue_rejected = queue_rejected;
    out.retries = retries;
    out.connects = connects;
    out.connect_failures = connect_failures;
    return out;
}

std::shared_ptr<shared_state> make_shared_state(options o) {
    return std::make_shared<shared_state>(std::move(o));
}

totals read_totals(const shared_state& s) {
    return s.read();
}

}  // namespace etagere::upstream
