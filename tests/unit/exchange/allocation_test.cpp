// What a request that goes to the origin allocates, once everything has its place: connections kept, buffers grown.
#include "etagere/exchange/proxy.hpp"
#include "etagere/net/h1_connection.hpp"
#include "etagere/store/memory.hpp"

#include "support/allocations.hpp"

#include <array>
#include <chrono>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

/// Blocking: the other end of a connection of the worker, in its thread.
class plain_socket {
public:
    explicit plain_socket(int fd) : fd_(fd) {}
    plain_socket(plain_socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    plain_socket& operator=(plain_socket&&) = delete;
    ~plain_socket() {
        if (fd_ >= 0) ::close(fd_);
    }
    int fd() const noexcept { return fd_; }
    void say(std::string_view text) const {
        ASSERT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    /// What is here now; "" where that is nothing.
    std::string_view hear() {
        const ssize_t n = ::recv(fd_, heard_.data(), heard_.size(), MSG_DONTWAIT);
        return {heard_.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
    }

private:
    int fd_;
    std::array<char, 16384> heard_{};
};

class listening {
public:
    listening() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(socket_.fd(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
        EXPECT_EQ(::listen(socket_.fd(), 1), 0);
        socklen_t size = sizeof at;
        EXPECT_EQ(::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&at), &size), 0);
        port = ntohs(at.sin_port);
    }
    plain_socket accept() const { return plain_socket(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC)); }

    std::uint16_t port = 0;

private:
    plain_socket socket_;
};

class silent final : public observer {
    void began(std::uint32_t) override {}
    void observe(const observe::record&) override {}
    void refreshed(std::uint32_t, refresh) override {}
    void audited(std::uint32_t, audit) override {}
    void purged(observe::purge_kind, bool, std::size_t) override {}
};

std::shared_ptr<const runtime> running(std::uint16_t origin) {
    auto out = std::make_shared<runtime>();
    settings::settings& config = out->config;
    config.upstreams.emplace_back().name = "app";
    config.stores.emplace_back().name = "default";
    settings::route all;
    all.name = "all";
    all.upstream = "app";
    config.routes.push_back(std::move(all));
    out->routes = *routing::compile(config);
    out->stores.push_back(store::make_memory_store({}));
    upstream::options to;
    to.name = "app";
    to.endpoints.push_back({.host = "127.0.0.1", .port = origin, .unix_path = {}, .text = "app"});
    out->upstreams.push_back(upstream::make_shared_state(std::move(to)));
    out->labels.assign(out->config.routes.size(), 0);
    out->memories = std::make_unique<route_memory[]>(out->config.routes.size());
    return out;
}

std::pair<int, int> socket_pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    return {ends[0], ends[1]};
}

class Allocations : public testing::Test {
protected:
    Allocations() {
        const auto [ours, theirs] = socket_pair();
        client.emplace(theirs);
        net::stream_socket socket(worker.executor());
        socket.assign(net::asio::generic::stream_protocol(AF_UNIX, 0), ours);
        socket.non_blocking(true);
        net::peer_info peer;
        peer.address = "192.0.2.1";
        net::spawn(worker.executor(),
                   net::run_h1_connection(worker, std::move(socket), std::make_shared<net::connection_options>(),
                                          std::move(peer), behind, registry));
    }
    ~Allocations() override {
        client.reset();
        origin.reset();
        state.drain();
        turns();
    }

    /// Until nothing is ready any more.
    void turns() { worker.io().poll(); }
    /// What comes next to that end; the kernel may take a moment.
    std::string_view next(plain_socket& end) {
        std::string_view heard;
        for (int i = 0; i < 100 && heard.empty(); ++i) {
            if (i > 0) worker.io().run_one_for(std::chrono::milliseconds(20));
            turns();
            heard = end.hear();
        }
        return heard;
    }

    void pass(std::string_view request, std::string_view answer) {
        client->say(request);
        if (!origin) {
            turns();
            origin.emplace(at.accept());
        }
        const std::string_view asked = next(*origin);
        ASSERT_TRUE(asked.starts_with("GET /a HTTP/1.1\r\n")) << asked;
        origin->say(answer);
        const std::string_view got = next(*client);
        ASSERT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n") && got.ends_with("\r\n\r\nhello")) << got;
    }

    listening at;
    net::worker worker{0};
    collapse_table collapse;
    silent watch;
    worker_state state{worker, running(at.port), collapse, watch};
    proxy behind{state, role::ingress};
    net::connection_registry registry;
    std::optional<plain_socket> client, origin;

    /// Of a request whose answer has these fields too.
    double of_each(std::string_view fields) {
        constexpr std::string_view request =
            "GET /a HTTP/1.1\r\nHost: a.test\r\nUser-Agent: curl/8.0\r\nAccept: */*\r\n\r\n";
        const std::string answer =
            "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 12:00:00 GMT\r\nServer: app\r\nContent-Type: text/plain\r\n"
            "Content-Length: 5\r\n" +
            std::string(fields) + "\r\nhello";
        for (int i = 0; i < 3; ++i) pass(request, answer);
        constexpr std::size_t rounds = 10;
        const std::size_t made = test::allocations_of([&] {
            for (std::size_t i = 0; i < rounds; ++i) pass(request, answer);
        });
        return static_cast<double>(made) / rounds;
    }
};

#if !__has_feature(address_sanitizer)  // under which every frame is one (net/frame_memory.hpp)

TEST_F(Allocations, OfAPassedRequestAreFew) {
    EXPECT_LE(of_each("Cache-Control: no-store\r\nETag: \"1\"\r\n"), 7);
}

TEST_F(Allocations, OfAnAnswerThatIsHeldForItsTagAreFew) {
    EXPECT_LE(of_each("Cache-Control: no-store\r\n"), 12);
}

#endif

}  // namespace
}  // namespace etagere::exchange
