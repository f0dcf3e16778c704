// One request at an origin: sent, perhaps again, and its answer.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/h1/body.hpp"
#include "etagere/http/message.hpp"
#include "etagere/upstream/upstream.hpp"

#include "pool.hpp"
#include "upload.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace etagere::upstream {

class call_impl final : public call {
public:
    static void* operator new(std::size_t size) { return net::take_frame(size); }
    static void operator delete(void* call, std::size_t size) noexcept { net::give_frame_back(call, size); }

    explicit call_impl(std::shared_ptr<pool> from) : pool_(std::move(from)) {}
    ~call_impl() override;

    /// Gets a connection, sends, and awaits the head. On an error nothing is held any more.
    net::task<result<void>> start(const call_request& request);

    // call
    const http::response_head& head() const noexcept override { return head_; }
    http::response_head take_head() noexcept override;
    const call_facts& facts() const noexcept override { return facts_; }
    std::optional<std::string_view> whole() noexcept override;
    net::stream_socket take_socket(std::string& early, std::shared_ptr<void>& released) override;

    // body_source
    net::task<result<std::string_view>> read() override;
    void stop() noexcept override { ended() ? settle() : drop(); }
    const http::fields* trailers() const noexcept override;

private:
    net::task<result<void>> wait_for_connection(bool located, steady_time begun);
    net::task<result<void>> connect();
    net::task<result<void>> await_answer(const call_request& request, steady_time begun);
    net::task<result<void>> await_head(const call_request& request, steady_time begun);
    result<bool> parse_head(const call_request& request);
    void write_head(const http::request_head& head);
    void send(const call_request& request, std::string_view first);
    error_code blame(const error_code& ec) const noexcept;
    bool may_repeat(const http::request_head& head, const error_code& why) const noexcept;
    void settle();
    void drop() noexcept;

    /// Nothing of request and answer is left to wait for.
    bool ended() const noexcept { return head_here_ && decoder_.done() && !switched_ && !sending(); }

    /// The request is still on its way.
    bool sending() const noexcept { return upload_ && upload_->running(); }
    std::uint64_t sent() const noexcept { return sent_at_once_ + (upload_ ? upload_->sent() : 0); }

    steady_time now() const noexcept { return pool_->on().steady_now(); }
    steady_time by(steady_time from, milliseconds phase) const noexcept { return std::min(from + phase, latest_); }
    /// A phase's deadline may have been the total one.
    errc late(errc phase) const noexcept { return now() >= latest_ ? errc::upstream_total_timeout : phase; }
    bool kept() const noexcept { return connection_->requests > 1; }

    std::shared_ptr<pool> pool_;
    std::shared_ptr<connection> connection_;  // null once it was given back or dropped
    std::shared_ptr<upload> upload_;          // null where the request went out at once
    std::uint64_t sent_at_once_ = 0;
    target to_;
    steady_time latest_ = steady_time::max();  // options::total_timeout
    http::response_head head_;
    http::h1::body_decoder decoder_;
    call_facts facts_;
    bool head_here_ = false;
    bool answered_ = false;  // one byte of the answer to this attempt is here
    unsigned interim_ = 0;
    bool may_pause_ = false;
    bool switched_ = false;  // 101
};

}  // namespace etagere::upstream
