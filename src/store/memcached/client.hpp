// libmemcached for one server: what it gets wrong or leaves open is settled here.
#pragma once

#include "etagere/store/memcached.hpp"

#include "request.hpp"

#include <functional>
#include <mutex>
#include <span>
#include <string>

struct memcached_st;

namespace etagere::store {

/// Of one thread, except interrupt() and end_by(). Every call blocks, at most for `timeout` between two bytes of the
/// server and `connect_timeout` while connecting; interrupt() ends a server that drips. After anything but a plain
/// answer the connection is closed: a late reply must not meet the next question.
class client {
public:
    client(memcached_server server, milliseconds timeout, milliseconds connect_timeout);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    using deliver = std::move_only_function<void(std::size_t index, received_ptr)>;
    /// Asks for all keys at once; they are sorted and different. `ok`: those not delivered are not there.
    reply_status get(std::span<const std::string_view> keys, deliver& found);
    reply_status write(const request& r);
    reply_status remove(const std::string& key);

    /// Whether this connection has answered before: then a failure may only mean that the server restarted.
    bool proven() const noexcept { return proven_; }
    std::uint64_t reconnects() const noexcept { return reconnects_.load(std::memory_order_relaxed); }
    /// From any thread: what blocks now returns soon, as a timeout.
    void interrupt() noexcept;
    /// From any thread: calls that begin from now on wait no longer than until `last`.
    void end_by(steady_time last) noexcept;

private:
    reply_status judge(int rc);
    void open();
    void close() noexcept;

    memcached_server server_;
    milliseconds timeout_;
    milliseconds connect_timeout_;
    std::mutex swap_;  // held while handle_ changes, and by interrupt() and end_by()
    memcached_st* handle_ = nullptr;
    steady_time last_ = steady_time::max();
    bool proven_ = false;
    std::atomic<std::uint64_t> reconnects_ = 0;
};

}  // namespace etagere::store
