// Lines on their way out: whoever has one appends it to a lane and goes on; one thread writes. A slow or full output
// costs lines, which are counted, never a request.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/base/time.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace etagere::observe {

/// Where lines end up: stdout, stderr, or a file that is appended to. Made anywhere, then used by the writer's thread.
class log_output {
public:
    /// `where` is "stdout", "stderr" or a path; a file is made with mode 0640.
    static result<std::shared_ptr<log_output>> open(const std::string& where);
    /// For descriptors that are somebody else's.
    explicit log_output(int borrowed_descriptor) noexcept;
    ~log_output();
    log_output(const log_output&) = delete;
    log_output& operator=(const log_output&) = delete;

    /// Opens the path again, after a rotation. On failure the old file stays in use.
    result<void> reopen();
    /// Writes whole lines. Asks `give_up` ten times a second while the reader of a pipe does not read. Returns how many
    /// bytes were not written.
    template <class GiveUp> std::size_t write(std::string_view lines, GiveUp give_up) {
        while (!lines.empty()) {
            const step done = write_some(lines);
            lines.remove_prefix(done.bytes);
            if (done.failed || (done.bytes == 0 && give_up())) break;
        }
        return lines.size();
    }
    const std::string& path() const noexcept { return path_; }

private:
    struct step {
        std::size_t bytes = 0;
        bool failed = false;
    };
    step write_some(std::string_view lines);
    void use(int descriptor) noexcept;

    int descriptor_ = -1;
    bool owned_ = false;
    bool file_ = false;  // a regular file: never has to be waited for
    std::string path_;
};

class log_writer;

/// A bounded buffer of lines. Thread-safe; meant for one writer of lines each, so that its lock is never contended but
/// for the moment in which the buffer is swapped.
class log_lane {
public:
    /// `format(std::string&)` appends whole lines, or nothing. It runs under the lane's lock and may use state that
    /// only appends of this lane touch. Not called, and counted, while the lane is full.
    template <class Format> void append(Format&& format) {
        bool first = false;
        bool half_full = false;
        {
            const std::scoped_lock lock(mutex_);
            const std::size_t before = active_.size();
            if (before >= limit_) {
                dropped_.fetch_add(1, std::memory_order_relaxed);
                return;
            }
            std::forward<Format>(format)(active_);
            first = before == 0 && !active_.empty();
            half_full = before < limit_ / 2 && active_.size() >= limit_ / 2;
        }
        if (first || half_full) wake(half_full);
    }
    /// Runs `change` while no append runs: for state that append's `format` uses.
    template <class Change> void exclusively(Change&& change) {
        const std::scoped_lock lock(mutex_);
        std::forward<Change>(change)();
    }
    /// Lines that are still waiting go to the new output.
    void redirect(std::shared_ptr<log_output> to);
    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

private:
    friend class log_writer;
    log_lane(log_writer& writer, std::shared_ptr<log_output> to, std::size_t limit);
    void wake(bool hurry) noexcept;

    log_writer& writer_;
    const std::size_t limit_;  // bytes; the line that crosses it is still taken
    std::mutex mutex_;
    std::string active_;
    std::shared_ptr<log_output> output_;
    std::string writing_;  // the writer thread's half
    std::atomic<std::uint64_t> dropped_{0};
};

/// The thread and its lanes. Lanes must not be used after their writer is gone. A process that writes to pipes ignores
/// SIGPIPE; the writer's own thread has all signals blocked.
class log_writer {
public:
    struct options {
        std::size_t lane_bytes = std::size_t{256} * 1024;  // each lane may hold, twice: being filled, being written
        milliseconds flush_every{100};                     // longest that a line waits for a working output
        milliseconds stop_within{2000};                    // longest that the destructor waits for a stuck one
    };
    explicit log_writer(options o);
    log_writer() : log_writer(options{}) {}
    /// Writes what is waiting, then ends the thread.
    ~log_writer();
    log_writer(const log_writer&) = delete;
    log_writer& operator=(const log_writer&) = delete;

    std::shared_ptr<log_lane> open_lane(std::shared_ptr<log_output> to);
    /// Waits until everything appended before is written or lost. False if `within` passed first.
    bool flush(milliseconds within);
    /// Asks the thread to open all files again (USR1) before it writes on.
    void reopen();
    /// Lines lost in all lanes: to full buffers and to outputs that failed.
    std::uint64_t dropped() const;

private:
    friend class log_lane;
    void wake(bool hurry) noexcept;
    void run();
    void drain(log_lane& lane);
    static void reopen_outputs(const std::vector<std::shared_ptr<log_lane>>& lanes);
    bool out_of_time() const noexcept;
    std::vector<std::shared_ptr<log_lane>> lanes() const;

    const options options_;
    mutable std::mutex mutex_;
    std::condition_variable wake_up_, flushed_;
    std::vector<std::shared_ptr<log_lane>> lanes_;
    bool pending_ = false;  // some lane is not empty
    bool hurry_ = false;    // do not wait for more
    bool reopen_ = false;
    bool stop_ = false;
    std::uint64_t flush_asked_ = 0, flush_done_ = 0;
    std::atomic<steady_time> give_up_at_{steady_time::max()};
    std::thread thread_;  // last: it uses everything above
};

}  // namespace etagere::observe
