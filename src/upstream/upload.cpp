#include "upload.hpp"

#include "etagere/http/h1/serializer.hpp"

#include <algorithm>

namespace etagere::upstream {

namespace asio = net::asio;

namespace {

constexpr std::string_view crlf = "\r\n";

void drop_front(std::array<std::string_view, 3>& pieces, std::size_t n) noexcept {
    for (std::string_view& p : pieces) {
        const std::size_t here = std::min(n, p.size());
        p.remove_prefix(here);
        n -= here;
    }
}

bool all_empty(const std::array<std::string_view, 3>& pieces) noexcept {
    return std::ranges::all_of(pieces, [](std::string_view p) { return p.empty(); });
}

std::array<asio::const_buffer, 3> buffers(const std::array<std::string_view, 3>& pieces) noexcept {
    return {asio::buffer(pieces[0]), asio::buffer(pieces[1]), asio::buffer(pieces[2])};
}

}  // namespace

upload::upload(std::shared_ptr<connection> c, net::body_source* body, http::framing how, milliseconds write_timeout)
    : connection_(std::move(c)),
      body_(how.has_body() ? body : nullptr),
      how_(how),
      write_timeout_(write_timeout),
      clock_(connection_->on().deadlines(), [this] { connection_->disconnect(); }),
      left_(how.length) {}

void upload::start(std::string_view first, milliseconds head_timeout, steady_time latest) {
    head_timeout_ = head_timeout;
    latest_ = latest;
    if (body_ == nullptr) {
        last_ = true;
        pending_[0] = connection_->output;
    } else {
        frame(first);
        if (!running_) return;
    }
    // Nearly always the kernel takes it all, and no coroutine is needed.
    error_code ec;
    const std::size_t n = connection_->socket().write_some(buffers(pending_), ec);
    sent_ = n;
    drop_front(pending_, n);
    if (ec && ec != asio::error::would_block) {
        over({}, true);
    } else if (last_ && all_empty(pending_)) {
        over({}, false);
    } else if (running_) {
        net::spawn(connection_->on().executor(), run(shared_from_this()));
    }
}

/// Appends the framing of `piece` to the connection's output, which is written together with it.
void upload::frame(std::string_view piece) {
    std::string& out = connection_->output;
    pending_ = {};
    if (how_.how == http::framing::kind::length) {
        if (piece.size() > left_ || (piece.empty() && left_ > 0)) {
            // The source broke its promise; the origin must not take what it got for a whole request.
            over(make_error_code(errc::internal), true);
            connection_->disconnect();
            return;
        }
        left_ -= piece.size();
        last_ = left_ == 0;
    } else if (piece.empty()) {
        static const http::fields none;
        const http::fields* trailers = body_->trailers();
        http::h1::write_last_chunk(out, trailers == nullptr ? none : *trailers);
        last_ = true;
    } else {
        http::h1::write_chunk_start(out, piece.size());
        pending_[2] = crlf;
    }
    pending_[0] = out;
    pending_[1] = piece;
}

net::task<void> upload::run(std::shared_ptr<upload> self) {
    bool more = true;
    while (more) {
        more = co_await self->flush();
        if (more) more = co_await self->next_piece();
    }
}

net::task<bool> upload::flush() {
    while (!stopped_ && !all_empty(pending_)) {
        clock_.arm(connection_->on().steady_now() + write_timeout_);
        auto [ec, n] = co_await connection_->socket().async_write_some(buffers(pending_), net::use_task);
        clock_.disarm();
        if (abandoned_) co_return false;
        sent_ += n;
        drop_front(pending_, n);
        if (ec) {
            over(clock_.expired() ? make_error_code(errc::upstream_idle_timeout) : error_code{}, true);
            co_return false;
        }
    }
    if (stopped_ || last_) over({}, !all_empty(pending_) || !last_);
    co_return running_;
}

net::task<bool> upload::next_piece() {
    reading_ = true;
    auto piece = co_await body_->read();
    reading_ = false;
    if (abandoned_) co_return false;
    if (stopped_) {
        over({}, true);
    } else if (!piece) {
        over(piece.error(), true);
        connection_->disconnect();
    } else {
        connection_->output.clear();
        frame(*piece);
    }
    co_return running_;
}

void upload::over(error_code why, bool failed) noexcept {
    running_ = false;
    failed_ = failed;
    why_ = why;
    // From the request's last byte on the origin owes an answer, also where it stopped reading.
    if (!answered_) {
        connection_->expect_by(std::min(connection_->on().steady_now() + head_timeout_, latest_));
    }
    ended_.open();
}

net::task<void> upload::stop() {
    stopped_ = true;
    while (running_) {
        if (reading_) {
            body_->stop();
        } else {
            error_code ignored;
            connection_->socket().cancel(ignored);
        }
        co_await ended_.wait_until(connection_->on().executor(), steady_time::max());
    }
}

void upload::abandon() noexcept {
    abandoned_ = true;
    if (reading_) body_->stop();
    clock_.disarm();
}

}  // namespace etagere::upstream
