#include "pool.hpp"

#include <algorithm>

#include <boost/asio/ip/tcp.hpp>

namespace etagere::upstream {

namespace asio = net::asio;

namespace {

/// A place in the queue, left in whatever way the coroutine ends.
class place_in_queue {
public:
    place_in_queue(std::shared_ptr<shared_state> shared, pool_link& link, net::steady_timer& timer)
        : shared_(std::move(shared)), waiter_(std::make_shared<waiter>(link)) {
        waiter_->timer = &timer;
    }
    ~place_in_queue() {
        waiter_->timer = nullptr;
        if (joined_) settle();
    }
    place_in_queue(const place_in_queue&) = delete;
    place_in_queue& operator=(const place_in_queue&) = delete;

    shared_state::admission join() {
        const auto how = shared_->enqueue(waiter_);
        joined_ = how != shared_state::admission::full;
        return how;
    }
    struct grant {
        std::shared_ptr<connection> kept;
        permit slot;
    };
    /// What it was given; both empty where its time ran out first.
    grant settle() {
        joined_ = false;
        grant out;
        if (shared_->withdraw(*waiter_)) return out;
        out.kept = std::move(waiter_->kept);
        if (!out.kept) out.slot = permit(shared_);
        return out;
    }

private:
    std::shared_ptr<shared_state> shared_;
    std::shared_ptr<waiter> waiter_;
    bool joined_ = false;
};

}  // namespace

std::shared_ptr<pool> pool::make(net::worker& on, std::shared_ptr<shared_state> shared) {
    auto out = std::make_shared<pool>(on, std::move(shared));
    out->link_ = &out->shared_->attach(out, on.executor());
    return out;
}

pool::pool(net::worker& on, std::shared_ptr<shared_state> shared)
    : on_(on), shared_(std::move(shared)), looking_up_(shared_->settings.endpoints.size()) {}

pool::~pool() {
    close_idle();
    shared_->detach(*link_);
}

// --- where to ---

std::optional<target> pool::locate_now(steady_time now) {
    const auto choice = shared_->addresses.pick(now);
    if (choice.look_up) look_up(*choice.look_up);
    return choice.to;
}

net::task<result<target>> pool::locate(steady_time until) {
    if (const auto here = locate_now(on_.steady_now())) co_return *here;
    // Each worker asks for itself here: nobody else would wake it.
    for (const std::size_t name : shared_->addresses.unknown()) look_up(name);
    bool in_time = true;
    while (in_time && std::ranges::find(looking_up_, true) != looking_up_.end()) {
        in_time = co_await looked_up_.wait_until(on_.executor(), until);
        if (const auto here = locate_now(on_.steady_now())) co_return *here;
    }
    co_return fail(errc::no_endpoint);
}

void pool::look_up(std::size_t endpoint) {
    if (looking_up_[endpoint]) return;
    looking_up_[endpoint] = true;
    net::spawn(on_.executor(), resolve(shared_from_this(), endpoint));
}

net::task<void> pool::resolve(std::shared_ptr<pool> self, std::size_t endpoint) {
    const endpoint_options& e = self->settings().endpoints[endpoint];
    // getaddrinfo runs on a thread of Asio's, so that a slow name server holds up nobody who has an address.
    asio::ip::basic_resolver<asio::ip::tcp, net::io_executor> resolver(self->on_.executor());
    auto [ec, found] = co_await resolver.async_resolve(e.host, std::to_string(e.port),
                                                       asio::ip::resolver_base::numeric_service, net::use_task);
    std::vector<net::stream_endpoint> addresses;
    if (!ec) {
        for (const auto& one : found) addresses.emplace_back(one.endpoint());
    }
    self->shared_->addresses.found(endpoint, addresses);
    self->looking_up_[endpoint] = false;
    self->looked_up_.open();
}

// --- connections ---

std::shared_ptr<connection> pool::take(std::size_t endpoint) {
    if (auto kept = take_idle(endpoint)) return kept;
    if (permit slot = shared_->try_permit()) return std::make_shared<connection>(on_, std::move(slot));
    return take_idle(std::nullopt);
}

std::shared_ptr<connection> pool::take_idle(std::optional<std::size_t> endpoint) {
    for (std::size_t at = idle_.size(); at-- > 0;) {
        if (endpoint && idle_[at]->endpoint != *endpoint) continue;
        auto c = remove_idle(at);
        if (c->quiet()) return c;
        c->close();
    }
    return nullptr;
}

std::shared_ptr<connection> pool::remove_idle(std::size_t at) noexcept {
    const auto place = idle_.begin() + static_cast<std::ptrdiff_t>(at);
    auto c = std::move(*place);
    idle_.erase(place);
    shared_->no_longer_idle(*link_);
    c->unwatch();
    return c;
}

net::task<result<std::shared_ptr<connection>>> pool::wait(steady_time until) {
    net::steady_timer timer(on_.executor(), until);
    place_in_queue place(shared_, *link_, timer);
    const auto how = place.join();
    if (how == shared_state::admission::full) {
        shared_->queue_rejected.fetch_add(1, std::memory_order_relaxed);
        co_return fail(errc::queue_full);
    }
    if (how == shared_state::admission::queued) co_await timer.async_wait(net::use_task);
    auto granted = place.settle();
    if (granted.kept) co_return std::move(granted.kept);
    if (granted.slot) co_return std::make_shared<connection>(on_, std::move(granted.slot));
    co_return fail(errc::queue_timeout);
}

void pool::give_back(std::shared_ptr<connection> c) {
    if (retired_) {
        c->close();
        return;
    }
    const auto verdict = shared_->offer(*link_);
    switch (verdict.what) {
        case shared_state::fate::close: c->close(); return;
        case shared_state::fate::hand_over:
            verdict.to->kept = std::move(c);
            if (verdict.to->timer != nullptr) verdict.to->timer->cancel();
            return;
        case shared_state::fate::keep: break;
    }
    c->input.shrink();
    c->watch(on_.steady_now() + settings().idle_timeout, [this, gone = c.get()] {
        const auto at = std::ranges::find(idle_, gone, &std::shared_ptr<connection>::get);
        remove_idle(static_cast<std::size_t>(at - idle_.begin()))->close();
    });
    idle_.push_back(std::move(c));
}

void pool::give_one_up() {
    if (shared_->still_wanted(*link_) && !idle_.empty()) remove_idle(0)->close();
}

void pool::close_idle() noexcept {
    while (!idle_.empty()) remove_idle(idle_.size() - 1)->close();
}

void pool::retire() noexcept {
    retired_ = true;
    close_idle();
}

}  // namespace etagere::upstream
