// One HTTP/1 client connection: reads heads, hands transactions to its handler, writes answers, in order (RFC 9112
// §9.3.2).
#pragma once

#include "etagere/http/h1/body.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/net/transaction.hpp"

#include <memory>
#include <string>

namespace etagere::net {

/// Bounds of one client connection. A duration of zero turns that deadline off.
struct connection_options {
    http::h1::head_limits head;
    std::string scheme = "http";
    std::uint64_t body_bytes = UINT64_MAX;
    milliseconds header_timeout{5000};  // from a head's first byte to its last
    milliseconds body_timeout{30000};   // longest pause inside a request body
    std::uint64_t min_body_rate = 240;  // bytes/s on average after the first 5 s of waiting for the client
    milliseconds idle_timeout{75000};
    milliseconds write_timeout{30000};  // every 256 KiB must be taken within it
};

class workspace_pool;

/// A worker's open connections, for draining and for gauges, and what they share. Not thread-safe: belongs to its
/// worker.
class connection_registry {
public:
    /// Anything that can be told to finish: idle ones close at once, busy ones after their current exchange.
    class member {
    public:
        virtual void drain() noexcept = 0;  // finish what runs, then close
        virtual void cut() noexcept = 0;    // close now

    protected:
        ~member() = default;

    private:
        friend class connection_registry;
        member* previous_ = nullptr;
        member* next_ = nullptr;
    };

    connection_registry();
    ~connection_registry();
    connection_registry(const connection_registry&) = delete;
    connection_registry& operator=(const connection_registry&) = delete;

    void add(member& m) noexcept;
    void remove(member& m) noexcept;
    std::size_t size() const noexcept { return size_; }
    bool draining() const noexcept { return draining_; }
    void drain() noexcept;
    void cut() noexcept;
    /// What a request needs while it is under way; idle connections have none.
    workspace_pool& workspaces() noexcept { return *workspaces_; }

private:
    member* first_ = nullptr;
    std::size_t size_ = 0;
    bool draining_ = false;
    std::unique_ptr<workspace_pool> workspaces_;
};

/// Runs until the connection is closed by either side. The returned task owns everything it needs; `handler` and
/// `registry` outlive it.
task<void> run_h1_connection(worker& on, stream_socket socket, std::shared_ptr<const connection_options> options,
                             peer_info peer, handler& behind, connection_registry& registry);

}  // namespace etagere::net
