// After a 101 the two connections are one pipe (RFC 9110 §7.8): bytes both ways until either side ends.
#include "h1_connection_impl.hpp"

#include <boost/asio/write.hpp>

namespace etagere::net {

namespace {

struct pipe {
    pipe(worker& w, stream_socket& a, stream_socket upstream_socket, milliseconds idle_timeout)
        : on(w),
          client(a),
          upstream(std::move(upstream_socket)),
          idle(idle_timeout),
          done(w.io()),
          quiet(w.deadlines(), [this] { close(); }) {}

    void touch() { quiet.arm(on.steady_now() + idle); }
    void close() {
        error_code ignored;
        client.close(ignored);
        upstream.close(ignored);
    }

    worker& on;
    stream_socket& client;
    stream_socket upstream;
    milliseconds idle;
    steady_timer done;  // cancelled when the second direction has ended
    deadline quiet;
    std::uint64_t to_client = 0, to_upstream = 0;
    int open = 2;
};

task<void> relay(std::shared_ptr<pipe> p, stream_socket& from, stream_socket& to, std::uint64_t& count) {
    std::array<char, std::size_t{16} * 1024> bytes;
    for (;;) {
        auto [ec, n] = co_await from.async_read_some(asio::buffer(bytes), use_task);
        if (ec) break;
        p->touch();
        auto [write_ec, written] = co_await asio::async_write(to, asio::buffer(bytes.data(), n), use_task);
        count += written;
        if (write_ec) break;
        p->touch();
    }
    error_code ignored;
    to.shutdown(asio::socket_base::shutdown_send, ignored);
    if (--p->open == 0) p->done.cancel();
}

}  // namespace

task<void> h1_connection::tunnel(const http::response_head& switching, stream_socket upstream, std::string early,
                                 milliseconds idle_timeout) {
    std::string bytes;
    http::h1::write_response_start(bytes, switching.status, switching.reason, switching.header);
    bytes += "Connection: Upgrade\r\nUpgrade: " + switching.upgrade + "\r\n\r\n";
    bytes += early;
    phase_ = phase::head;
    const gather buffers{bytes};
    const result<void> sent = co_await write(buffers, 0);
    if (!sent) co_return;

    auto p = std::make_shared<pipe>(on_, socket_, std::move(upstream), idle_timeout);
    p->touch();
    if (!work_->in.empty()) {  // what the client sent behind its request
        auto [ec, n] = co_await asio::async_write(p->upstream, asio::buffer(work_->in.data()), use_task);
        p->to_upstream += n;
        work_->in.consume(work_->in.data().size());
        if (ec) p->close();
    }
    p->done.expires_at(steady_time::max());
    spawn(on_.executor(), relay(p, p->client, p->upstream, p->to_upstream));
    spawn(on_.executor(), relay(p, p->upstream, p->client, p->to_client));
    if (p->open > 0) (void)co_await p->done.async_wait(use_task);
    bytes_out_ += p->to_client;
    bytes_in_ += p->to_upstream;
    p->quiet.disarm();
    p->close();
    close_after_ = true;
    phase_ = phase::done;
}

}  // namespace etagere::net
