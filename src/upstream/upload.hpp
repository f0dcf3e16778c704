// The request on its way to the origin, while the answer is awaited.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/message.hpp"
#include "etagere/net/body.hpp"

#include "connection.hpp"
#include "gate.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace etagere::upstream {

/// Writes the head with the first piece of the body at once, and what does not fit in or comes later in a coroutine of
/// its own. Shared by that coroutine and the call. Belongs to its worker.
class upload : public std::enable_shared_from_this<upload> {
public:
    /// `body` may be null. Everything but `c` must outlive the upload, or abandon() has to be called.
    upload(std::shared_ptr<connection> c, net::body_source* body, http::framing how, milliseconds write_timeout);

    /// `c->output` holds the head; `first` is what body->read() gave, empty for its end. `head_timeout` is for the
    /// answer from the moment on when the last byte was sent, `latest` for everything.
    void start(std::string_view first, milliseconds head_timeout, steady_time latest);

    bool running() const noexcept { return running_; }
    /// Every byte of the request was handed to the kernel.
    bool complete() const noexcept { return !running_ && !failed_; }
    /// What ended it early; no error where the origin just stopped reading: it may have answered.
    const error_code& why() const noexcept { return why_; }
    std::uint64_t sent() const noexcept { return sent_; }

    /// The answer's head is here.
    void answered() noexcept { answered_ = true; }
    /// The answer needs no more of it. Comes back when the body source is no longer used.
    net::task<void> stop();
    /// The call is gone, and its request with it. A read() of the source that is under way comes back to nobody.
    void abandon() noexcept;

private:
    static net::task<void> run(std::shared_ptr<upload> self);
    net::task<bool> flush();       // false: over
    net::task<bool> next_piece();  // false: over, or nothing more to write
    void frame(std::string_view piece);
    void over(error_code why, bool failed) noexcept;

    std::shared_ptr<connection> connection_;
    net::body_source* body_;
    http::framing how_;
    milliseconds write_timeout_;
    milliseconds head_timeout_{0};
    steady_time latest_ = steady_time::max();
    net::deadline clock_;
    std::array<std::string_view, 3> pending_;  // head or chunk line, content, CRLF
    std::uint64_t left_ = 0;                   // of a body of known length
    std::uint64_t sent_ = 0;
    error_code why_;
    bool last_ = false;  // nothing comes after what is pending
    bool running_ = true;
    bool failed_ = false;
    bool reading_ = false;
    bool answered_ = false;
    bool stopped_ = false;
    bool abandoned_ = false;
    gate ended_;
};

}  // namespace etagere::upstream
