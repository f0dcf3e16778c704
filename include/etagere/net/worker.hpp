// A worker: one thread, one io_context, its deadlines. A connection lives and dies on the worker that accepted it; to
// talk to another worker, post to its executor.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"
#include "etagere/net/deadline.hpp"

#include <chrono>
#include <memory>

namespace etagere::net {

class worker {
public:
    explicit worker(unsigned number) : number_(number) {}

    unsigned number() const noexcept { return number_; }  // 0 … workers−1: index of per-worker counters
    asio::io_context& io() noexcept { return io_; }
    io_executor executor() noexcept { return io_.get_executor(); }
    deadline_wheel& deadlines() noexcept { return deadlines_; }
    /// The clocks of the program are read here and nowhere else on the data path.
    moment now() const noexcept {
        return {std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()),
                std::chrono::steady_clock::now()};
    }

private:
    unsigned number_;
    asio::io_context io_{1};
    deadline_wheel deadlines_{io_};
};

}  // namespace etagere::net
