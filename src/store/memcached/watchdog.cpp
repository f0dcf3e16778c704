#include "watchdog.hpp"

#include "thread.hpp"

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

void watchdog::watch(request_ptr r) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        r->deadline = clock::now() + timeout_;  // under the lock: the queue is in the order of the deadlines
        wake = waiting_.empty();
        waiting_.push_back(std::move(r));
    }
    if (wake) changed_.notify_one();
}

void watchdog::run() {
    std::vector<request_ptr> late;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        if (waiting_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const steady_time now = clock::now();
        while (!waiting_.empty() && waiting_.front()->deadline <= now) {
            late.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
        }
        if (late.empty()) {
            const steady_time next = waiting_.front()->deadline;
            changed_.wait_until(lock, next);
            continue;
        }
        lock.unlock();
        for (const request_ptr& r : late) r->complete({.status = reply_status::timeout, .value = {}});
        late.clear();
        lock.lock();
    }
}

}  // namespace etagere::store
