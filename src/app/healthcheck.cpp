// `etagere healthcheck`: one request to the admin listener, by plain sockets with timeouts; needs no event loop.
#include "etagere/app/config.hpp"

#include "commands.hpp"
#include "process.hpp"

#include <cstring>
#include <iostream>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace etagere::app {

namespace {

constexpr timeval patience{.tv_sec = 2, .tv_usec = 0};

int connect_to(int family, int protocol, const sockaddr* address, socklen_t size) {
    const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, protocol);
    if (fd < 0) return -1;
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (::connect(fd, address, size) == 0) return fd;
    ::close(fd);
    return -1;
}

/// A connected socket, or -1.
int dial(const std::string& where) {
    if (where.starts_with("unix:")) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = where.substr(5);
        if (path.size() >= sizeof address.sun_path) return -1;
        std::memcpy(address.sun_path, path.data(), path.size());
        return connect_to(AF_UNIX, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
    const std::size_t colon = where.rfind(':');
    if (colon == std::string::npos) return -1;
    std::string host = where.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.empty()) host = "127.0.0.1";
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), where.c_str() + colon + 1, &hints, &found) != 0) return -1;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
    for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
        if (const int fd = connect_to(a->ai_family, a->ai_protocol, a->ai_addr, a->ai_addrlen); fd >= 0) return fd;
    }
    return -1;
}

std::string admin_address(const settings::settings& s) {
    for (const settings::listener& l : s.listeners) {
        if (l.role != settings::listener_role::admin) continue;
        if (l.at.kind == settings::transport::unix_socket) return "unix:" + l.at.path;
        const bool v6 = l.at.host.find(':') != std::string::npos;
        return (v6 ? "[" + l.at.host + "]" : l.at.host) + ":" + std::to_string(l.at.port);
    }
    return {};
}

}  // namespace

int healthcheck_command(const health_options& o) {
    std::string where = o.admin;
    if (!o.config.empty()) {
        const config_result r = load_config(o.config, process_environment());
        if (!r.ok()) {
            std::cerr << format_problems(r.problems, problem_format::text);
            return exit_config;
        }
        where = admin_address(r.value);
    }
    const int fd = dial(where);
    if (fd < 0) {
        std::cerr << "nobody answers at " << where << "\n";
        return exit_failed;
    }
    const std::string request = std::string("GET ") + (o.ready ? "/readyz" : "/livez") +
                                " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    std::string answer;
    if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
        char bytes[4096];
        ssize_t n = 0;
        while (answer.size() < 65536 && (n = ::recv(fd, bytes, sizeof bytes, 0)) > 0)
            answer.append(bytes, static_cast<std::size_t>(n));
    }
    ::close(fd);
    const std::size_t body = answer.find("\r\n\r\n");
    if (body != std::string::npos) std::cout << answer.substr(body + 4);
    return answer.starts_with("HTTP/1.1 200") ? exit_clean : exit_failed;
}

}  // namespace etagere::app
