// The state of one HTTP/1 client connection; its parts are in h1_connection.cpp (the loop), h1_request_body.cpp,
// h1_response.cpp and tunnel.cpp.
#pragma once

#include "etagere/http/h1/serializer.hpp"
#include "etagere/net/h1_connection.hpp"

#include "h1_workspace.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <initializer_list>
#include <span>
#include <string_view>
#include <sys/types.h>

namespace etagere::net {

/// What one write takes: up to three pieces, none of them empty. The last may lie in a file.
class gather {
public:
    gather() = default;
    gather(std::initializer_list<std::string_view> pieces, file_place last = {}) noexcept : file_(last) {
        for (const std::string_view piece : pieces) {
            if (!piece.empty()) pieces_[count_++] = piece;
        }
    }
    const std::string_view* begin() const noexcept { return pieces_.data(); }
    const std::string_view* end() const noexcept { return pieces_.data() + count_; }
    bool empty() const noexcept { return count_ == 0; }
    std::size_t count() const noexcept { return count_; }
    std::size_t octets() const noexcept {
        std::size_t sum = 0;
        for (const std::string_view piece : *this) sum += piece.size();
        return sum;
    }
    /// The first `n` octets are out.
    void advance(std::size_t n) noexcept {
        std::size_t gone = 0;
        while (gone < count_ && n >= pieces_[gone].size()) n -= pieces_[gone++].size();
        std::copy(pieces_.data() + gone, pieces_.data() + count_, pieces_.data());
        count_ -= gone;
        if (count_ == 0) return;
        pieces_[0].remove_prefix(n);
        if (count_ == 1) file_.at += n;
    }
    file_place file_of_last() const noexcept { return file_; }

    static constexpr std::size_t most = 3;

private:
    std::array<std::string_view, most> pieces_;
    std::size_t count_ = 0;
    file_place file_;
};

/// What a system call said just now.
inline error_code last_error() noexcept {
    return {errno, boost::system::system_category()};
}

class h1_connection final : public transaction, public connection_registry::member, private body_source {
public:
    h1_connection(worker& on, stream_socket socket, std::shared_ptr<const connection_options> options, peer_info peer,
                  handler& behind, connection_registry& registry);
    ~h1_connection() override;

    task<void> run();

    // connection_registry::member
    void drain() noexcept override;
    void cut() noexcept override;

    // transaction
    const http::request_head& request() noexcept override { return work_->request.head(); }
    const peer_info& peer() const noexcept override { return peer_; }
    worker& on() noexcept override { return on_; }
    moment started() const noexcept override { return started_; }
    std::uint64_t bytes_in() const noexcept override { return bytes_in_; }
    std::uint64_t bytes_out() const noexcept override { return bytes_out_; }
    body_source& body() noexcept override { return *this; }
    task<result<void>> send_interim(const http::response_head& head) override;
    task<result<void>> answer(immediate_answer& a) override;
    immediate_answer& blank_answer() noexcept override {
        work_->answer.clear();
        return work_->answer;
    }
    task<result<void>> send_whole(const http::response_head& head, std::string_view content) override;
    task<result<void>> send_head(const http::response_head& head) override;
    task<result<void>> send(std::string_view content) override;
    task<result<void>> flush() override;
    task<result<void>> finish(const http::fields* trailers) override;
    void abort() noexcept override;
    bool head_sent() const noexcept override { return phase_ >= phase::head; }
    task<void> tunnel(const http::response_head& switching, stream_socket upstream, std::string early,
                      milliseconds idle_timeout) override;

private:
    enum class phase : std::uint8_t { idle, request, head, done, aborted };
    enum class head_event : std::uint8_t { incomplete, ready, refused, closed };

    /// The next head out of what was read.
    head_event take_head();
    /// There is no more to come: the end, an error or a deadline.
    head_event give_up_head();
    void arm_read(milliseconds timeout, steady_time from) noexcept;
    bool has_input() const noexcept { return work_ && !work_->in.empty(); }
    /// One byte more than a head may have, so that the parser is the one to say "too large".
    std::size_t most_of_head() const noexcept { return options_->head.header_bytes + 1024; }
    task<bool> fill(std::size_t most);  // false: end, error or deadline
    task<bool> handle();                // false: the connection ends here
    task<void> refuse(error_code why);
    task<bool> drain_body();
    task<void> linger();
    /// The client said itself that nothing follows this request, and nothing does.
    bool is_last() const noexcept { return last_request_ && work_->decoder.done() && !has_input(); }
    void begin_request() noexcept;
    bool will_keep_alive() const noexcept;

    // body_source: the request's body
    task<result<std::string_view>> read() override;
    void stop() noexcept override;

    gather immediate_buffers(immediate_answer& a);
    void begin_answer(const http::response_head& head);
    task<result<void>> write(gather buffers, std::size_t skip);
    /// As much as the client takes now; 0 where that is nothing. `more`: MSG_MORE where something follows at once, else
    /// 0.
    std::size_t write_now(const gather& buffers, int more, error_code& ec);
    std::size_t send_now(std::span<const std::string_view> pieces, int flags, error_code& ec);
    std::size_t sent_now(ssize_t sent, error_code& ec) noexcept;
    void count_out(std::size_t n) noexcept { bytes_out_ += n; }

    worker& on_;
    stream_socket socket_;
    std::shared_ptr<const connection_options> options_;
    peer_info peer_;
    handler& behind_;
    connection_registry& registry_;

    workspace_ptr work_;  // null while the connection is idle
    /// What the next request begins with is read into here. To wait for it and then read would cost an idle connection
    /// nothing, and each request the system call that arms the wait.
    std::array<char, 1024> first_octets_;
    http::framing sending_;           // how the answer's body is framed
    std::uint64_t left_to_send_ = 0;  // of a length-framed answer
    moment started_{};
    steady_time ended_{};  // the last exchange, or the connection's beginning
    std::uint64_t bytes_in_ = 0, bytes_out_ = 0;
    std::uint64_t body_received_ = 0;
    milliseconds body_waited_{0};  // time spent waiting for the client inside the body
    phase phase_ = phase::idle;
    error_code refusal_{};  // why take_head() or give_up_head() refused
    bool continue_sent_ = false;
    bool close_after_ = false;  // this answer ends the connection
    bool body_failed_ = false;
    bool body_stopped_ = false;
    bool body_reading_ = false;  // a read() is suspended
    bool draining_ = false;
    bool first_request_ = true;
    bool last_request_ = false;  // the client said so (RFC 9112 §9.6)
    deadline read_deadline_;
    deadline write_deadline_;
};

}  // namespace etagere::net
