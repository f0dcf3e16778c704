// One client connection over a socket pair: what the connection does when its handler misbehaves, and that it ends as
// it should. What clients can do wrong is tested from outside (tests/system).
#include "etagere/net/h1_connection.hpp"

#include "etagere/http/h1/serializer.hpp"

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace etagere::net {
namespace {

using testing::Test;

struct scripted_handler final : handler {
    std::function<bool(transaction&, immediate_answer&)> now = [](transaction&, immediate_answer&) { return false; };
    std::function<task<void>(transaction&)> later;
    int refusals = 0;
    int written = 0;

    bool try_now(transaction& t, immediate_answer& a) override { return now(t, a); }
    void wrote_now(transaction&, const immediate_answer&, steady_time, const error_code& ec) override {
        written += ec ? 0 : 1;
    }
    task<void> handle(transaction& t) override { return later(t); }
    void refused(transaction&, const error_code&, int) override { ++refusals; }
};

class H1Connection : public Test {
protected:
    H1Connection() { connect(); }
    ~H1Connection() override { close(); }

    void connect() {
        int pair[2] = {-1, -1};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        client_ = pair[0];
        error_code ec;
        stream_socket socket(on_.executor());
        socket.assign(asio::generic::stream_protocol(AF_UNIX, 0), pair[1], ec);
        auto options = std::make_shared<connection_options>();
        options->body_bytes = 1000;
        net::spawn(on_.executor(), run_h1_connection(on_, std::move(socket), options, {}, handler_, registry_));
    }
    void close() {
        if (client_ >= 0) ::close(std::exchange(client_, -1));
        while (registry_.size() > 0) on_.io().run_one();  // the connection goes with its client
    }

    void send(std::string_view bytes) {
        EXPECT_EQ(::send(client_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    /// Runs the connection until it waits for the client, and takes what it sent.
    std::string receive() {
        while (on_.io().poll() > 0) {}
        std::string all;
        std::array<char, 4096> bytes{};
        ssize_t n = 0;
        while ((n = ::recv(client_, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0)
            all.append(bytes.data(), static_cast<std::size_t>(n));
        ended_ = n == 0 || errno == ECONNRESET;
        return all;
    }
    std::string ask(std::string_view bytes) {
        send(bytes);
        return receive();
    }

    worker on_{0};
    connection_registry registry_;
    scripted_handler handler_;
    int client_ = -1;
    bool ended_ = false;  // the connection said that nothing more will come
};

task<void> answer_ok(transaction& t) {
    http::response_head head;
    head.reason = "OK";
    head.body = http::framing::of_length(2);
    (void)co_await t.send_head(head);
    (void)co_await t.send("ok");
    (void)co_await t.finish(nullptr);
}

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_F(H1Connection, S310AnExceptionIsA500AndTheProcessLives) {
    handler_.later = [](transaction&) -> task<void> {
        throw std::runtime_error("a bug");
        co_return;
    };
    const std::string got = ask(get);
    EXPECT_TRUE(got.starts_with("HTTP/1.1 500 ")) << got;
    EXPECT_NE(got.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(handler_.refusals, 1);
}

TEST_F(H1Connection, AnExceptionBehindTheHeadCutsTheAnswer) {
    handler_.later = [](transaction& t) -> task<void> {
        http::response_head head;
        head.reason = "OK";
        head.body = http::framing::of_length(100);
        (void)co_await t.send_head(head);
        (void)co_await t.send("half");
        throw std::runtime_error("a bug");
    };
    const std::string got = ask(get);
    EXPECT_TRUE(got.ends_with("half")) << got;
    EXPECT_TRUE(ended_);
    EXPECT_EQ(got.find("500"), std::string::npos);
}

TEST_F(H1Connection, AnAnswerLeftUnfinishedIsCut) {
    handler_.later = [](transaction& t) -> task<void> {
        http::response_head head;
        head.reason = "OK";
        head.body = http::framing::chunked();
        (void)co_await t.send_head(head);
        (void)co_await t.send("piece");
    };
    const std::string got = ask(get);
    EXPECT_TRUE(got.ends_with("5\r\npiece\r\n")) << "no last chunk: " << got;
    EXPECT_TRUE(ended_);
}

TEST_F(H1Connection, NoAnswerAtAllIsA500) {
    handler_.later = [](transaction&) -> task<void> { co_return; };
    EXPECT_TRUE(ask(get).starts_with("HTTP/1.1 500 "));
}

TEST_F(H1Connection, NeverMoreThanContentLengthPromised) {
    bool refused = false;
    handler_.later = [&refused](transaction& t) -> task<void> {
        http::response_head head;
        head.reason = "OK";
        head.body = http::framing::of_length(2);
        (void)co_await t.send_head(head);
        const result<void> sent = co_await t.send("three");
        refused = !sent;
        t.abort();
    };
    (void)ask(get);
    EXPECT_TRUE(refused);
}

TEST_F(H1Connection, PipelinedRequestsAreAnsweredInOrder) {
    int asked = 0;
    handler_.now = [&asked](transaction& t, immediate_answer& a) {
        if (t.request().target != "/now") return false;
        ++asked;
        a.start = "HTTP/1.1 200 OK\r\n";
        a.how = http::framing::of_length(3);
        a.body = "now";
        return true;
    };
    handler_.later = answer_ok;
    const std::string got =
        ask("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /now HTTP/1.1\r\nHost: x\r\n\r\n"
            "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(got,
              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
              "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nnow"
              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    EXPECT_TRUE(ended_);
    EXPECT_EQ(handler_.written, 1);
}

TEST_F(H1Connection, AnUnreadBodyIsDrainedBeforeTheNextRequest) {
    handler_.later = answer_ok;
    const std::string got =
        ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 28\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n\r\n"
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(got, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

TEST_F(H1Connection, ABodyBeyondTheLimitIsRefusedBeforeItIsRead) {
    handler_.later = answer_ok;
    const std::string got = ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 413 ")) << got;
}

TEST_F(H1Connection, ContinueIsSentOnceAndOnlyWhenTheBodyIsWanted) {
    handler_.later = [](transaction& t) -> task<void> {
        std::string body;
        for (;;) {
            const result<std::string_view> piece = co_await t.body().read();
            if (!piece || piece->empty()) break;
            body += *piece;
        }
        http::response_head head;
        head.reason = "OK";
        head.body = http::framing::of_length(body.size());
        (void)co_await t.send_head(head);
        (void)co_await t.send(body);
        (void)co_await t.finish(nullptr);
    };
    EXPECT_EQ(ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"),
              "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(ask("bo"), "");
    EXPECT_EQ(ask("dy"), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody");
}

TEST_F(H1Connection, WhoIsAnsweredInsteadOfToldToContinueIsNotBelievedAnyMore) {
    handler_.later = answer_ok;
    const std::string got = ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    EXPECT_EQ(got, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    EXPECT_TRUE(ended_);
}

// RFC 9112 §9.6: who said that nothing follows is not waited for; who may still be sending is, or a reset could take
// the answer from it.
TEST_F(H1Connection, AClientThatSaidCloseIsNotWaitedFor) {
    handler_.later = answer_ok;
    const std::string got = ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(got.ends_with("\r\n\r\nok")) << got;
    EXPECT_TRUE(ended_);
    EXPECT_EQ(registry_.size(), 0U);
}

TEST_F(H1Connection, AClientThatMaySendMoreIsWaitedFor) {
    handler_.later = answer_ok;
    registry_.drain();  // the end is ours
    const std::string got = ask(get);
    EXPECT_TRUE(got.ends_with("\r\n\r\nok")) << got;
    EXPECT_TRUE(ended_);
    EXPECT_EQ(registry_.size(), 1U);
}

TEST_F(H1Connection, ClosingWithUnreadBytesIsWaitedFor) {
    handler_.later = answer_ok;
    const std::string last = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const std::string got = ask(last + std::string(get));
    EXPECT_TRUE(got.ends_with("\r\n\r\nok")) << got;
    EXPECT_TRUE(ended_);
    EXPECT_EQ(registry_.size(), 1U);
}

TEST_F(H1Connection, DrainingClosesIdleConnectionsAndTellsTheOthers) {
    handler_.later = answer_ok;
    EXPECT_EQ(ask(get), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    send("GET / HT");
    (void)receive();
    registry_.drain();
    EXPECT_EQ(ask("TP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    EXPECT_TRUE(ended_);
}

TEST_F(H1Connection, DrainingAnIdleConnectionEndsIt) {
    handler_.later = answer_ok;
    (void)ask(get);
    registry_.drain();
    EXPECT_EQ(receive(), "");
    EXPECT_TRUE(ended_);
}

TEST_F(H1Connection, NothingOfOneClientIsLeftForTheNext) {
    std::vector<std::string> found;
    handler_.now = [&found](transaction& t, immediate_answer& a) {
        found.push_back(a.dynamic + std::string(t.request().header.get(http::field_id::cookie)));
        a.start = "HTTP/1.1 200 OK\r\n";
        a.how = http::framing::of_length(0);
        return true;
    };
    (void)ask("GET / HTTP/1.1\r\nHost: x\r\nCookie: sid=1\r\n\r\n");
    const std::string refused = ask("GET /secret HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\nGET /behind");
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 400 ")) << refused;
    close();
    connect();
    EXPECT_EQ(ask(get), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(found, (std::vector<std::string>{"sid=1", ""}));
}

}  // namespace
}  // namespace etagere::net
