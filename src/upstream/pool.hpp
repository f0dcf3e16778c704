// One worker's connections to one origin: the idle ones, the way to get one, and the names it looks up.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/net/worker.hpp"

#include "connection.hpp"
#include "gate.hpp"
#include "shared_state.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace etagere::upstream {

/// Belongs to its worker. Lives as long as its cluster and every call of it.
class pool : public std::enable_shared_from_this<pool> {
public:
    static std::shared_ptr<pool> make(net::worker& on, std::shared_ptr<shared_state> shared);
    pool(net::worker& on, std::shared_ptr<shared_state> shared);
    ~pool();
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    const options& settings() const noexcept { return shared_->settings; }
    shared_state& shared() noexcept { return *shared_; }
    net::worker& on() noexcept { return on_; }
    http::h1::response_parser& parser() noexcept { return parser_; }

    /// The endpoint whose turn it is. Waits for the resolver only where no endpoint has an address: no_endpoint.
    net::task<result<target>> locate(steady_time until);
    std::optional<target> locate_now(steady_time now);

    /// A kept connection, to `endpoint` if there is one, or a place for a new one, which is not connected yet. Null
    /// where the request has to wait.
    std::shared_ptr<connection> take(std::size_t endpoint);
    /// The same, waiting in the queue: queue_full, queue_timeout.
    net::task<result<std::shared_ptr<connection>>> wait(steady_time until);
    /// Takes back a connection that may carry another request.
    void give_back(std::shared_ptr<connection> c);

    /// Another worker needs a connection more than this one needs its oldest idle one.
    void give_one_up();
    void close_idle() noexcept;
    /// Nothing is kept from now on.
    void retire() noexcept;

private:
    std::shared_ptr<connection> take_idle(std::optional<std::size_t> endpoint);
    std::shared_ptr<connection> remove_idle(std::size_t at) noexcept;
    void look_up(std::size_t endpoint);
    static net::task<void> resolve(std::shared_ptr<pool> self, std::size_t endpoint);

    net::worker& on_;
    std::shared_ptr<shared_state> shared_;
    pool_link* link_ = nullptr;
    std::vector<std::shared_ptr<connection>> idle_;  // the most recently used one last
    http::h1::response_parser parser_;
    bool retired_ = false;
    std::vector<bool> looking_up_;  // by endpoint
    gate looked_up_;
};

}  // namespace etagere::upstream
