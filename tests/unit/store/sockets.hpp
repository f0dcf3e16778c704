// As little of sockets as the tests need: blocking, IPv4 loopback.
#pragma once

#include "support/loopback.hpp"

#include <cstdint>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace etagere::store::testing {

class socket_fd {
public:
    explicit socket_fd(int fd = -1) noexcept : fd_(fd) {}
    ~socket_fd() { close(); }
    socket_fd(socket_fd&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
    socket_fd& operator=(socket_fd&& o) noexcept {
        std::swap(fd_, o.fd_);
        return *this;
    }
    int get() const noexcept { return fd_; }
    int release() noexcept { return std::exchange(fd_, -1); }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    void close() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_;
};

using test::loopback;

inline socket_fd listen_on(std::uint16_t port) {
    socket_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(s.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in a = loopback(port);
    if (bind(s.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0 || listen(s.get(), 128) != 0) s.close();
    return s;
}

inline std::uint16_t port_of(const socket_fd& s) {
    sockaddr_in a{};
    socklen_t size = sizeof a;
    getsockname(s.get(), reinterpret_cast<sockaddr*>(&a), &size);
    return ntohs(a.sin_port);
}

inline socket_fd connect_to(std::uint16_t port) {
    socket_fd s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in a = loopback(port);
    if (connect(s.get(), reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) s.close();
    if (s) {
        const int on = 1;
        setsockopt(s.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return s;
}

inline bool send_all(const socket_fd& s, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = send(s.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

/// "" at the end, or when it fails.
inline std::string receive_some(const socket_fd& s) {
    std::string buffer(65536, '\0');
    const ssize_t n = recv(s.get(), buffer.data(), buffer.size(), 0);
    buffer.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return buffer;
}

}  // namespace etagere::store::testing
