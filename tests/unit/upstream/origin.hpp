// A scripted origin on the loopback, and what a test needs to talk to it through a cluster.
#pragma once

#include "etagere/net/worker.hpp"
#include "etagere/upstream/upstream.hpp"

#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace etagere::upstream {

using namespace std::chrono_literals;
namespace asio = net::asio;

/// For spawn(): hands over what the task gave.
template <class T, class To> net::task<void> told(net::task<T> what, To to) {
    to(co_await what);
}

/// What a script sees of one connection.
class visitor {
public:
    visitor(net::stream_socket s, int n) : socket(std::move(s)), number(n) {}

    /// The next request with its body as it came; "" where the connection ended.
    net::task<std::string> request() {
        std::size_t head_end = std::string::npos;
        while ((head_end = in.find("\r\n\r\n")) == std::string::npos) {
            const bool more = co_await fill();
            if (!more) co_return std::string{};
        }
        std::size_t size = head_end + 4;
        const std::string head = in.substr(0, size);
        if (const auto at = head.find("Content-Length: "); at != std::string::npos) {
            std::size_t length = 0;
            std::from_chars(head.data() + at + 16, head.data() + head.size(), length);
            size += length;
            while (in.size() < size) {
                const bool more = co_await fill();
                if (!more) co_return std::string{};
            }
        } else if (head.find("Transfer-Encoding: chunked") != std::string::npos) {
            std::size_t end = std::string::npos;
            while ((end = in.find("0\r\n", size)) == std::string::npos ||
                   in.find("\r\n\r\n", end) == std::string::npos) {
                const bool more = co_await fill();
                if (!more) co_return std::string{};
            }
            size = in.find("\r\n\r\n", end) + 4;
        }
        std::string out = in.substr(0, size);
        in.erase(0, size);
        ++requests;
        co_return out;
    }
    /// Only the head; what follows stays in `in` and in the socket.
    net::task<std::string> head() {
        while (in.find("\r\n\r\n") == std::string::npos) {
            const bool more = co_await fill();
            if (!more) co_return std::string{};
        }
        std::string out = in.substr(0, in.find("\r\n\r\n") + 4);
        in.erase(0, out.size());
        co_return out;
    }
    net::task<bool> fill() {
        std::array<char, 65536> piece{};
        auto [ec, n] = co_await socket.async_read_some(asio::buffer(piece), net::use_task);
        in.append(piece.data(), n);
        co_return !ec;
    }
    net::task<void> send(std::string text) { co_await asio::async_write(socket, asio::buffer(text), net::use_task); }
    net::task<void> ok(std::string body) {
        std::string text = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        co_await send(std::move(text));
    }
    void close() {
        error_code ignored;
        socket.close(ignored);
    }

    net::stream_socket socket;
    int number;  // of the connection, from 1
    int requests = 0;
    std::string in;
};

class origin {
public:
    using script = std::function<net::task<void>(visitor&)>;

    explicit origin(asio::io_context& io, script s)
        : origin(io, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0), std::move(s)) {}
    origin(asio::io_context& io, const net::stream_endpoint& where, script s)
        : state_(std::make_shared<state>(io.get_executor(), std::move(s))) {
        state_->acceptor.open(where.protocol());
        state_->acceptor.bind(where);
        state_->acceptor.listen();
        net::spawn(io.get_executor(), accept(state_));
    }
    ~origin() { stop(); }
    origin(const origin&) = delete;
    origin& operator=(const origin&) = delete;

    void stop() {
        error_code ignored;
        state_->acceptor.close(ignored);
    }
    int connections() const { return state_->connections; }
    endpoint_options endpoint() const {
        const net::stream_endpoint here = state_->acceptor.local_endpoint();
        sockaddr_in address{};
        std::memcpy(&address, here.data(), std::min(here.size(), sizeof address));
        const auto port = ntohs(address.sin_port);
        return {.host = "127.0.0.1", .port = port, .unix_path = "", .text = "127.0.0.1:" + std::to_string(port)};
    }

private:
    using acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol, net::io_executor>;
    struct state {
        state(net::io_executor on, script s) : acceptor(on), serve(std::move(s)) {}
        origin::acceptor acceptor;
        script serve;
        int connections = 0;
    };
    static net::task<void> accept(std::shared_ptr<state> s) {
        for (;;) {
            auto [ec, socket] = co_await s->acceptor.async_accept(net::use_task);
            if (ec) co_return;
            auto v = std::make_unique<visitor>(std::move(socket), ++s->connections);
            net::spawn(s->acceptor.get_executor(), serve(s, std::move(v)));
        }
    }
    static net::task<void> serve(std::shared_ptr<state> s, std::unique_ptr<visitor> v) { co_await s->serve(*v); }

    std::shared_ptr<state> state_;
};

/// Answers every request with "<connection> <how manieth on it>".
inline net::task<void> counting(visitor& v) {
    for (;;) {
        const std::string asked = co_await v.request();
        if (asked.empty()) co_return;
        co_await v.ok(std::to_string(v.number) + " " + std::to_string(v.requests));
    }
}

/// A port nobody listens on.
inline endpoint_options refusing(asio::io_context& io) {
    asio::ip::tcp::acceptor a(io, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    const auto port = a.local_endpoint().port();
    return {.host = "127.0.0.1", .port = port, .unix_path = "", .text = "refusing"};
}

/// A request body in given pieces. After them it ends, fails, or waits for stop().
class scripted_body final : public net::body_source {
public:
    enum class then : std::uint8_t { end, fail, wait };

    scripted_body(net::io_executor on, std::vector<std::string> pieces, then t = then::end)
        : waiting_(on, steady_time::max()), pieces_(pieces.begin(), pieces.end()), then_(t) {}

    net::task<result<std::string_view>> read() override {
        if (!pieces_.empty()) {
            current_ = std::move(pieces_.front());
            pieces_.pop_front();
            co_return current_;
        }
        if (then_ == then::fail) co_return fail(errc::client_closed);
        if (then_ == then::wait && !stopped) {
            reading = true;
            co_await waiting_.async_wait(net::use_task);
            reading = false;
            co_return fail(errc::client_closed);
        }
        co_return std::string_view{};
    }
    void stop() noexcept override {
        stopped = true;
        waiting_.cancel();
    }
    const http::fields* trailers() const noexcept override { return trailers_.empty() ? nullptr : &trailers_; }

    bool stopped = false;
    bool reading = false;
    http::fields trailers_;

private:
    net::steady_timer waiting_;
    std::deque<std::string> pieces_;
    std::string current_;
    then then_;
};

struct answer {
    error_code ec;       // of send()
    error_code body_ec;  // of read()
    int status = 0;
    std::string body;
    call_facts facts;
};

inline http::request_head request(http::method m, std::string target = "/", http::framing body = {}) {
    http::request_head out;
    out.verb = m;
    out.method_name = m == http::method::get    ? "GET"
                      : m == http::method::head ? "HEAD"
                      : m == http::method::put  ? "PUT"
                                                : "POST";
    out.target = std::move(target);
    out.host = "api.example";
    out.port = 80;
    out.body = body;
    return out;
}

inline net::task<answer> fetch(cluster& from, const http::request_head& head, net::body_source* body = nullptr,
                               interim_handler on_interim = {}) {
    answer out;
    call_request rq{.head = &head, .body = body, .may_pause = false, .on_interim = std::move(on_interim)};
    auto sent = co_await from.send(std::move(rq));
    if (!sent) {
        out.ec = sent.error();
        co_return out;
    }
    call& c = **sent;
    out.status = c.head().status;
    for (;;) {
        const auto piece = co_await c.read();
        if (!piece) out.body_ec = piece.error();
        if (!piece || piece->empty()) break;
        out.body += *piece;
    }
    out.facts = c.facts();
    co_return out;
}

inline net::task<answer> get(cluster& from, std::string target = "/") {
    const http::request_head head = request(http::method::get, std::move(target));
    co_return co_await fetch(from, head);
}

/// Lets everything that is ready run.
inline net::task<void> settle(net::worker& w, const std::function<bool()>& until) {
    net::steady_timer t(w.executor());
    while (!until()) {
        t.expires_after(1ms);
        co_await t.async_wait(net::use_task);
    }
}

/// A worker whose loop runs a test's coroutine to its end.
class UpstreamTest : public testing::Test {
protected:
    options one(const origin& o) {
        options out;
        out.name = "api";
        out.endpoints = {o.endpoint()};
        return out;
    }
    void make(options o) {
        shared = make_shared_state(std::move(o));
        api = make_cluster(worker, shared);
    }
    void run(const std::function<net::task<void>()>& test) {
        bool done = false;
        net::spawn(worker.executor(), test(), [&](const std::exception_ptr& e) {
            done = true;
            worker.io().stop();
            if (e) std::rethrow_exception(e);
        });
        worker.io().run_for(20s);
        ASSERT_TRUE(done) << "the test hangs";
    }
    /// Virtual time for everything that waits on the wheel.
    void pass(milliseconds time) { worker.deadlines().advance(std::chrono::steady_clock::now() + time); }
    totals seen() const { return read_totals(*shared); }

    net::worker worker{0};
    std::shared_ptr<shared_state> shared;
    std::unique_ptr<cluster> api;
};

}  // namespace etagere::upstream
