// 127.0.0.1, for who speaks plain sockets.
#pragma once

#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <sys/socket.h>

namespace etagere::test {

inline sockaddr_in loopback(std::uint16_t port) noexcept {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
}

/// The socket functions want the general type; this is the one place that converts.
inline sockaddr* general(sockaddr_in& a) noexcept {
    void* const p = &a;
    return static_cast<sockaddr*>(p);
}

}  // namespace etagere::test
