// A client connection and an upstream together: what happens to an upload whose end nobody waits for.
#include "etagere/net/h1_connection.hpp"

#include "origin.hpp"

#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// Passes the request on and the answer back; or lets the answer go as soon as its head is there.
class passing final : public net::handler {
public:
    passing(cluster& to, bool drop) : to_(to), drop_(drop) {}

    bool try_now(net::transaction&, net::immediate_answer&) override { return false; }
    void wrote_now(net::transaction&, const net::immediate_answer&, steady_time, const error_code&) override {}
    void refused(net::transaction&, const error_code&, int) override {}
    net::task<void> handle(net::transaction& t) override {
        call_request rq{.head = &t.request(), .body = &t.body(), .may_pause = false, .on_interim = {}};
        auto sent = co_await to_.send(std::move(rq));
        if (!sent) {
            failed = sent.error();
            co_return;
        }
        call& c = **sent;
        if (drop_) co_return;
        co_await t.send_head(c.head());
        for (;;) {
            const auto piece = co_await c.read();
            if (!piece) co_return t.abort();
            if (piece->empty()) break;
            co_await t.send(*piece);
        }
        co_await t.finish(c.trailers());
    }

    error_code failed;

private:
    cluster& to_;
    bool drop_;
};

class ThroughListener : public UpstreamTest {
protected:
    /// What a client gets that sends the head and a part of its body, and then waits.
    std::string half_upload(const std::string& early, bool drop) {
        const origin o(worker.io(), [early](visitor& v) -> net::task<void> {
            co_await v.head();
            co_await v.send(early);
            co_await v.fill();
            co_await v.fill();
        });
        make(one(o));
        passing handler(*api, drop);
        net::connection_registry registry;
        std::string got;
        run([&]() -> net::task<void> {
            asio::basic_socket_acceptor<asio::generic::stream_protocol, net::io_executor> acceptor(
                worker.executor(), net::stream_endpoint(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)));
            net::stream_socket client(worker.executor());
            co_await client.async_connect(acceptor.local_endpoint(), net::use_task);
            auto [ec, socket] = co_await acceptor.async_accept(net::use_task);
            EXPECT_FALSE(ec);
            net::spawn(worker.executor(),
                       net::run_h1_connection(worker, std::move(socket), std::make_shared<net::connection_options>(),
                                              {}, handler, registry));
            visitor me(std::move(client), 0);
            co_await me.send("POST /photos HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\npart");
            for (bool more = true; more;) more = co_await me.fill();
            got = me.in;
            me.close();
            co_await settle(worker, [&] { return registry.size() == 0; });
        });
        return got;
    }
};

TEST_F(ThroughListener, ARefusalComesBackWhileTheClientStillUploads) {
    const std::string got =
        half_upload("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig", /*drop=*/false);
    EXPECT_THAT(got, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(got, EndsWith("\r\n\r\nbig"));
    EXPECT_EQ(seen().active + seen().idle, 0U);
}

TEST_F(ThroughListener, AnAnswerThatIsCompleteEndsItsUpload) {
    const std::string got = half_upload("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes", /*drop=*/false);
    EXPECT_THAT(got, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(got, EndsWith("\r\n\r\nyes"));
    EXPECT_EQ(seen().active + seen().idle, 0U);
}

// The connection must not go before the upload has left its read().
TEST_F(ThroughListener, ADroppedAnswerLetsTheUploadOutFirst) {
    const std::string got = half_upload("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes", /*drop=*/true);
    EXPECT_THAT(got, HasSubstr(" 500 "));
    EXPECT_EQ(seen().active + seen().idle, 0U);
}

}  // namespace
}  // namespace etagere::upstream
