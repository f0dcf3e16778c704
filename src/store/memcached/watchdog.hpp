// Keeps the promise that every request is answered in time, whatever its lane is stuck in.
#pragma once

#include "request.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>

namespace etagere::store {

/// Completes a request with a timeout when its deadline passes. All requests have the same timeout, so they pass in the
/// order they came: no timer for each, and no removal of those that were answered before they are at the front.
class watchdog {
public:
    explicit watchdog(milliseconds timeout);
    ~watchdog() { stop(); }

    /// Ends the thread; what it watches must be completed by others before.
    void stop();

    /// Sets the deadlines and watches over them; takes over all that are not null.
    void watch(std::span<request_ptr> together);

private:
    void run();

    milliseconds timeout_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<request_ptr> waiting_;
    bool stopping_ = false;
    bool idle_ = false;  // sleeps until there is something to watch
    std::jthread thread_;
};

}  // namespace etagere::store
