// Kept connections: reuse, how they end, and what is tried again.
#include "origin.hpp"

#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using testing::StartsWith;

TEST_F(UpstreamTest, ASecondRequestUsesTheKeptConnection) {
    origin o(worker.io(), counting);
    make(one(o));
    run([&]() -> net::task<void> {
        const answer first = co_await get(*api);
        const answer second = co_await get(*api);
        EXPECT_EQ(first.status, 200);
        EXPECT_EQ(first.body, "1 1");
        EXPECT_EQ(second.body, "1 2");
        EXPECT_EQ(second.facts.attempts, 1U);
        EXPECT_EQ(second.facts.endpoint, api->settings().endpoints[0].text);
        EXPECT_GT(second.facts.bytes_sent, 20U);
        EXPECT_EQ(second.facts.bytes_received,
                  std::string_view("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1 2").size());
        EXPECT_EQ(seen().idle, 1U);
        EXPECT_EQ(seen().connects, 1U);
    });
}

TEST_F(UpstreamTest, TheMostRecentlyUsedConnectionComesFirst) {
    origin o(worker.io(), counting);
    make(one(o));
    run([&]() -> net::task<void> {
        const http::request_head head = request(http::method::get);
        auto a = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        auto b = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(a && b);
        for (auto* c : {&*b, &*a}) {  // connection 1 is given back last
            for (;;) {
                const auto piece = co_await (*c)->read();
                if (!piece || piece->empty()) break;
            }
        }
        for (int i = 0; i < 3; ++i) {
            const answer next = co_await get(*api);
            EXPECT_THAT(next.body, StartsWith("1 "));
        }
        EXPECT_EQ(seen().idle, 2U);
    });
}

TEST_F(UpstreamTest, AConnectionThatTheOriginClosedGivesItsPermitBackAtOnce) {
    origin o(worker.io(), [](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.ok("x");
        v.close();
    });
    auto opts = one(o);
    opts.max_connections = 1;
    make(opts);
    run([&]() -> net::task<void> {
        for (int i = 1; i <= 3; ++i) {
            const answer a = co_await get(*api);
            EXPECT_EQ(a.body, "x");
            co_await settle(worker, [&] { return seen().idle == 0 && seen().active == 0; });
            EXPECT_EQ(o.connections(), i);
        }
        EXPECT_EQ(seen().retries, 0U);
    });
}

// S111: the close has not been seen yet when the next request comes.
TEST_F(UpstreamTest, AClosedConnectionIsFoundBeforeUse) {
    visitor* first = nullptr;
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        if (v.number == 1) first = &v;
        co_await counting(v);
    });
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        first->close();
        scripted_body body(worker.executor(), {"once"});
        const auto post = request(http::method::post, "/", http::framing::of_length(4));
        const answer a = co_await fetch(*api, post, &body);
        EXPECT_EQ(a.body, "2 1");
        EXPECT_EQ(a.facts.attempts, 1U);
    });
}

// S123: an answer nobody asked for must not become the next request's.
TEST_F(UpstreamTest, AnUnsolicitedAnswerEndsTheConnection) {
    visitor* first = nullptr;
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        if (v.number == 1) first = &v;
        co_await counting(v);
    });
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        co_await first->ok("poison");
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "2 1");
    });
}

TEST_F(UpstreamTest, BytesBehindTheAnswerEndTheConnection) {
    origin o(worker.io(), [](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "ok");
        EXPECT_EQ(seen().idle, 0U);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamTest, ConnectionCloseIsObeyed) {
    origin o(worker.io(), [](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "ok");
        EXPECT_EQ(seen().idle, 0U);
    });
}

/// Serves the first request of each connection and dies on the second, after reading it.
struct dying {
    int asked = 0;
    net::task<void> operator()(visitor& v) {
        co_await v.request();
        ++asked;
        co_await v.ok("fine");
        const std::string second = co_await v.request();
        if (!second.empty()) ++asked;
        v.close();
    }
};

TEST_F(UpstreamTest, AGetIsRepeatedOnceWhenItsKeptConnectionDies) {
    dying script;
    origin o(worker.io(), std::ref(script));
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        const answer a = co_await get(*api);
        EXPECT_FALSE(a.ec) << error_name(a.ec);
        EXPECT_EQ(a.body, "fine");
        EXPECT_EQ(a.facts.attempts, 2U);
        EXPECT_EQ(seen().retries, 1U);
        EXPECT_EQ(script.asked, 3);
    });
}

// S109, RFC 9110 §9.2.2: the origin may have acted on it.
TEST_F(UpstreamTest, APostIsNeverSentTwice) {
    for (const bool with_body : {true, false}) {
        dying script;
        origin o(worker.io(), std::ref(script));
        make(one(o));
        worker.io().restart();
        run([&]() -> net::task<void> {
            co_await get(*api);
            scripted_body body(worker.executor(), {"order"});
            const auto post =
                request(http::method::post, "/", with_body ? http::framing::of_length(5) : http::framing::none());
            const answer a = co_await fetch(*api, post, with_body ? &body : nullptr);
            EXPECT_EQ(a.ec, errc::upstream_closed_idle);
            EXPECT_EQ(script.asked, 2);
            EXPECT_EQ(seen().retries, 0U);
        });
    }
}

TEST_F(UpstreamTest, APutWithABodyIsNotRepeatedOnceSent) {
    dying script;
    origin o(worker.io(), std::ref(script));
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        scripted_body body(worker.executor(), {"order"});
        const auto put = request(http::method::put, "/", http::framing::of_length(5));
        const answer a = co_await fetch(*api, put, &body);
        EXPECT_EQ(a.ec, errc::upstream_closed_idle);
        EXPECT_EQ(script.asked, 2);
    });
}

// S110
TEST_F(UpstreamTest, AnOriginThatKeepsDyingIsAskedTwiceAtMost) {
    int asked = 0;
    bool dead = false;
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        for (;;) {
            const std::string r = co_await v.request();
            if (r.empty()) co_return;
            ++asked;
            if (dead) break;
            co_await v.ok("alive");
        }
        v.close();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        dead = true;
        const answer kept = co_await get(*api);
        EXPECT_EQ(kept.ec, errc::upstream_closed);
        EXPECT_EQ(asked, 3);
        // On a new connection it is the origin's answer to this very request: not repeated.
        const answer fresh = co_await get(*api);
        EXPECT_EQ(fresh.ec, errc::upstream_closed);
        EXPECT_EQ(asked, 4);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamTest, AConnectionThatDiesInsideTheHeadIsNotTriedAgain) {
    int asked = 0;
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.ok("fine");
        co_await v.request();
        ++asked;
        co_await v.send("HTTP/1.1 2");
        v.close();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        const answer a = co_await get(*api);
        EXPECT_EQ(a.ec, errc::upstream_closed);
        EXPECT_EQ(asked, 1);
    });
}

TEST_F(UpstreamTest, AnIdleConnectionIsClosedAfterItsTime) {
    origin o(worker.io(), counting);
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        pass(api->settings().idle_timeout - 100ms);
        EXPECT_EQ(seen().idle, 1U);
        pass(api->settings().idle_timeout + 100ms);
        EXPECT_EQ(seen().idle, 0U);
        EXPECT_EQ(seen().active, 0U);
    });
}

TEST_F(UpstreamTest, DrainClosesTheIdle) {
    origin o(worker.io(), counting);
    make(one(o));
    run([&]() -> net::task<void> {
        co_await get(*api);
        api->drain();
        EXPECT_EQ(seen().idle, 0U);
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "2 1");
    });
}

TEST_F(UpstreamTest, ACallThatIsDestroyedEarlyClosesItsConnection) {
    bool ended = false;
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome");
        co_await v.request();
        ended = true;
    });
    auto opts = one(o);
    opts.max_connections = 1;
    make(opts);
    run([&]() -> net::task<void> {
        const http::request_head head = request(http::method::get);
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        EXPECT_EQ(seen().active, 1U);
        c->reset();
        EXPECT_EQ(seen().active, 0U);
        co_await settle(worker, [&] { return ended; });
    });
}

TEST_F(UpstreamTest, ACallMayOutliveItsCluster) {
    origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.ok("still here");
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const http::request_head head = request(http::method::get);
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        api.reset();
        const auto piece = co_await (*c)->read();
        EXPECT_EQ(piece, "still here");
        const auto end = co_await (*c)->read();
        EXPECT_EQ(end, "");
        EXPECT_EQ(seen().active + seen().idle, 0U);  // nothing is kept for nobody
    });
}

}  // namespace
}  // namespace etagere::upstream
