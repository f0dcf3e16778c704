// One operation on one server: who waits for it, until when, and what came of it.
#pragma once

#include "etagere/base/time.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace etagere::store {

enum class verb : std::uint8_t { get, add, cas, touch };

enum class reply_status : std::uint8_t {
    ok,
    miss,       // get, cas, touch: not there; add: there already
    conflict,   // cas: changed meanwhile
    too_large,  // the server's item limit
    refused,    // SERVER_ERROR: out of memory and the like; the server is well otherwise
    timeout,
    error,        // no connection, or an answer that is none
    unavailable,  // not asked: breaker, full queue, stopping
    unwanted,     // not asked: an erase came in between
};

/// The server's bytes, as libmemcached allocated them.
class received {
public:
    received(char* bytes, std::size_t size, std::uint64_t cas) noexcept : bytes_(bytes), size_(size), cas_(cas) {}
    std::string_view view() const noexcept { return {bytes_.get(), size_}; }
    std::uint64_t cas() const noexcept { return cas_; }

private:
    struct release {
        void operator()(char* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<char, release> bytes_;
    std::size_t size_;
    std::uint64_t cas_;
};
using received_ptr = std::shared_ptr<const received>;

struct reply {
    reply_status status = reply_status::error;
    received_ptr value;  // get that is ok
};

/// A count that an erase moves on: a write that was prepared before must not bring back what was erased.
using epoch = std::atomic<std::uint32_t>;

/// The lane and the watchdog both may complete it; the first one does.
class request {
public:
    using handler = std::move_only_function<void(reply)>;

    verb what = verb::get;
    std::string key;
    std::string value;        // add, cas
    std::uint64_t cas = 0;    // cas
    std::int64_t expiry = 0;  // add, cas, touch; memcached's: seconds from now, or Unix time above 30 days
    const epoch* guard = nullptr;
    std::uint32_t guarded_at = 0;
    handler done;
    steady_time deadline{};

    void complete(reply r) {
        if (!completed_.exchange(true, std::memory_order_acq_rel)) std::exchange(done, {})(std::move(r));
    }
    bool completed() const noexcept { return completed_.load(std::memory_order_acquire); }
    bool wanted() const noexcept { return guard == nullptr || guard->load(std::memory_order_acquire) == guarded_at; }

private:
    std::atomic<bool> completed_ = false;
};
using request_ptr = std::shared_ptr<request>;

}  // namespace etagere::store
