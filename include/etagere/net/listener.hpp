// Listening sockets: one per worker and address (SO_REUSEPORT), accepting into that worker.
#pragma once

#include "etagere/net/h1_connection.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace etagere::net {

struct bind_address {
    std::string host;        // IP literal without brackets; "" is every interface, IPv4 and IPv6
    std::uint16_t port = 0;  // 0: the kernel chooses; the same port for all workers
    std::string unix_path;   // not empty: a Unix socket
};

/// What can change on reload without closing the socket.
struct listener_options {
    std::string name;
    std::uint32_t label = 0;  // index of the name in the metrics
    std::shared_ptr<const connection_options> connection;
    /// True for peers whose X-Forwarded-* are believed: bytes of the address in network order, 4 or 16.
    std::function<bool(const std::vector<std::uint8_t>&)> trusts;
    std::uint32_t max_connections = 10000;  // all workers together; accepting pauses there
};

/// A bound address: the file descriptors for all workers. Closes what was not handed out.
class bound_listener {
public:
    /// Binds and listens; a system error where that is not possible (address in use, permission).
    static result<bound_listener> bind(const bind_address& at, unsigned workers);
    bound_listener(bound_listener&&) noexcept = default;
    bound_listener& operator=(bound_listener&&) = delete;
    ~bound_listener();

    /// "127.0.0.1:8080" or "unix:/path", with the port that the kernel chose.
    const std::string& text() const noexcept { return text_; }
    std::uint16_t port() const noexcept { return port_; }
    /// Hands the descriptor of one worker over to the caller.
    int take(unsigned worker);

private:
    bound_listener() = default;
    std::vector<int> descriptors_;
    std::string text_;
    std::uint16_t port_ = 0;
};

/// Accepts on one worker. Belongs to that worker's thread; the count of connections is shared.
class acceptor {
public:
    acceptor(worker& on, int descriptor, std::uint16_t port, listener_options options, handler& behind,
             connection_registry& registry, std::shared_ptr<std::atomic<std::uint32_t>> open_connections);
    ~acceptor();
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;

    void start();
    /// Stops accepting and closes the socket; connections live on.
    void stop() noexcept;
    void set_options(listener_options options);

private:
    struct state;
    static task<void> run(std::shared_ptr<state> s);
    std::shared_ptr<state> state_;
};

}  // namespace etagere::net
