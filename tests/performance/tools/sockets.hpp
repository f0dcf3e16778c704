// What the load generator, the origin and the relay share: loopback TCP and epoll. Whatever fails here ends the
// program: a benchmark that goes on after an error measures something else.
#pragma once

#include "support/loopback.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/tcp.h>
#include <span>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

[[noreturn]] inline void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

inline int checked(int result, const char* what) {
    if (result < 0) fail(what);
    return result;
}

using etagere::test::general;
using etagere::test::loopback;

inline void send_at_once(int fd) {
    const int on = 1;
    checked(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

/// Listens on 127.0.0.1:port (0: any free one), non-blocking, and says where on stdout, for whoever started us.
inline int listen_and_tell(std::uint16_t port) {
    const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    const int on = 1;
    checked(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
    sockaddr_in a = loopback(port);
    socklen_t size = sizeof a;
    checked(bind(fd, general(a), size), "bind");
    checked(listen(fd, 4096), "listen");
    checked(getsockname(fd, general(a), &size), "getsockname");
    std::printf("listening %u\n", unsigned{ntohs(a.sin_port)});
    std::fflush(stdout);
    return fd;
}

/// A non-blocking socket whose connection is under way or made: it is made when it can be written to.
inline int begin_connect(std::uint16_t port) {
    const int fd = checked(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    send_at_once(fd);
    sockaddr_in a = loopback(port);
    if (connect(fd, general(a), sizeof a) < 0 && errno != EINPROGRESS) fail("connect");
    return fd;
}

/// Level-triggered epoll whose events carry a pointer of the caller's.
class poller {
public:
    void add(int fd, std::uint32_t events, void* tag) { control(EPOLL_CTL_ADD, fd, events, tag); }
    void change(int fd, std::uint32_t events, void* tag) { control(EPOLL_CTL_MOD, fd, events, tag); }
    /// What is ready; valid until the next call. Waits at most `timeout_ms` (-1: for ever).
    std::span<epoll_event> wait(int timeout_ms) {
        const int n = epoll_wait(epoll_, ready_.data(), static_cast<int>(ready_.size()), timeout_ms);
        if (n < 0 && errno != EINTR) fail("epoll_wait");
        return std::span(ready_).first(n < 0 ? 0 : static_cast<std::size_t>(n));
    }

private:
    void control(int what, int fd, std::uint32_t events, void* tag) {
        epoll_event e{};
        e.events = events;
        e.data.ptr = tag;
        checked(epoll_ctl(epoll_, what, fd, &e), "epoll_ctl");
    }
    int epoll_ = checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    std::array<epoll_event, 256> ready_{};
};

}  // namespace bench
