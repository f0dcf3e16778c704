#include "lane.hpp"

#include "thread.hpp"

#include <algorithm>

namespace etagere::store {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_reads_at_once = 64;  // one long answer must not make the last of many late
constexpr std::size_t most_owed = 8192;

bool is_failure(reply_status s) noexcept {
    return s == reply_status::timeout || s == reply_status::error;
}

void complete_all(auto& requests, reply_status status) {
    for (const request_ptr& r : requests) r->complete({.status = status, .value = {}});
}

}  // namespace

lane::lane(const memcached_server& server, const memcached_options& options, watchdog& deadlines)
    : options_(options),
      deadlines_(deadlines),
      name_(server.host + ':' + std::to_string(server.port)),
      client_(server, options.timeout, options.connect_timeout),
      breaker_(options.breaker_failures, options.breaker_open),
      thread_(start_thread("mc-lane", [this] { run(); })) {}

void lane::stop() {
    std::deque<request_ptr> left;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        left.swap(reads_);
        std::ranges::move(writes_, std::back_inserter(left));
        writes_.clear();
    }
    changed_.notify_one();
    client_.end_by(steady_time::min());
    client_.interrupt();
    complete_all(left, reply_status::unavailable);
    if (thread_.joinable()) thread_.join();
}

void lane::submit(std::span<request_ptr> together) {
    std::vector<request_ptr> refused;
    bool stuck = false;
    {
        const std::lock_guard lock(mutex_);
        const steady_time now = clock::now();
        for (request_ptr& r : together) {
            auto& queue = r->what == verb::get ? reads_ : writes_;
            const std::size_t most = r->what == verb::get ? options_.read_queue : options_.write_queue;
            if (!stopping_ && queue.size() < most && breaker_.allow(now)) {
                queue.push_back(r);
            } else {
                refused.push_back(std::move(r));
            }
        }
        // A server that sends a byte now and then never lets a call time out by itself.
        stuck = busy_since_ < now - options_.timeout - options_.connect_timeout;
    }
    if (stuck) client_.interrupt();
    changed_.notify_one();
    deadlines_.watch(together);
    complete_all(refused, reply_status::unavailable);
}

void lane::erase(std::string key) {
    {
        const std::lock_guard lock(mutex_);
        if (owed_.size() == most_owed) {
            owed_.pop_front();
            ++lost_erases_;
        }
        owed_.push_back(std::move(key));
    }
    changed_.notify_one();
}

bool lane::available() const {
    const std::lock_guard lock(mutex_);
    return breaker_.state() == breaker_state::closed || clock::now() >= breaker_.until();
}

server_stats lane::stats() const {
    const std::lock_guard lock(mutex_);
    return {.name = name_,
            .breaker = breaker_.state(),
            .opened = opened_,
            .queue_depth = reads_.size() + writes_.size(),
            .reconnects = client_.reconnects(),
            .owed_erases = owed_.size(),
            .lost_erases = lost_erases_};
}

// An open breaker lets nothing into the queues; what is owed waits for the time of the next try.
bool lane::wait_for_work(std::unique_lock<std::mutex>& lock) {
    while (!stopping_) {
        if (!reads_.empty() || !writes_.empty()) return true;
        if (owed_.empty()) {
            changed_.wait(lock);
        } else if (breaker_.allow(clock::now())) {
            return true;
        } else {
            const steady_time next = breaker_.until();
            changed_.wait_until(lock, next);
        }
    }
    return false;
}

lane::work lane::take_work() {
    work out;
    out.erases.swap(owed_);
    const std::size_t reads = std::min(reads_.size(), most_reads_at_once);
    out.reads.assign(std::move_iterator(reads_.begin()),
                     std::move_iterator(reads_.begin() + static_cast<std::ptrdiff_t>(reads)));
    reads_.erase(reads_.begin(), reads_.begin() + static_cast<std::ptrdiff_t>(reads));
    if (!writes_.empty()) {
        out.write = std::move(writes_.front());
        writes_.pop_front();
    }
    busy_since_ = clock::now();
    return out;
}

void lane::run() {
    std::unique_lock lock(mutex_);
    while (wait_for_work(lock)) {
        work w = take_work();
        lock.unlock();
        if (pay(w.erases)) {
            read(w.reads);
            if (w.write && !stopping_) write(*w.write);
        }
        // Not paid: what the server says now may be what should have been erased.
        complete_all(w.reads, reply_status::error);
        if (w.write) w.write->complete({.status = reply_status::error, .value = {}});
        lock.lock();
        busy_since_ = steady_time::max();
        owed_.insert(owed_.begin(), std::move_iterator(w.erases.begin()), std::move_iterator(w.erases.end()));
    }
}

// A server that restarted, or closed a connection that was idle, is not ill: the first failure on a connection that had
// worked is tried again at once on a new one. Not after a timeout: that has cost enough.
template <class Attempt> reply_status lane::attempt(Attempt ask) {
    const bool proven = client_.proven();
    reply_status status = ask();
    if (status == reply_status::error && proven) status = ask();
    report(status);
    return status;
}

void lane::report(reply_status status) {
    std::deque<request_ptr> hopeless;
    {
        const std::lock_guard lock(mutex_);
        if (!is_failure(status)) return breaker_.succeeded();
        if (breaker_.failed(clock::now())) ++opened_;
        if (breaker_.state() != breaker_state::open) return;
        hopeless.swap(reads_);
        std::ranges::move(writes_, std::back_inserter(hopeless));
        writes_.clear();
    }
    complete_all(hopeless, reply_status::unavailable);
}

bool lane::pay(std::deque<std::string>& erases) {
    while (!erases.empty()) {
        const reply_status status = attempt([&] { return client_.remove(erases.front()); });
        if (is_failure(status) || stopping_) return false;
        erases.pop_front();
    }
    return true;
}

void lane::read(std::vector<request_ptr>& batch) {
    std::erase_if(batch, [](const request_ptr& r) { return r->completed(); });  // timed out while they waited
    if (batch.empty()) return;
    std::ranges::sort(batch, {}, &request::key);
    std::vector<std::string_view> keys;
    for (const request_ptr& r : batch) {
        if (keys.empty() || keys.back() != r->key) keys.emplace_back(r->key);
    }
    client::deliver deliver = [&](std::size_t index, const received_ptr& value) {
        for (const request_ptr& r : std::ranges::equal_range(batch, keys[index], {}, &request::key)) {
            r->complete({.status = reply_status::ok, .value = value});
        }
    };
    const reply_status status = attempt([&] { return client_.get(keys, deliver); });
    complete_all(batch, status == reply_status::ok ? reply_status::miss : status);
}

void lane::write(request& r) {
    if (r.completed()) return;
    // Here and not earlier: an erase that came before is paid by now, one that comes later is paid after.
    if (!r.wanted()) return r.complete({.status = reply_status::unwanted, .value = {}});
    r.complete({.status = attempt([&] { return client_.write(r); }), .value = {}});
}

}  // namespace etagere::store
