// Coroutines of one worker that wait for something to happen.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"

#include <list>

namespace etagere::upstream {

/// Not thread-safe: belongs to its worker. Must outlive those who wait.
class gate {
public:
    /// True when open() was called, false when the time ran out first.
    net::task<bool> wait_until(net::io_executor on, steady_time until) {
        net::steady_timer timer(on, until);
        const entry here(waiting_, timer);
        auto [ec] = co_await timer.async_wait(net::use_task);
        co_return ec == net::asio::error::operation_aborted;
    }
    /// Wakes those who wait now.
    void open() noexcept {
        for (net::steady_timer* t : waiting_) t->cancel();
    }

private:
    using list = std::list<net::steady_timer*>;
    class entry {
    public:
        entry(list& in, net::steady_timer& timer) : in_(in), at_(in.insert(in.end(), &timer)) {}
        ~entry() { in_.erase(at_); }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

    private:
        list& in_;
        list::iterator at_;
    };
    list waiting_;
};

}  // namespace etagere::upstream
