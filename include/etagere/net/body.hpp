// Bodies are pulled: one interface for a client's upload, an upstream's answer, stored bytes and a failing test double.
// Back-pressure comes by itself: what is not read is not received.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/http/fields.hpp"
#include "etagere/net/asio.hpp"

#include <string_view>

namespace etagere::net {

class body_source {
public:
    virtual ~body_source() = default;
    /// The next piece of content; an empty view is the end (after a complete body). The view is valid until the next
    /// call. After an error or the end it must not be called again.
    virtual task<result<std::string_view>> read() = 0;
    /// Nobody will read on. The source may close what it reads from. A read() that is suspended comes back soon, with
    /// any result: until then the source must live, also where nobody waits for it any more. Harmless after the end.
    virtual void stop() noexcept = 0;
    /// Trailer fields, once the end was read; null where there are none.
    virtual const http::fields* trailers() const noexcept { return nullptr; }
};

/// A body of no bytes.
class empty_body final : public body_source {
public:
    task<result<std::string_view>> read() override { co_return std::string_view{}; }
    void stop() noexcept override {}
};

}  // namespace etagere::net
