#include "etagere/base/writer.hpp"

#include "h1_connection_impl.hpp"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace etagere::net {

namespace {
constexpr std::string_view crlf = "\r\n";
constexpr std::size_t slice = std::size_t{256} * 1024;  // what a client has to take within one write_timeout
}  // namespace

void immediate_answer::clear() {
    status = 200;
    start = body = {};
    dynamic.clear();
    how = {};
    declared_length = -1;
    file = {};
    pin.reset();
    close = false;
    route = {};
    route_label = 0;
    holds.reset();
    why = reason::none;
    age = -1;
    ttl = 0;
    coding = http::coding::identity;
}

gather h1_connection::immediate_buffers(immediate_answer& a) {
    const bool no_body = work_->request.head().verb == http::method::head || a.status == 304 || a.status == 204;
    http::framing how = a.how;
    std::int64_t declared = -1;
    if (no_body) {
        const bool known = a.declared_length < 0 && a.how.how == http::framing::kind::length &&
                           work_->request.head().verb == http::method::head;
        how = http::framing::none();
        declared = known ? static_cast<std::int64_t>(a.how.length) : a.declared_length;
        a.body = {};
    }
    http::h1::write_head_end(a.dynamic, how, declared, work_->request.head().protocol, will_keep_alive() && !a.close);
    return {{a.start, a.dynamic, a.body}, a.body.empty() ? file_place{} : a.file};
}

std::size_t h1_connection::write_now(const gather& buffers, int more, error_code& ec) {
    const file_place file = buffers.file_of_last();
    if (file.descriptor < 0) return send_now({buffers.begin(), buffers.end()}, MSG_NOSIGNAL | MSG_DONTWAIT | more, ec);
    // What stands before the file waits in the kernel for its first page (MSG_MORE): one packet has both.
    std::size_t before = 0;
    if (buffers.count() > 1) {
        const std::span<const std::string_view> head(buffers.begin(), buffers.end() - 1);
        before = send_now(head, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE, ec);
        if (ec || before < buffers.octets() - (buffers.end() - 1)->size()) return before;
    }
    auto at = static_cast<off_t>(file.at);
    const ssize_t sent = ::sendfile(socket_.native_handle(), file.descriptor, &at, (buffers.end() - 1)->size());
    return before + sent_now(sent, ec);
}

std::size_t h1_connection::send_now(std::span<const std::string_view> pieces, int flags, error_code& ec) {
    const int fd = socket_.native_handle();
    const std::span<char> room = on_.scratch();
    std::size_t octets = 0;
    for (const std::string_view piece : pieces) octets += piece.size();
    if (pieces.size() == 1) return sent_now(::send(fd, pieces[0].data(), octets, flags), ec);
    if (octets <= room.size()) {
        // The kernel takes one piece faster than a list of them: for small answers a copy is the cheaper way.
        writer to(room.data(), room.size());
        for (const std::string_view piece : pieces) to.append(piece);
        return sent_now(::send(fd, room.data(), octets, flags), ec);
    }
    std::array<iovec, gather::most> list{};
    msghdr all{};
    all.msg_iov = list.data();
    for (const std::string_view piece : pieces) {
        // iovec is what readv() fills, too; sendmsg() only reads.
        list[all.msg_iovlen++] = {const_cast<char*>(piece.data()), piece.size()};  // NOLINT(*-const-cast)
    }
    return sent_now(::sendmsg(fd, &all, flags), ec);
}

std::size_t h1_connection::sent_now(ssize_t sent, error_code& ec) noexcept {
    if (sent < 0) {
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) ec = last_error();
        return 0;
    }
    count_out(static_cast<std::size_t>(sent));
    return static_cast<std::size_t>(sent);
}

task<result<void>> h1_connection::write(gather buffers, std::size_t skip) {
    buffers.advance(skip);
    std::size_t in_slice = 0;
    const bool timed = options_->write_timeout.count() > 0;
    bool armed = false;
    for (bool first = skip == 0; !buffers.empty(); first = false) {
        std::size_t n = 0;
        error_code ec;
        const auto some = [this, &buffers, &n, &ec] {
            if (phase_ != phase::aborted) n = write_now(buffers, 0, ec);
        };
        if (first) {
            co_await on_.end_of_turn(some);
        } else {
            some();
        }
        if (phase_ == phase::aborted) co_return fail(errc::client_closed);
        if (!ec && n == 0) {
            if (timed && !armed) {
                write_deadline_.arm(on_.steady_now() + options_->write_timeout);
                armed = true;
            }
            auto [wait_ec] = co_await socket_.async_wait(asio::socket_base::wait_write, use_task);
            ec = wait_ec;
        }
        if (ec || phase_ == phase::aborted) {
            const bool late = write_deadline_.expired();
            write_deadline_.disarm();
            cut();
            co_return fail(late ? errc::client_too_slow : errc::client_closed);
        }
        buffers.advance(n);
        in_slice += n;
        if (in_slice >= slice) {
            in_slice = 0;
            armed = false;
        }
    }
    write_deadline_.disarm();
    co_return result<void>{};
}

task<result<void>> h1_connection::send_interim(const http::response_head& head) {
    // RFC 9110 §15.2: a 1.0 client must not be sent one.
    if (work_->request.head().protocol == http::version::http10 || head_sent()) co_return result<void>{};
    std::string bytes;
    http::h1::write_response_start(bytes, head.status, head.reason, head.header);
    bytes += crlf;
    const gather buffers{bytes};
    const result<void> sent = co_await write(buffers, 0);
    co_return sent;
}

task<result<void>> h1_connection::answer(immediate_answer& a) {
    const gather buffers = immediate_buffers(a);
    phase_ = phase::head;
    const result<void> sent = co_await write(buffers, 0);
    if (phase_ != phase::aborted) phase_ = phase::done;
    if (a.close) close_after_ = true;
    co_return sent;
}

/// The head, into `out`; `head.body` is mapped to what this client understands.
void h1_connection::begin_answer(const http::response_head& head) {
    sending_ = http::h1::response_framing(head, work_->request.head().protocol, work_->request.head().verb);
    left_to_send_ = sending_.how == http::framing::kind::length ? sending_.length : 0;
    if (sending_.how == http::framing::kind::until_close) close_after_ = true;
    http::h1::write_response_start(work_->out, head.status, head.reason, head.header);
    // HEAD tells the length that the GET would have (RFC 9110 §9.3.2).
    const bool implied = sending_.how == http::framing::kind::none &&
                         work_->request.head().verb == http::method::head && head.declared_length < 0 &&
                         head.body.how == http::framing::kind::length;
    http::h1::write_head_end(work_->out, sending_,
                             implied ? static_cast<std::int64_t>(head.body.length) : head.declared_length,
                             work_->request.head().protocol, will_keep_alive());
    phase_ = phase::head;
}

task<result<void>> h1_connection::send_whole(const http::response_head& head, std::string_view content) {
    begin_answer(head);
    if (sending_.how == http::framing::kind::none) content = {};
    if (sending_.length != content.size()) {  // never another length than Content-Length promised
        cut();
        co_return fail(errc::internal);
    }
    const gather buffers{work_->out, content};
    const result<void> sent = co_await write(buffers, 0);
    work_->out.clear();
    if (sent && phase_ != phase::aborted) phase_ = phase::done;
    co_return sent;
}

task<result<void>> h1_connection::send_head(const http::response_head& head) {
    begin_answer(head);
    co_return result<void>{};
}

task<result<void>> h1_connection::send(std::string_view content) {
    if (content.empty() || sending_.how == http::framing::kind::none) co_return result<void>{};
    const bool chunked = sending_.how == http::framing::kind::chunked;
    if (sending_.how == http::framing::kind::length) {
        if (content.size() > left_to_send_) co_return fail(errc::internal);  // never more than Content-Length promised
        left_to_send_ -= content.size();
    }
    if (chunked) http::h1::write_chunk_start(work_->out, content.size());
    const gather buffers{work_->out, content, chunked ? crlf : std::string_view{}};
    const result<void> sent = co_await write(buffers, 0);
    work_->out.clear();
    co_return sent;
}

task<result<void>> h1_connection::flush() {
    if (work_->out.empty()) co_return result<void>{};
    const gather buffers{work_->out};
    const result<void> sent = co_await write(buffers, 0);
    work_->out.clear();
    co_return sent;
}

task<result<void>> h1_connection::finish(const http::fields* trailers) {
    if (sending_.how == http::framing::kind::chunked) {
        static const http::fields none;
        http::h1::write_last_chunk(work_->out, trailers != nullptr ? *trailers : none);
    }
    if (sending_.how == http::framing::kind::length && left_to_send_ > 0) {
        cut();
        co_return fail(errc::internal);
    }
    const result<void> sent = co_await flush();
    if (sent && phase_ != phase::aborted) phase_ = phase::done;
    co_return sent;
}

void h1_connection::abort() noexcept {
    cut();
}

}  // namespace etagere::net
