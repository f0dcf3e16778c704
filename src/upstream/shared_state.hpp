// What the workers share of one origin: permits for connections and the queue of those who wait for one.
#pragma once

#include "etagere/net/asio.hpp"
#include "etagere/upstream/upstream.hpp"

#include "address_book.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace etagere::upstream {

class connection;
class pool;

/// One of the options::max_connections that may be open. Given back when destroyed, on any thread.
class permit {
public:
    permit() = default;
    explicit permit(std::shared_ptr<shared_state> of) noexcept : of_(std::move(of)) {}
    permit(permit&& other) noexcept = default;
    permit& operator=(permit&& other) noexcept {
        reset();
        of_ = std::move(other.of_);
        return *this;
    }
    ~permit() { reset(); }
    explicit operator bool() const noexcept { return of_ != nullptr; }
    void reset() noexcept;

private:
    std::shared_ptr<shared_state> of_;
};

/// A worker's pool as the others see it. The numbers are guarded by shared_state's mutex.
struct pool_link {
    net::io_executor executor;
    std::weak_ptr<pool> owner;
    std::size_t idle = 0;
    std::size_t asked = 0;  // requests to give one up that have not arrived yet
};

/// A request that waits for a connection. Granted with a permit, or by its own worker with a kept connection.
struct waiter {
    enum class state : std::uint8_t { queued, granted, withdrawn };

    explicit waiter(pool_link& of) : from(&of), executor(of.executor) {}

    pool_link* from;
    net::io_executor executor;
    // Guarded by shared_state's mutex.
    state now = state::queued;
    unsigned passed_over = 0;
    std::list<std::shared_ptr<waiter>>::iterator place;
    // Touched on its worker only.
    std::shared_ptr<connection> kept;
    net::steady_timer* timer = nullptr;  // of the coroutine that waits
};

/// The mutex is held for a few instructions and never while a handler runs. Every io_context of an attached pool must
/// outlive the threads that use the state.
class shared_state : public std::enable_shared_from_this<shared_state> {
public:
    /// How often the first in the queue may see somebody behind it served with a connection of that one's own worker,
    /// which is cheaper than to close the connection and to open another elsewhere.
    static constexpr unsigned most_passes = 4;

    explicit shared_state(options o);

    const options settings;
    address_book addresses;
    std::atomic<std::uint64_t> retries = 0, connects = 0, connect_failures = 0, queue_rejected = 0;

    pool_link& attach(std::weak_ptr<pool> owner, const net::io_executor& executor);
    void detach(pool_link& link) noexcept;

    /// Empty where all are taken.
    permit try_permit();

    enum class admission : std::uint8_t { granted, queued, full };
    /// Puts it at the end of the queue, and asks a worker that holds an idle connection to give it up.
    admission enqueue(const std::shared_ptr<waiter>& w);
    /// It waits no longer. False: it had been granted before.
    bool withdraw(waiter& w) noexcept;

    enum class fate : std::uint8_t { keep, hand_over, close };
    struct verdict {
        fate what = fate::keep;
        std::shared_ptr<waiter> to;
    };
    /// What becomes of a connection that can carry another request. `keep`: it counts as idle from now on.
    verdict offer(pool_link& link);
    void no_longer_idle(pool_link& link) noexcept;
    /// The answer to being asked for an idle connection: whether somebody still waits for it.
    bool still_wanted(pool_link& link) noexcept;

    totals read() const;

private:
    friend class permit;
    void release() noexcept;
    static void wake(std::shared_ptr<waiter> w);

    mutable std::mutex mutex_;
    std::size_t open_ = 0;                      // permits given out
    std::list<std::shared_ptr<waiter>> queue_;  // not empty only while all permits are given out
    std::list<pool_link> pools_;
};

}  // namespace etagere::upstream
