#include "etagere/net/listener.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>

namespace etagere::net {

namespace {

constexpr int backlog = 1024;
/// How long accepting pauses where there is no descriptor or no room for another connection: without it, a
/// level-triggered listening socket would spin.
constexpr milliseconds pause{50};

std::unexpected<error_code> system_failure() {
    return std::unexpected(error_code(errno, boost::system::system_category()));
}

struct owned_fd {
    int value = -1;
    ~owned_fd() {
        if (value >= 0) ::close(value);
    }
    int release() { return std::exchange(value, -1); }
};

std::string text_of(const asio::ip::address& a, std::uint16_t port) {
    return (a.is_v6() ? "[" + a.to_string() + "]" : a.to_string()) + ":" + std::to_string(port);
}

/// A Unix socket file left by a process that is gone is removed; one that somebody serves is not.
result<void> clear_stale_socket(const sockaddr_un& address) {
    struct stat info{};
    if (::lstat(address.sun_path, &info) != 0) return {};
    if (!S_ISSOCK(info.st_mode)) return std::unexpected(error_code(EADDRINUSE, boost::system::system_category()));
    const owned_fd probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (::connect(probe.value, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        return std::unexpected(error_code(EADDRINUSE, boost::system::system_category()));
    }
    ::unlink(address.sun_path);
    return {};
}

}  // namespace

result<bound_listener> bound_listener::bind(const bind_address& at, unsigned workers) {
    bound_listener out;
    if (!at.unix_path.empty()) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (at.unix_path.size() >= sizeof address.sun_path) {
            return std::unexpected(error_code(ENAMETOOLONG, boost::system::system_category()));
        }
        std::memcpy(address.sun_path, at.unix_path.data(), at.unix_path.size());
        if (const auto clear = clear_stale_socket(address); !clear) return std::unexpected(clear.error());
        owned_fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
        if (fd.value < 0 || ::bind(fd.value, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(fd.value, backlog) != 0) {
            return system_failure();
        }
        // One queue for all: Unix sockets have no SO_REUSEPORT.
        for (unsigned i = 1; i < workers; ++i) {
            const int copy = ::fcntl(fd.value, F_DUPFD_CLOEXEC, 0);
            if (copy < 0) return system_failure();
            out.descriptors_.push_back(copy);
        }
        out.descriptors_.push_back(fd.release());
        out.text_ = "unix:" + at.unix_path;
        return out;
    }

    error_code ec;
    const asio::ip::address host =
        at.host.empty() ? asio::ip::address(asio::ip::address_v6::any()) : asio::ip::make_address(at.host, ec);
    if (ec) return std::unexpected(ec);
    asio::ip::tcp::endpoint endpoint(host, at.port);
    bool fall_back_to_v4 = at.host.empty();
    for (unsigned i = 0; i < workers;) {
        owned_fd fd{::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP)};
        const int on = 1;
        const int off = 0;
        bool good = fd.value >= 0;
        if (good) {
            ::setsockopt(fd.value, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
            // Whatever is accepted has it too: that is a system call less for each connection.
            ::setsockopt(fd.value, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            // A connection is ours when its request is here, or after a second of silence (ADR 31).
            ::setsockopt(fd.value, IPPROTO_TCP, TCP_DEFER_ACCEPT, &on, sizeof on);
            // The first socket binds without SO_REUSEPORT sharing it with strangers: a second étagère on the same port
            // is a mistake that must be seen. It is set before listen() so that our own further sockets can join.
            if (at.host.empty() && endpoint.address().is_v6()) {
                ::setsockopt(fd.value, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
            }
            if (i == 0) {
                const owned_fd probe{::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP)};
                ::setsockopt(probe.value, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
                if (at.host.empty() && endpoint.address().is_v6()) {
                    ::setsockopt(probe.value, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
                }
                good = endpoint.port() == 0 ||
                       ::bind(probe.value, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0;
            }
            ::setsockopt(fd.value, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
            good = good && ::bind(fd.value, endpoint.data(), static_cast<socklen_t>(endpoint.size())) == 0 &&
                   ::listen(fd.value, backlog) == 0;
        }
        if (!good) {
            if (fall_back_to_v4 && i == 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL)) {
                fall_back_to_v4 = false;
                endpoint = asio::ip::tcp::endpoint(asio::ip::address_v4::any(), at.port);
                continue;
            }
            return system_failure();
        }
        if (i == 0) {
            socklen_t size = static_cast<socklen_t>(endpoint.capacity());
            if (::getsockname(fd.value, endpoint.data(), &size) != 0) return system_failure();
            out.port_ = endpoint.port();
            out.text_ = at.host.empty() ? ":" + std::to_string(out.port_) : text_of(endpoint.address(), out.port_);
        }
        out.descriptors_.push_back(fd.release());
        ++i;
    }
    return out;
}

bound_listener::~bound_listener() {
    for (const int fd : descriptors_) {
        if (fd >= 0) ::close(fd);
    }
}

int bound_listener::take(unsigned worker) {
    return std::exchange(descriptors_[worker], -1);
}

struct acceptor::state {
    state(worker& w, int descriptor, std::uint16_t local_port, listener_options o, handler& h, connection_registry& r,
          std::shared_ptr<std::atomic<std::uint32_t>> count)
        : on(w),
          socket(w.executor(), descriptor),
          port(local_port),
          options(std::move(o)),
          behind(h),
          registry(r),
          open(std::move(count)),
          timer(w.io()) {}

    worker& on;
    asio::posix::basic_stream_descriptor<io_executor> socket;  // only waited on; accept4 is called directly
    std::uint16_t port;
    listener_options options;
    handler& behind;
    connection_registry& registry;
    std::shared_ptr<std::atomic<std::uint32_t>> open;
    steady_timer timer;
    bool stopped = false;
};

acceptor::acceptor(worker& on, int descriptor, std::uint16_t port, listener_options options, handler& behind,
                   connection_registry& registry, std::shared_ptr<std::atomic<std::uint32_t>> open_connections)
    : state_(std::make_shared<state>(on, descriptor, port, std::move(options), behind, registry,
                                     std::move(open_connections))) {}

acceptor::~acceptor() {
    stop();
}

void acceptor::start() {
    spawn(state_->on.executor(), run(state_));
}

void acceptor::stop() noexcept {
    state_->stopped = true;
    error_code ignored;
    state_->socket.close(ignored);
    state_->timer.cancel();
}

void acceptor::set_options(listener_options options) {
    state_->options = std::move(options);
}

namespace {

task<void> serve(worker& on, stream_socket socket, std::shared_ptr<const connection_options> options, peer_info peer,
                 handler& behind, connection_registry& registry, std::shared_ptr<std::atomic<std::uint32_t>> open) {
    co_await run_h1_connection(on, std::move(socket), std::move(options), std::move(peer), behind, registry);
    open->fetch_sub(1, std::memory_order_relaxed);
}

void describe(const sockaddr_storage& from, std::string& text, std::vector<std::uint8_t>& bytes) {
    if (from.ss_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, &from, sizeof in);
        asio::ip::address_v4::bytes_type raw{};
        std::memcpy(raw.data(), &in.sin_addr, raw.size());
        bytes.assign(raw.begin(), raw.end());
        text = asio::ip::address_v4(raw).to_string();
    } else if (from.ss_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, &from, sizeof in);
        asio::ip::address_v6::bytes_type raw{};
        std::memcpy(raw.data(), &in.sin6_addr, raw.size());
        const asio::ip::address_v6 address(raw);
        if (address.is_v4_mapped()) {  // one client is one address, however the listener is bound
            const auto v4 = asio::ip::make_address_v4(asio::ip::v4_mapped, address);
            const auto raw4 = v4.to_bytes();
            bytes.assign(raw4.begin(), raw4.end());
            text = v4.to_string();
        } else {
            bytes.assign(raw.begin(), raw.end());
            text = address.to_string();
        }
    } else {
        text = "unix";
    }
}

}  // namespace

task<void> acceptor::run(std::shared_ptr<state> s) {
    while (!s->stopped) {
        if (s->open->load(std::memory_order_relaxed) >= s->options.max_connections) {
            s->timer.expires_after(pause);
            (void)co_await s->timer.async_wait(use_task);
            continue;
        }
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        const int fd = ::accept4(s->socket.native_handle(), reinterpret_cast<sockaddr*>(&from), &size,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            if (errno == EAGAIN || errno == EWOULDBLOCK) {
                auto [ec] = co_await s->socket.async_wait(asio::posix::descriptor_base::wait_read, use_task);
                if (ec) co_return;
            } else if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO) {
                // EMFILE, ENFILE, ENOBUFS, ENOMEM: others hold what we need; they will give some back.
                s->timer.expires_after(pause);
                (void)co_await s->timer.async_wait(use_task);
            }
            continue;
        }
        peer_info peer;
        std::vector<std::uint8_t> bytes;
        describe(from, peer.address, bytes);
        peer.listener = s->options.name;
        peer.listener_label = s->options.label;
        peer.local_port = s->port;
        peer.trusted = s->options.trusts && s->options.trusts(bytes);
        error_code ec;
        stream_socket socket(s->on.executor());
        socket.assign(asio::generic::stream_protocol(from.ss_family, 0), fd, ec);
        if (ec) {
            ::close(fd);
            continue;
        }
        s->open->fetch_add(1, std::memory_order_relaxed);
        spawn(s->on.executor(),
              serve(s->on, std::move(socket), s->options.connection, std::move(peer), s->behind, s->registry, s->open));
    }
}

}  // namespace etagere::net
