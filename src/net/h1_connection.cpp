#include "etagere/net/h1_connection.hpp"

#include "etagere/http/date.hpp"

#include "h1_connection_impl.hpp"

#include <algorithm>
#include <exception>
#include <sys/socket.h>

#include <boost/asio/post.hpp>

namespace etagere::net {

namespace {

/// Bytes of an unread request body that are worth reading so that the connection can be kept.
constexpr std::uint64_t most_drained = std::uint64_t{256} * 1024;
constexpr milliseconds linger_time{1000};

}  // namespace

connection_registry::connection_registry() : workspaces_(std::make_unique<workspace_pool>()) {}

connection_registry::~connection_registry() = default;

void connection_registry::add(member& m) noexcept {
    m.previous_ = nullptr;
    m.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &m;
    first_ = &m;
    ++size_;
}

void connection_registry::remove(member& m) noexcept {
    (m.previous_ != nullptr ? m.previous_->next_ : first_) = m.next_;
    if (m.next_ != nullptr) m.next_->previous_ = m.previous_;
    --size_;
}

void connection_registry::drain() noexcept {
    draining_ = true;
    for (member* m = first_; m != nullptr;) {
        member* const next = m->next_;
        m->drain();
        m = next;
    }
}

void connection_registry::cut() noexcept {
    for (member* m = first_; m != nullptr;) {
        member* const next = m->next_;
        m->cut();
        m = next;
    }
}

h1_connection::h1_connection(worker& on, stream_socket socket, std::shared_ptr<const connection_options> options,
                             peer_info peer, handler& behind, connection_registry& registry)
    : on_(on),
      socket_(std::move(socket)),
      options_(std::move(options)),
      peer_(std::move(peer)),
      behind_(behind),
      registry_(registry),
      read_deadline_(on.deadlines(),
                     [this] {
                         error_code ignored;
                         socket_.cancel(ignored);
                     }),
      write_deadline_(on.deadlines(), [this] { cut(); }) {
    registry_.add(*this);
}

h1_connection::~h1_connection() {
    registry_.remove(*this);
    if (work_) registry_.workspaces().give_back(std::move(work_));
}

void h1_connection::drain() noexcept {
    draining_ = true;
    if (phase_ != phase::idle || work_) return;
    error_code ignored;
    socket_.close(ignored);
    phase_ = phase::aborted;
}

void h1_connection::cut() noexcept {
    // Linger 0: what the client did not take is dropped with the socket instead of staying in the kernel.
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);
    phase_ = phase::aborted;
}

void h1_connection::begin_request() noexcept {
    phase_ = phase::idle;
    bytes_in_ = bytes_out_ = 0;
    body_received_ = 0;
    body_waited_ = milliseconds{0};
    continue_sent_ = body_failed_ = body_stopped_ = false;
    close_after_ = false;
    sending_ = {};
    if (!work_) return;
    if (work_->in.empty()) {
        registry_.workspaces().give_back(std::move(work_));
    } else {
        work_->out.clear();
    }
}

bool h1_connection::will_keep_alive() const noexcept {
    // A client that waits for "100 Continue" and got a final answer instead may send its body or not: nobody can tell
    // what the next bytes are (RFC 9110 §10.1.1), so the connection ends.
    const bool body_in_doubt = work_->request.head().expects_continue && !continue_sent_ && !work_->decoder.done();
    return work_->request.head().keep_alive && !close_after_ && !draining_ && !body_failed_ && !body_in_doubt &&
           phase_ != phase::aborted;
}

task<bool> h1_connection::fill(std::size_t most) {
    const asio::mutable_buffer space = work_->in.space(most);
    auto [ec, n] = co_await socket_.async_read_some(space, use_task);
    work_->in.filled(n);
    co_return !ec && n > 0;
}

void h1_connection::arm_read(milliseconds timeout, steady_time from) noexcept {
    if (timeout.count() > 0) {
        read_deadline_.arm(from + timeout);
    } else {
        read_deadline_.disarm();
    }
}

h1_connection::head_event h1_connection::take_head() {
    if (!has_input()) return head_event::incomplete;
    const result<std::size_t> used = work_->request.parse(work_->in.data(), options_->head, options_->scheme);
    if (!used) {
        refusal_ = used.error();
        return head_event::refused;
    }
    if (*used == 0) return head_event::incomplete;
    work_->in.consume(*used);
    bytes_in_ = *used;
    return head_event::ready;
}

h1_connection::head_event h1_connection::give_up_head() {
    if (phase_ == phase::aborted || !read_deadline_.expired() || !has_input()) return head_event::closed;
    refusal_ = make_error_code(errc::request_timeout);
    return head_event::refused;
}

// A hit costs this coroutine one suspension, the one that waits for the next request: what can be done at once is done
// by plain functions.
task<void> h1_connection::run() {
    error_code ignored;
    ended_ = on_.steady_now();
    for (bool open = true; open;) {
        begin_request();
        head_event event = take_head();
        if (event == head_event::incomplete) {
            // A first request has to come within header_timeout: a silent new connection is a slow one, not a kept one.
            bool timed_head = first_request_ || has_input();
            arm_read(timed_head ? options_->header_timeout : options_->idle_timeout, ended_);
            while (event == head_event::incomplete) {
                const asio::mutable_buffer space =
                    work_ ? work_->in.space(most_of_head()) : asio::buffer(first_octets_);
                auto [ec, n] = co_await socket_.async_read_some(space, use_task);
                if (!work_ && n > 0) {
                    work_ = registry_.workspaces().take();
                    n = asio::buffer_copy(work_->in.space(most_of_head()), asio::buffer(first_octets_, n));
                }
                if (work_) work_->in.filled(n);
                event = ec || n == 0 ? give_up_head() : take_head();
                if (event == head_event::incomplete && !timed_head && has_input()) {
                    arm_read(options_->header_timeout, on_.steady_now());
                    timed_head = true;
                }
            }
            read_deadline_.disarm();
        }
        if (event == head_event::closed) break;
        first_request_ = false;
        last_request_ = event == head_event::ready && !work_->request.head().keep_alive;
        started_ = on_.now();
        phase_ = phase::request;
        if (event == head_event::refused) {
            co_await refuse(refusal_);
            break;
        }
        work_->decoder.start(work_->request.head().body);
        if (registry_.draining()) draining_ = true;
        if (work_->request.head().body.how == http::framing::kind::length &&
            work_->request.head().body.length > options_->body_bytes) {
            co_await refuse(make_error_code(errc::content_too_large));
            break;
        }
        if (!work_->request.head().body.has_body() && behind_.try_now(*this, work_->answer)) {
            const bool keep = will_keep_alive() && !work_->answer.close;
            const gather buffers = immediate_buffers(work_->answer);
            phase_ = phase::head;
            error_code ec;
            // The end of the connection travels with the answer: one packet less, for both.
            const bool last = is_last();
            const std::size_t n = write_now(buffers, last ? MSG_MORE : 0, ec);
            if (!ec && n < buffers.octets()) {
                behind_.hold(work_->answer);
                const result<void> rest = co_await write(buffers, n);
                if (!rest) ec = rest.error();
            }
            if (last && !ec) socket_.shutdown(asio::socket_base::shutdown_send, ignored);
            phase_ = phase::done;
            ended_ = on_.steady_now();
            behind_.wrote_now(*this, work_->answer, ended_, ec);
            work_->answer.clear();
            open = keep && !ec;
            if (!ec && !keep) co_await linger();
            continue;
        }
        open = co_await handle();
        ended_ = on_.steady_now();
    }
    read_deadline_.disarm();
    write_deadline_.disarm();
    socket_.close(ignored);
}

task<bool> h1_connection::handle() {
    bool failed = false;
    try {
        co_await behind_.handle(*this);
    } catch (const std::exception&) {
        failed = true;  // out of memory at worst: this request ends, the process lives
    }
    // An upload whose answer was dropped may still be on its way out of read().
    while (body_reading_) co_await asio::post(socket_.get_executor(), use_task);
    if (failed || phase_ == phase::request) {
        if (!head_sent()) {
            co_await refuse(make_error_code(errc::internal));
        } else {
            cut();
        }
        co_return false;
    }
    if (phase_ != phase::done) {
        cut();  // the handler left an answer unfinished: the client must see that it is cut
        co_return false;
    }
    if (!will_keep_alive()) {
        co_await linger();
        co_return false;
    }
    if (work_->decoder.done()) co_return true;
    const bool clean = co_await drain_body();
    co_return clean;
}

task<bool> h1_connection::drain_body() {
    body_stopped_ = false;
    const std::uint64_t until = body_received_ + most_drained;
    while (!work_->decoder.done()) {
        const result<std::string_view> piece = co_await read();
        if (!piece || body_received_ > until) co_return false;
    }
    co_return true;
}

task<void> h1_connection::refuse(error_code why) {
    const int status = http_status(why);
    if (status != 0 && phase_ != phase::aborted && !head_sent()) {
        work_->answer.clear();
        work_->answer.status = status;
        work_->answer.dynamic =
            "HTTP/1.1 " + std::to_string(status) + " " + std::string(http::status_phrase(status)) + "\r\nDate: ";
        http::append_date(work_->answer.dynamic, std::chrono::floor<seconds>(started_.wall));
        work_->answer.dynamic += "\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n";
        const std::string text = std::string(error_name(why)) + "\n";
        work_->answer.body = text;
        work_->answer.how = http::framing::of_length(text.size());
        work_->answer.close = true;
        const result<void> sent = co_await answer(work_->answer);
        behind_.refused(*this, why, status);
        if (sent) co_await linger();
    } else {
        behind_.refused(*this, why, 0);
    }
    cut();
}

task<void> h1_connection::linger() {
    // Closing with unread bytes in the receive buffer makes the kernel send RST, which can destroy the answer before
    // the client read it (RFC 9112 §9.6): close the sending side and read on for a moment. Not where the client said
    // itself that nothing follows.
    if (is_last()) co_return;
    error_code ec;
    socket_.shutdown(asio::socket_base::shutdown_send, ec);
    if (ec) co_return;
    read_deadline_.arm(on_.steady_now() + linger_time);
    std::uint64_t dropped = 0;
    while (dropped < most_drained && !read_deadline_.expired()) {
        work_->in.consume(work_->in.data().size());
        const bool more = co_await fill(read_buffer::initial);
        if (!more) break;
        dropped += work_->in.data().size();
    }
    read_deadline_.disarm();
}

task<void> run_h1_connection(worker& on, stream_socket socket, std::shared_ptr<const connection_options> options,
                             peer_info peer, handler& behind, connection_registry& registry) {
    h1_connection connection(on, std::move(socket), std::move(options), std::move(peer), behind, registry);
    co_await connection.run();
}

}  // namespace etagere::net
