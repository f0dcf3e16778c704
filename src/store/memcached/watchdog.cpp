#include "watchdog.hpp"

#include "thread.hpp"

#include <utility>
#include <vector>

namespace etagere::store {

using clock = std::chrono::steady_clock;

watchdog::watchdog(milliseconds timeout)
    : timeout_(timeout), thread_(start_thread("mc-deadlines", [this] { run(); })) {}

void watchdog::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void watchdog::watch(std::span<request_ptr> together) {
    std::vector<request_ptr> answered;  // their last references go without the lock
    answered.reserve(2 * together.size());
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        // Under the lock: the queue is in the order of the deadlines.
        const steady_time deadline = clock::now() + timeout_;
        for (request_ptr& r : together) {
            if (!r) continue;
            // Each that comes takes two that are done with it, so that those that wait are what is kept.
            for (int i = 0; i < 2 && !waiting_.empty() && waiting_.front()->completed(); ++i) {
                answered.push_back(std::move(waiting_.front()));
                waiting_.pop_front();
            }
            r->deadline = deadline;
            waiting_.push_back(std::move(r));
        }
        wake = std::exchange(idle_, false);
    }
    if (wake) changed_.notify_one();
}

// Nobody tells it what was answered: it wakes once a timeout, and finds those that were not.
void watchdog::run() {
    std::vector<request_ptr> over;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        const steady_time now = clock::now();
        while (!waiting_.empty() && (waiting_.front()->completed() || waiting_.front()->deadline <= now)) {
            over.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        if (!over.empty()) {
            lock.unlock();
            for (const request_ptr& r : over) r->complete({.status = reply_status::timeout, .value = {}});
            over.clear();
            lock.lock();
        } else if (waiting_.empty()) {
            idle_ = true;
            changed_.wait(lock);
        } else {
            // A copy: the request may be gone before this returns.
            const steady_time next = waiting_.front()->deadline;
            changed_.wait_until(lock, next);
        }
    }
}

}  // namespace etagere::store
