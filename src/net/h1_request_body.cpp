#include "h1_connection_impl.hpp"

namespace etagere::net {

namespace {
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr milliseconds rate_grace{5000};  // before the minimum rate is judged
}  // namespace

task<result<std::string_view>> h1_connection::read() {
    if (body_failed_ || phase_ == phase::aborted) co_return fail(errc::client_closed);
    if (work_->request.head().expects_continue && !continue_sent_ && !head_sent() && !work_->decoder.done()) {
        continue_sent_ = true;
        if (work_->in.empty()) {  // a client that already sends does not need to be told (RFC 9110 §10.1.1)
            const gather line{continue_line};
            body_reading_ = true;
            const result<void> sent = co_await write(line, 0);
            body_reading_ = false;
            if (!sent) co_return std::unexpected(sent.error());
        }
    }
    for (;;) {
        if (work_->decoder.done()) co_return std::string_view{};
        if (!work_->in.empty()) {
            const auto step = work_->decoder.decode(work_->in.data());
            if (!step) {
                body_failed_ = true;
                co_return std::unexpected(step.error());
            }
            work_->in.consume(step->consumed);
            bytes_in_ += step->consumed;
            if (step->content.empty()) continue;
            body_received_ += step->content.size();
            if (body_received_ > options_->body_bytes) {
                body_failed_ = true;
                co_return fail(errc::content_too_large);
            }
            co_return step->content;
        }
        // The longest pause, and the average rate over the time that was spent waiting for the client (not for the
        // origin: back-pressure of ours is not the client's fault). Without the second, a byte every 29 s holds an
        // origin for ever.
        const steady_time before = on_.steady_now();
        milliseconds patience = options_->body_timeout.count() > 0 ? options_->body_timeout : milliseconds::max() / 4;
        if (options_->min_body_rate > 0) {
            const auto earned =
                milliseconds(static_cast<std::int64_t>(body_received_ * 1000 / options_->min_body_rate));
            patience = std::min(patience, std::max(milliseconds{0}, rate_grace + earned - body_waited_));
        }
        if (patience < milliseconds::max() / 4) read_deadline_.arm(before + patience);
        body_reading_ = true;
        const bool more = co_await fill(read_buffer::initial);
        body_reading_ = false;
        const bool late = read_deadline_.expired();
        read_deadline_.disarm();
        body_waited_ += std::chrono::duration_cast<milliseconds>(on_.steady_now() - before);
        if (!more) {
            body_failed_ = true;
            co_return fail(late ? errc::request_timeout : errc::client_closed);
        }
    }
}

void h1_connection::stop() noexcept {
    body_stopped_ = true;
    if (!body_reading_) return;
    // The upload that waits in read() has to come back: the origin has answered, or is gone.
    error_code ignored;
    socket_.cancel(ignored);
}

}  // namespace etagere::net
