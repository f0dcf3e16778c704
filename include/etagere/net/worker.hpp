// A worker: one thread, one io_context, its deadlines. A connection lives and dies on the worker that accepted it; to
// talk to another worker, post to its executor.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"
#include "etagere/net/clock.hpp"
#include "etagere/net/deadline.hpp"
#include "etagere/net/turn.hpp"

#include <array>
#include <span>
#include <utility>

namespace etagere::net {

class worker {
public:
    explicit worker(unsigned number) : number_(number) {}

    unsigned number() const noexcept { return number_; }  // 0 … workers−1: index of per-worker counters
    asio::io_context& io() noexcept { return io_; }
    io_executor executor() noexcept { return io_.get_executor(); }
    deadline_wheel& deadlines() noexcept { return deadlines_; }
    /// Where sends are done: `co_await on.end_of_turn([&] { n = send(…); });`
    template <class Act> auto end_of_turn(Act act) noexcept { return turn_.end(executor(), std::move(act)); }
    /// Room for what is put together and used before anything else runs on this worker.
    std::span<char> scratch() noexcept { return scratch_; }
    /// The one way to the time on the data path; the steady one alone where a deadline is all that is wanted.
    moment now() const noexcept { return clock::wall_and_steady(); }
    steady_time steady_now() const noexcept { return clock::now(); }

private:
    unsigned number_;
    std::array<char, 4096> scratch_{};
    turn turn_;  // outlives the handlers of io_
    // Other threads post to it and use none of its sockets: their operations need no locks.
    asio::io_context io_{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
    deadline_wheel deadlines_{io_};
};

}  // namespace etagere::net
