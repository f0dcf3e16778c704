#include "etagere/observe/log_writer.hpp"

#include "etagere/observe/log.hpp"
#include "etagere/observe/text.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <pthread.h>

namespace etagere::observe {
log_lane::log_lane(log_writer& writer, std::shared_ptr<log_output> to, std::size_t limit)
    : writer_(writer), limit_(limit), output_(std::move(to)) {
    // Room for the line that crosses the limit.
    active_.reserve(limit + max_logged_value);
    writing_.reserve(limit + max_logged_value);
}

void log_lane::redirect(std::shared_ptr<log_output> to) {
    // The old output is let go outside the lock: that may close a file.
    exclusively([this, &to] { output_.swap(to); });
}

void log_lane::wake(bool hurry) noexcept {
    writer_.wake(hurry);
}

log_writer::log_writer(options o) : options_(o) {
    // The thread inherits the mask: signals are for the threads that handle them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

log_writer::~log_writer() {
    give_up_at_.store(std::chrono::steady_clock::now() + options_.stop_within);
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    wake_up_.notify_one();
    thread_.join();
}

std::shared_ptr<log_lane> log_writer::open_lane(std::shared_ptr<log_output> to) {
    const std::shared_ptr<log_lane> lane(new log_lane(*this, std::move(to), options_.lane_bytes));
    const std::scoped_lock lock(mutex_);
    lanes_.push_back(lane);
    return lane;
}

void log_writer::wake(bool hurry) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        pending_ = true;
        hurry_ = hurry_ || hurry;
    }
    wake_up_.notify_one();
}

bool log_writer::flush(milliseconds within) {
    std::unique_lock lock(mutex_);
    const std::uint64_t ticket = ++flush_asked_;
    hurry_ = true;
    wake_up_.notify_one();
    return flushed_.wait_for(lock, within, [this, ticket] { return flush_done_ >= ticket; });
}

void log_writer::reopen() {
    {
        const std::scoped_lock lock(mutex_);
        reopen_ = true;
        hurry_ = true;
    }
    wake_up_.notify_one();
}

std::uint64_t log_writer::dropped() const {
    std::uint64_t sum = 0;
    for (const auto& lane : lanes()) sum += lane->dropped();
    return sum;
}

std::vector<std::shared_ptr<log_lane>> log_writer::lanes() const {
    const std::scoped_lock lock(mutex_);
    return lanes_;
}

bool log_writer::out_of_time() const noexcept {
    return std::chrono::steady_clock::now() >= give_up_at_.load();
}

void log_writer::drain(log_lane& lane) {
    std::shared_ptr<log_output> output;
    {
        const std::scoped_lock lock(lane.mutex_);
        lane.active_.swap(lane.writing_);
        output = lane.output_;
    }
    const std::size_t lost = output->write(lane.writing_, [this] { return out_of_time(); });
    if (lost != 0) {
        const auto tail = std::string_view(lane.writing_).substr(lane.writing_.size() - lost);
        lane.dropped_.fetch_add(static_cast<std::uint64_t>(std::ranges::count(tail, '\n')), std::memory_order_relaxed);
    }
    lane.writing_.clear();
}

void log_writer::reopen_outputs(const std::vector<std::shared_ptr<log_lane>>& lanes) {
    std::vector<std::shared_ptr<log_output>> outputs;  // each once: the lanes of all workers share one
    for (const auto& lane : lanes) {
        const std::scoped_lock lock(lane->mutex_);
        if (std::ranges::find(outputs, lane->output_) == outputs.end()) outputs.push_back(lane->output_);
    }
    for (const auto& output : outputs) {
        if (const auto done = output->reopen(); !done) {
            log::error("observe", "log_reopen_failed", "the log file cannot be opened again; the old one stays in use",
                       {{"path", output->path()}, {"err", done.error().message()}});
        }
    }
}

void log_writer::run() {
    std::unique_lock lock(mutex_);
    bool stopping = false;
    while (!stopping) {
        wake_up_.wait(lock, [this] { return pending_ || hurry_ || stop_; });
        // The first line opens a batch: what comes in meanwhile shares its writes.
        wake_up_.wait_for(lock, options_.flush_every, [this] { return hurry_ || stop_; });
        pending_ = false;
        hurry_ = false;
        stopping = stop_;
        const bool reopening = std::exchange(reopen_, false);
        const std::uint64_t ticket = flush_asked_;
        const auto lanes = lanes_;
        lock.unlock();

        if (reopening) reopen_outputs(lanes);
        for (const auto& lane : lanes) drain(*lane);

        lock.lock();
        flush_done_ = ticket;
        flushed_.notify_all();
    }
}

}  // namespace etagere::observe
