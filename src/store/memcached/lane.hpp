// A lane: one thread that talks to one server, behind a bounded queue. What waits together travels together.
#pragma once

#include "etagere/store/stats.hpp"

#include "breaker.hpp"
#include "client.hpp"
#include "watchdog.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace etagere::store {

/// Thread-safe; nothing here blocks the caller. Of what waits, erases go first (nothing is read from a server that
/// still owes one), then all reads as one question, then one write.
class lane {
public:
    lane(const memcached_server& server, const memcached_options& options, watchdog& deadlines);
    ~lane() { stop(); }

    /// What is begun from now on waits no longer than until `last`. For who has others to wait for before stop(): a
    /// call begun meanwhile could take a whole timeout more.
    void end_by(steady_time last) { client_.end_by(last); }
    /// Ends the thread within connect_timeout plus a timeout; completes what waits, and what is submitted later, as
    /// unavailable.
    void stop();

    /// Completes inside the call where the breaker is open or the queue is full. Takes them over.
    void submit(std::span<request_ptr> together);
    void submit(request_ptr r) { submit(std::span(&r, 1)); }
    /// Never lost while the server is away, up to a bound: it is owed, and paid before anything else is asked.
    void erase(std::string key);

    /// False while the server is left alone.
    bool available() const;
    server_stats stats() const;

private:
    struct work {
        std::deque<std::string> erases;
        std::vector<request_ptr> reads;
        request_ptr write;
    };
    void run();
    bool wait_for_work(std::unique_lock<std::mutex>& lock);
    work take_work();
    bool pay(std::deque<std::string>& erases);
    void read(std::vector<request_ptr>& batch);
    void write(request& r);
    template <class Attempt> reply_status attempt(Attempt ask);
    void report(reply_status status);

    const memcached_options& options_;
    watchdog& deadlines_;
    std::string name_;
    client client_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    breaker breaker_;
    std::deque<request_ptr> reads_;
    std::deque<request_ptr> writes_;
    std::deque<std::string> owed_;
    steady_time busy_since_ = steady_time::max();  // of the thread's current work
    std::uint64_t opened_ = 0;
    std::uint64_t lost_erases_ = 0;
    std::atomic<bool> stopping_ = false;  // written under the mutex
    std::jthread thread_;
};

}  // namespace etagere::store
