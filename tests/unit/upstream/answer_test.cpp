// What comes back: bodies and their ends, interim responses, upgrades, and what is no HTTP.
#include "origin.hpp"

#include <boost/asio/post.hpp>
#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Reads a request, sends `text`, and closes or waits.
origin::script says(std::string text, bool close) {
    return [text = std::move(text), close](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send(text);
        if (close) {
            v.close();
        } else {
            co_await v.request();
        }
    };
}

class UpstreamAnswer : public UpstreamTest {
protected:
    answer ask(const std::string& text, bool close, const http::request_head& head = request(http::method::get),
               interim_handler on_interim = {}) {
        const origin o(worker.io(), says(text, close));
        make(one(o));
        worker.io().restart();
        answer out;
        run([&]() -> net::task<void> { out = co_await fetch(*api, head, nullptr, on_interim); });
        return out;
    }
};

TEST_F(UpstreamAnswer, BodiesOfEveryFraming) {
    EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false).body, "hello");
    EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", false).body,
              "hello");
    EXPECT_EQ(seen().idle, 1U);
    EXPECT_EQ(ask("HTTP/1.1 200 OK\r\n\r\nhello", true).body, "hello");
    EXPECT_EQ(ask("HTTP/1.0 200 OK\r\n\r\nhello", true).body, "hello");
    EXPECT_EQ(seen().idle, 0U);
}

TEST_F(UpstreamAnswer, NoBodyWhereNoneMayBe) {
    const answer head = ask("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", false, request(http::method::head));
    EXPECT_EQ(head.status, 200);
    EXPECT_FALSE(head.body_ec);
    EXPECT_EQ(seen().idle, 1U);
    EXPECT_EQ(ask("HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n", false).status, 304);
    EXPECT_EQ(seen().idle, 1U);
    EXPECT_EQ(ask("HTTP/1.1 204 No Content\r\n\r\n", false).status, 204);
    EXPECT_EQ(seen().idle, 1U);
}

TEST_F(UpstreamAnswer, IsThereWholeWhereItCameInOnePiece) {
    const auto whole = [this](const std::string& text) {
        const origin o(worker.io(), says(text, false));
        make(one(o));
        worker.io().restart();
        std::optional<std::string> out;
        run([&]() -> net::task<void> {
            const http::request_head head = request(http::method::get);
            auto sent = co_await api->send({.head = &head, .on_interim = {}});
            if (const auto here = (*sent)->whole()) out = std::string(*here);
            (*sent)->stop();
        });
        return out;
    };
    EXPECT_EQ(whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), "hello");
    EXPECT_EQ(seen().idle, 1U);
    EXPECT_EQ(whole("HTTP/1.1 204 No Content\r\n\r\n"), "");
    EXPECT_EQ(seen().idle, 1U);
    EXPECT_EQ(whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more"), "hello");
    EXPECT_EQ(seen().idle, 0U);
    EXPECT_EQ(whole("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello"), std::nullopt);
    EXPECT_EQ(whole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), std::nullopt);
    EXPECT_EQ(seen().idle, 0U);
}

TEST_F(UpstreamAnswer, TruncationIsSeen) {
    for (const char* text : {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"}) {
        const answer a = ask(text, true);
        EXPECT_FALSE(a.ec) << text;
        EXPECT_EQ(a.body, "hello") << text;
        EXPECT_EQ(a.body_ec, errc::upstream_truncated) << text;
        EXPECT_EQ(seen().active + seen().idle, 0U) << text;
    }
}

TEST_F(UpstreamAnswer, BrokenChunksEndTheBody) {
    const answer a = ask("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX\r\n", false);
    EXPECT_EQ(a.body, "hello");
    EXPECT_EQ(a.body_ec, errc::upstream_bad_response);
}

TEST_F(UpstreamAnswer, TrailersAreThereAfterTheEnd) {
    const origin o(
        worker.io(),
        says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n", false));
    make(one(o));
    run([&]() -> net::task<void> {
        const auto head = request(http::method::get);
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        const auto piece = co_await (*c)->read();
        EXPECT_EQ(piece, "hi");
        EXPECT_EQ((*c)->trailers(), nullptr);
        const auto end = co_await (*c)->read();
        EXPECT_EQ(end, "");
        const http::fields* trailers = (*c)->trailers();
        EXPECT_NE(trailers, nullptr);
        if (trailers != nullptr) EXPECT_EQ(trailers->find("x-sum"), "7");
    });
}

// S126, S127, B117
TEST_F(UpstreamAnswer, WhatCannotBeReadOneWayIsABadResponse) {
    for (const char* text :
         {"SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 99 Low\r\n\r\n", "HTTP/1.1 1000 High\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
          "HTTP/1.1 200 OK\r\nContent-Length: bogus\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}) {
        const answer a = ask(text, false);
        EXPECT_EQ(a.ec, errc::upstream_bad_response) << text;
        EXPECT_EQ(a.facts.attempts, 0U) << text;  // no call, no facts
        EXPECT_EQ(seen().active + seen().idle, 0U) << text;
    }
    EXPECT_EQ(ask("HTTP/1.1 200 OK\r\nX: " + std::string(300000, 'x') + "\r\n\r\n", false).ec,
              errc::upstream_head_too_large);
    EXPECT_EQ(ask("HTTP/1.1 200 OK\r\n", true).ec, errc::upstream_closed);
    EXPECT_EQ(ask("", true).ec, errc::upstream_closed);
}

TEST_F(UpstreamAnswer, ALargeHeadFitsUpToItsLimit) {
    const answer a = ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: " + std::string(60000, 'x') + "\r\n\r\nok", false);
    EXPECT_EQ(a.status, 200);
    EXPECT_EQ(a.body, "ok");
}

// B119, RFC 9110 §15.2
TEST_F(UpstreamAnswer, InterimResponsesGoToTheirHandler) {
    std::vector<int> interim;
    const auto note = [&](const http::response_head& h) -> net::task<void> {
        interim.push_back(h.status);
        co_return;
    };
    const std::string final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    const std::string three =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
        "</a.css>\r\n\r\n";
    answer a = ask(three + final, false, request(http::method::get), note);
    EXPECT_EQ(a.body, "ok");
    EXPECT_THAT(interim, ElementsAre(102, 103));  // nobody waits for the 100
    EXPECT_EQ(seen().idle, 1U);

    interim.clear();
    auto expecting = request(http::method::get);
    expecting.header.append(http::field_id::expect, "100-continue");
    a = ask(three + final, false, expecting, note);
    EXPECT_THAT(interim, ElementsAre(100, 102, 103));

    EXPECT_EQ(ask(three + final, false).body, "ok");  // without a handler they are dropped
}

// S098
TEST_F(UpstreamAnswer, InterimResponsesAreBounded) {
    std::string flood;
    for (int i = 0; i < 5000; ++i) flood += "HTTP/1.1 103 Early Hints\r\n\r\n";
    int seen_interim = 0;
    const auto count = [&](const http::response_head&) -> net::task<void> {
        ++seen_interim;
        co_return;
    };
    const answer a = ask(flood, false, request(http::method::get), count);
    EXPECT_EQ(a.ec, errc::upstream_bad_response);
    EXPECT_EQ(seen_interim, 64);
}

// S103
TEST_F(UpstreamAnswer, SwitchingProtocolsUnaskedIsABadResponse) {
    const answer a =
        ask("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", false);
    EXPECT_EQ(a.ec, errc::upstream_bad_response);
}

// S102
TEST_F(UpstreamAnswer, AnUpgradeHandsTheSocketOverAndHoldsItsPermit) {
    std::string asked;
    bool ended = false;
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        asked = co_await v.request();
        co_await v.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly");
        const bool more = co_await v.fill();
        EXPECT_TRUE(more);
        co_await v.send("got " + v.in);
        co_await v.fill();
        ended = true;
    });
    make(one(o));
    run([&]() -> net::task<void> {
        auto head = request(http::method::get);
        head.upgrade = "websocket";
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        EXPECT_THAT(asked, HasSubstr("Upgrade: websocket\r\n"));
        EXPECT_EQ((*c)->head().status, 101);
        EXPECT_EQ((*c)->head().upgrade, "websocket");
        std::string early;
        std::shared_ptr<void> released;
        {
            net::stream_socket socket = (*c)->take_socket(early, released);
            c->reset();
            EXPECT_EQ(early, "early");
            co_await asio::async_write(socket, asio::buffer("ping", 4), net::use_task);
            std::array<char, 100> in{};
            auto [ec, n] = co_await socket.async_read_some(asio::buffer(in), net::use_task);
            EXPECT_EQ(std::string_view(in.data(), n), "got ping");
            EXPECT_EQ(seen().active, 1U);
        }
        released.reset();
        EXPECT_EQ(seen().active, 0U);
        co_await settle(worker, [&] { return ended; });
    });
}

TEST_F(UpstreamAnswer, ARefusedUpgradeIsAnOrdinaryAnswer) {
    auto head = request(http::method::get);
    head.upgrade = "websocket";
    const answer a = ask("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", false, head);
    EXPECT_EQ(a.body, "no");
}

// S128: what is not read is not received.
TEST_F(UpstreamAnswer, ALargeBodyIsStreamedAndNotBuffered) {
    constexpr std::size_t size = std::size_t{64} * 1024 * 1024;
    std::size_t written = 0;
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        co_await v.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
        const std::string piece(std::size_t{256} * 1024, 'x');
        while (written < size) {
            auto [ec, n] = co_await asio::async_write(v.socket, asio::buffer(piece), net::use_task);
            if (ec) co_return;
            written += n;
        }
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const auto head = request(http::method::get);
        auto c = co_await api->send({.head = &head, .body = nullptr, .may_pause = false, .on_interim = {}});
        EXPECT_TRUE(c);
        std::size_t got = 0, largest = 0;
        net::steady_timer pause(worker.executor(), 30ms);
        co_await pause.async_wait(net::use_task);  // time enough for the origin to fill the kernel's buffers
        EXPECT_LT(written, size / 2);
        for (;;) {
            const auto piece = co_await (*c)->read();
            EXPECT_TRUE(piece);
            if (!piece || piece->empty()) break;
            got += piece->size();
            largest = std::max(largest, piece->size());
        }
        EXPECT_EQ(got, size);
        EXPECT_LE(largest, std::size_t{64} * 1024);
        EXPECT_GT(largest, std::size_t{16} * 1024);
        EXPECT_EQ(seen().idle, 1U);
    });
}

// Any split of the answer into packets gives the same.
TEST_F(UpstreamAnswer, BytewiseArrivalChangesNothing) {
    const std::string text =
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: "
        "chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    const origin o(worker.io(), [&](visitor& v) -> net::task<void> {
        co_await v.request();
        v.socket.set_option(asio::ip::tcp::no_delay(true));
        for (const char c : text) {
            co_await v.send(std::string(1, c));
            co_await asio::post(v.socket.get_executor(), net::use_task);
        }
        co_await v.request();
    });
    make(one(o));
    run([&]() -> net::task<void> {
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "hello");
        EXPECT_EQ(a.facts.bytes_received, text.size());
        EXPECT_EQ(seen().idle, 1U);
    });
}

}  // namespace
}  // namespace etagere::upstream
