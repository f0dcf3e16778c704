// The limit of passing through: hands bytes on in both directions between each client and a connection of its own to
// the origin, and reads nothing of them.
//
//   bench_relay ORIGIN_PORT     port on stdout; ends on SIGTERM
#include "sockets.hpp"

#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using namespace bench;

struct pair;

struct side {
    int descriptor = -1;
    side* other = nullptr;
    pair* both = nullptr;
};

struct pair {
    pair(int client, int origin) {
        ends[0] = {client, &ends[1], this};
        ends[1] = {origin, &ends[0], this};
    }
    std::array<side, 2> ends{};
    bool open = true;
};

// Answers are a few KB and clients read them: waiting for room in a socket is left to the kernel.
bool send_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t n = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

void take_connections(poller& p, int listener, std::uint16_t origin) {
    for (int fd; (fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
        const int behind = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
        sockaddr_in a = loopback(origin);
        checked(connect(behind, general(a), sizeof a), "connect");
        auto both = std::make_unique<pair>(fd, behind);
        for (side& s : both->ends) {
            send_at_once(s.descriptor);
            p.add(s.descriptor, EPOLLIN, &s);
        }
        (void)both.release();  // main() deletes it, once no event of this turn can name it
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    std::uint16_t origin = 0;
    if (arguments.size() == 2) std::from_chars(arguments[1], arguments[1] + std::strlen(arguments[1]), origin);
    if (origin == 0) {
        std::fputs("usage: bench_relay ORIGIN_PORT\n", stderr);
        return 2;
    }
    poller p;
    const int listener = listen_and_tell(0);
    p.add(listener, EPOLLIN, nullptr);
    std::vector<char> buffer(256 * 1024);
    std::vector<std::unique_ptr<pair>> ended;
    for (;;) {
        for (const epoll_event& e : p.wait(-1)) {
            if (!e.data.ptr) {
                take_connections(p, listener, origin);
                continue;
            }
            auto* s = static_cast<side*>(e.data.ptr);
            if (!s->both->open) continue;
            const ssize_t n = recv(s->descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (n < 0 && errno == EAGAIN) continue;
            if (n > 0 && send_all(s->other->descriptor, {buffer.data(), static_cast<std::size_t>(n)})) continue;
            s->both->open = false;
            for (const side& end : s->both->ends) close(end.descriptor);
            ended.emplace_back(s->both);
        }
        ended.clear();
    }
}
