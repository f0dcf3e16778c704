#include "admin_client.hpp"

#include <charconv>
#include <cstring>
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

bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

/// To its end: the connection is closed after one answer.
std::string read_all(int fd) {
    constexpr std::size_t most = std::size_t{64} << 20U;
    std::string answer;
    char bytes[16384];
    ssize_t n = 0;
    while (answer.size() < most && (n = ::recv(fd, bytes, sizeof bytes, 0)) > 0)
        answer.append(bytes, static_cast<std::size_t>(n));
    return answer;
}

}  // namespace

admin_place find_admin(const settings::settings& s) {
    for (const settings::listener& l : s.listeners) {
        if (l.role != settings::listener_role::admin) continue;
        if (l.at.kind == settings::transport::unix_socket) return {"unix:" + l.at.path, l.token};
        const bool v6 = l.at.host.find(':') != std::string::npos;
        return {(v6 ? "[" + l.at.host + "]" : l.at.host) + ":" + std::to_string(l.at.port), l.token};
    }
    return {};
}

std::optional<admin_answer> ask_admin(const admin_question& q) {
    const int fd = dial(q.where);
    if (fd < 0) return std::nullopt;
    std::string request = q.method + " " + q.target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    if (!q.token.empty()) request += "Authorization: Bearer " + q.token + "\r\n";
    if (!q.body.empty() || q.method == "POST") {
        request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(q.body.size()) + "\r\n";
    }
    request += "\r\n" + q.body;
    const std::string answer = send_all(fd, request) ? read_all(fd) : std::string{};
    ::close(fd);
    const std::size_t end = answer.find("\r\n\r\n");
    if (!answer.starts_with("HTTP/1.1 ") || answer.size() < 12 || end == std::string::npos) return std::nullopt;
    admin_answer a;
    std::from_chars(answer.data() + 9, answer.data() + 12, a.status);
    a.body = answer.substr(end + 4);
    return a;
}

}  // namespace etagere::app
