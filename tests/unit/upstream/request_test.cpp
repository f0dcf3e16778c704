// What goes out: framing, Host, bodies while the answer is awaited; where to; and how long each phase may take.
#include "origin.hpp"

#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using http::framing;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using then = scripted_body::then;

class UpstreamRequest : public UpstreamTest {
protected:
    /// An origin that notes what it is asked and says yes.
    origin::script noting() {
        return [this](visitor& v) -> net::task<void> {
            for (;;) {
                std::string r = co_await v.request();
                if (r.empty()) co_return;
                asked.push_back(std::move(r));
                co_await v.ok("yes");
            }
        };
    }
    std::vector<std::string> asked;
};

TEST_F(UpstreamRequest, IsWrittenFromTheCanonicalHead) {
    const origin o(worker.io(), noting());
    make(one(o));
    run([&]() -> net::task<void> {
        auto head = request(http::method::get, "/products?page=1");
        EXPECT_TRUE(head.header.add("Accept", "application/json"));
        co_await fetch(*api, head);
        EXPECT_EQ(asked[0], "GET /products?page=1 HTTP/1.1\r\nHost: api.example\r\nAccept: application/json\r\n\r\n");
    });
}

TEST_F(UpstreamRequest, HostIsTheEndpointsWhereTheClientsIsNotKept) {
    const origin o(worker.io(), noting());
    auto opts = one(o);
    opts.preserve_host = false;
    make(opts);
    run([&]() -> net::task<void> {
        co_await get(*api);
        EXPECT_THAT(asked[0], HasSubstr("\r\nHost: " + o.endpoint().text + "\r\n"));
    });
}

TEST_F(UpstreamRequest, ABodyOfKnownLength) {
    const origin o(worker.io(), noting());
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(10));
        scripted_body whole(worker.executor(), {"0123456789"});
        const answer a = co_await fetch(*api, post, &whole);
        scripted_body pieces(worker.executor(), {"01234", "567", "89"});
        const answer b = co_await fetch(*api, post, &pieces);
        EXPECT_EQ(a.body + b.body, "yesyes");
        for (const std::string& r : asked)
            EXPECT_THAT(r, AllOf(HasSubstr("Content-Length: 10\r\n"), EndsWith("\r\n\r\n0123456789")));
        EXPECT_EQ(b.facts.bytes_sent, asked[1].size());
        EXPECT_EQ(o.connections(), 1);
    });
}

TEST_F(UpstreamRequest, ABodyOfUnknownLengthGoesChunkedWithItsTrailers) {
    const origin o(worker.io(), noting());
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::chunked());
        scripted_body body(worker.executor(), {"hello ", std::string(20, 'x')});
        EXPECT_TRUE(body.trailers_.add("X-Sum", "7"));
        co_await fetch(*api, post, &body);
        EXPECT_THAT(asked[0],
                    EndsWith("\r\n\r\n6\r\nhello \r\n14\r\n" + std::string(20, 'x') + "\r\n0\r\nX-Sum: 7\r\n\r\n"));
        scripted_body none(worker.executor(), {});
        co_await fetch(*api, post, &none);
        EXPECT_THAT(asked[1], EndsWith("\r\n\r\n0\r\n\r\n"));
        EXPECT_EQ(o.connections(), 1);
    });
}

TEST_F(UpstreamRequest, ALargeBodyArrivesWhole) {
    const origin o(worker.io(), noting());
    make(one(o));
    run([&]() -> net::task<void> {
        std::vector<std::string> pieces;
        std::string whole;
        for (char c = 'a'; c <= 'z'; ++c) {
            pieces.emplace_back(300000, c);
            whole += pieces.back();
        }
        const auto post = request(http::method::post, "/", framing::of_length(whole.size()));
        scripted_body body(worker.executor(), pieces);
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.body, "yes");
        EXPECT_TRUE(asked[0].ends_with(whole));
        EXPECT_EQ(seen().idle, 1U);
    });
}

// Half a request must never look like a whole one.
TEST_F(UpstreamRequest, AClientThatBreaksOffEndsTheConnection) {
    std::string left;
    bool ended = false;
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        while (co_await v.fill()) {}
        left = v.in;
        ended = true;
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::chunked());
        scripted_body body(worker.executor(), {"some"}, then::fail);
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.ec, errc::client_closed);
        co_await settle(worker, [&] { return ended; });
        EXPECT_THAT(left, AllOf(HasSubstr("some"), Not(HasSubstr("0\r\n\r\n"))));
        EXPECT_EQ(seen().active, 0U);

        scripted_body dead(worker.executor(), {}, then::fail);
        const answer b = co_await fetch(*api, post, &dead);
        EXPECT_EQ(b.ec, errc::client_closed);
        EXPECT_EQ(o.connections(), 1);  // nothing was begun for it
    });
}

TEST_F(UpstreamRequest, ABodyThatIsNotAsLongAsItSaidIsNotSentOn) {
    const origin o(worker.io(), noting());
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(10));
        for (const char* wrong : {"short", "much too long"}) {
            scripted_body body(worker.executor(), {wrong});
            const answer a = co_await fetch(*api, post, &body);
            EXPECT_EQ(a.ec, errc::internal);
        }
        EXPECT_TRUE(asked.empty());
    });
}

TEST_F(UpstreamRequest, AnEarlyRefusalEndsTheUpload) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        co_await v.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        co_await v.fill();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        // The client has sent a part and waits; only stop() brings its read() back.
        const auto post = request(http::method::post, "/", framing::of_length(1000000));
        scripted_body body(worker.executor(), {"part"}, then::wait);
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.status, 413);
        EXPECT_EQ(a.body, "big");
        EXPECT_TRUE(body.stopped);
        EXPECT_FALSE(body.reading);
        EXPECT_EQ(seen().active + seen().idle, 0U);
    });
}

TEST_F(UpstreamRequest, AnEarlyRefusalIsSeenWhileTheOriginReadsNothing) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        co_await v.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
        net::steady_timer never(worker.executor(), steady_time::max());
        co_await never.async_wait(net::use_task);
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(32000000));
        scripted_body body(worker.executor(), {std::string(32000000, 'x')});
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.status, 413);
        EXPECT_EQ(a.body, "big");
        EXPECT_EQ(seen().active + seen().idle, 0U);
    });
}

// An answer that is made of the request as it comes: neither waits for the other.
TEST_F(UpstreamRequest, AnswerAndUploadStreamAtOneTime) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        co_await v.send("HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n" + std::exchange(v.in, {}));
        for (;;) {
            const bool more = co_await v.fill();
            if (!more) co_return;
            co_await v.send(std::exchange(v.in, {}));
        }
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(8000000));
        std::vector<std::string> pieces(80, std::string(100000, 'e'));
        scripted_body body(worker.executor(), std::move(pieces));
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.body, std::string(8000000, 'e'));
        EXPECT_FALSE(a.body_ec);
        EXPECT_EQ(seen().idle, 1U);
    });
}

TEST_F(UpstreamRequest, ACallDroppedDuringItsUploadStopsTheSource) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        co_await v.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
        co_await v.fill();
        co_await v.fill();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(100));
        scripted_body body(worker.executor(), {"part"}, then::wait);
        auto c = co_await api->send({.head = &post, .body = &body, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        EXPECT_TRUE(body.reading);
        c->reset();
        EXPECT_TRUE(body.stopped);
        EXPECT_EQ(seen().active, 0U);
        co_await settle(worker, [&] { return !body.reading; });
    });
}

// --- where to ---

TEST_F(UpstreamRequest, GoesOverAUnixSocket) {
    std::string dir = (std::filesystem::temp_directory_path() / "etagere-XXXXXX").string();
    ASSERT_NE(mkdtemp(dir.data()), nullptr);
    const std::string path = dir + "/app.sock";
    {
        const origin o(worker.io(), asio::local::stream_protocol::endpoint(path), noting());
        options opts;
        opts.endpoints = {{.host = "", .port = 80, .unix_path = path, .text = "unix:" + path}};
        opts.preserve_host = false;
        make(opts);
        run([&]() -> net::task<void> {
            const answer a = co_await get(*api);
            const answer b = co_await get(*api);
            EXPECT_EQ(a.body + b.body, "yesyes");
            EXPECT_EQ(o.connections(), 1);
            EXPECT_THAT(asked[0], HasSubstr("\r\nHost: localhost\r\n"));
        });
    }
    std::filesystem::remove_all(dir);
}

// S295
TEST_F(UpstreamRequest, ARefusedConnectGoesToTheNextEndpoint) {
    const origin o(worker.io(), noting());
    auto opts = one(o);
    opts.endpoints.insert(opts.endpoints.begin(), refusing(worker.io()));
    make(opts);
    run([&]() -> net::task<void> {
        // Never sent, so a POST too; and its body is still there.
        const auto post = request(http::method::post, "/", framing::of_length(5));
        scripted_body body(worker.executor(), {"order"});
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.body, "yes");
        EXPECT_EQ(a.facts.attempts, 2U);
        EXPECT_EQ(a.facts.endpoint, o.endpoint().text);
        EXPECT_EQ(seen().connect_failures, 1U);
        EXPECT_EQ(seen().retries, 1U);
        for (int i = 0; i < 4; ++i) {  // the dead one is left alone for a while
            const answer next = co_await get(*api);
            EXPECT_EQ(next.facts.attempts, 1U);
        }
    });
}

TEST_F(UpstreamRequest, ConnectFailuresAreBoundedByTheAttempts) {
    options opts;
    for (int i = 0; i < 5; ++i) opts.endpoints.push_back(refusing(worker.io()));
    opts.attempts = 3;
    make(opts);
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.ec, errc::connect_failed);
        EXPECT_EQ(seen().connects, 3U);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamRequest, EndpointsTakeTurns) {
    const origin a(worker.io(), noting());
    const origin b(worker.io(), noting());
    auto opts = one(a);
    opts.endpoints.push_back(b.endpoint());
    make(opts);
    run([&]() -> net::task<void> {
        std::vector<std::string> where;
        for (int i = 0; i < 6; ++i) {
            const answer r = co_await get(*api);
            where.emplace_back(r.facts.endpoint);
        }
        EXPECT_EQ(std::ranges::count(where, a.endpoint().text), 3);
        EXPECT_EQ(std::ranges::count(where, b.endpoint().text), 3);
        EXPECT_EQ(a.connections() + b.connections(), 2);
    });
}

TEST_F(UpstreamRequest, ANameIsLookedUpOnceForAllWhoWait) {
    const origin o(worker.io(), noting());
    auto opts = one(o);
    opts.endpoints[0].host = "localhost";
    opts.queue_timeout = 10s;
    make(opts);
    run([&]() -> net::task<void> {
        int good = 0;
        for (int i = 0; i < 5; ++i) {
            net::spawn(worker.executor(), told(get(*api), [&](const answer& a) { good += a.status == 200 ? 1 : 0; }));
        }
        co_await settle(worker, [&] { return good == 5; });
    });
}

// S297
TEST_F(UpstreamRequest, ANameWithoutAddressesIsNoEndpoint) {
    options opts;
    opts.endpoints = {{.host = "no such name", .port = 80, .unix_path = "", .text = "nowhere"}};
    make(opts);
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.ec, errc::no_endpoint);
        EXPECT_EQ(seen().active, 0U);
    });
}

// --- how long ---

/// Runs the clock of the deadlines on once the origin is in the right state.
class UpstreamDeadlines : public UpstreamRequest {
protected:
    net::task<answer> late(std::function<bool()> when, milliseconds time, const http::request_head& rq,
                           net::body_source* body = nullptr) {
        net::spawn(worker.executor(), pass_when(std::move(when), time));
        co_return co_await fetch(*api, rq, body);
    }
    net::task<void> pass_when(std::function<bool()> when, milliseconds time) {
        co_await settle(worker, when);
        pass(time);
    }
    net::task<void> client_that_pauses(scripted_body& body) {
        co_await settle(worker, [&] { return reached && body.reading; });
        pass(5min);
        co_await settle(worker, [n = 0]() mutable { return ++n > 5; });
        EXPECT_FALSE(ended);
        body.stop();
    }
    net::task<void> late_piece(visitor*& v) {
        co_await settle(worker, [&, n = 0]() mutable { return v != nullptr && ++n > 10; });
        co_await v->send("more");
    }
    origin::script stalling(std::string text) {
        return [this, text](visitor& v) -> net::task<void> {
            co_await v.request();
            co_await v.send(text);
            reached = true;
            co_await v.request();
            ended = true;
        };
    }
    bool reached = false, ended = false;
    http::request_head head = request(http::method::get);
};

// S296
TEST_F(UpstreamDeadlines, TheFirstByte) {
    const origin o(worker.io(), stalling(""));
    make(one(o));
    run([&]() -> net::task<void> {
        const answer a = co_await late([&] { return reached; }, 31s, head);
        EXPECT_EQ(a.ec, errc::upstream_first_byte_timeout);
        co_await settle(worker, [&] { return ended; });
        EXPECT_EQ(seen().active, 0U);
        EXPECT_EQ(seen().retries, 0U);
    });
}

TEST_F(UpstreamDeadlines, TheFirstByteIsAwaitedFromTheRequestsEndOn) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        reached = true;
        co_await v.fill();
        co_await v.fill();
        ended = true;
    });
    make(one(o));
    run([&]() -> net::task<void> {
        // A client that takes its time with the body does not make the origin late.
        const auto post = request(http::method::post, "/", framing::of_length(100));
        scripted_body body(worker.executor(), {"part"}, then::wait);
        net::spawn(worker.executor(), client_that_pauses(body));
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.ec, errc::client_closed);
    });
}

TEST_F(UpstreamDeadlines, BetweenTwoPiecesOfTheBody) {
    const origin o(worker.io(), stalling("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"));
    make(one(o));
    run([&]() -> net::task<void> {
        const answer a = co_await late([&] { return reached; }, 31s, head);
        EXPECT_FALSE(a.ec);
        EXPECT_EQ(a.body, "some");
        EXPECT_EQ(a.body_ec, errc::upstream_idle_timeout);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamDeadlines, AStreamMayPause) {
    visitor* streaming = nullptr;
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsome");
        streaming = &v;
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = true, .on_interim = {}});
        EXPECT_TRUE(c);
        auto piece = co_await (*c)->read();
        EXPECT_EQ(piece, "some");
        net::spawn(worker.executor(), pass_when([&] { return streaming != nullptr; }, 1h));
        net::spawn(worker.executor(), late_piece(streaming));
        piece = co_await (*c)->read();
        EXPECT_EQ(piece, "more");
    });
}

TEST_F(UpstreamDeadlines, AnOriginThatReadsNothing) {
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.head();
        reached = true;
        net::steady_timer never(worker.executor(), steady_time::max());
        co_await never.async_wait(net::use_task);
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto post = request(http::method::post, "/", framing::of_length(32000000));
        scripted_body body(worker.executor(), {std::string(32000000, 'x')});
        const answer a = co_await late([n = 0, this]() mutable { return reached && ++n > 20; }, 31s, post, &body);
        EXPECT_EQ(a.ec, errc::upstream_idle_timeout);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamDeadlines, TheWholeExchange) {
    const origin o(worker.io(), stalling("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"));
    auto opts = one(o);
    opts.total_timeout = 40ms;
    make(opts);
    run([&]() -> net::task<void> {
        const answer a = co_await fetch(*api, head);
        EXPECT_EQ(a.body, "some");
        EXPECT_EQ(a.body_ec, errc::upstream_total_timeout);
    });
}

TEST_F(UpstreamDeadlines, Connecting) {
    // A full backlog: the kernel lets the handshake hang.
    asio::ip::tcp::acceptor full(worker.io());
    full.open(asio::ip::tcp::v4());
    full.bind(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    full.listen(0);
    std::vector<std::unique_ptr<asio::ip::tcp::socket>> fillers;
    for (int i = 0; i < 4; ++i) {
        fillers.push_back(std::make_unique<asio::ip::tcp::socket>(worker.io()));
        fillers.back()->async_connect(full.local_endpoint(), [](const error_code&) {});
    }
    options opts;
    opts.endpoints = {{.host = "127.0.0.1", .port = full.local_endpoint().port(), .unix_path = "", .text = ""}};
    opts.connect_timeout = 30ms;
    opts.attempts = 1;
    make(opts);
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.ec, errc::connect_timeout);
        EXPECT_EQ(seen().connect_failures, 1U);
        EXPECT_EQ(seen().active, 0U);
    });
}

}  // namespace
}  // namespace etagere::upstream
