// The load generator: one thread, epoll, one write and mostly one read a request, so that it costs less than what it
// measures. Checks every answer; one line of JSON at the end. README.md of tests/performance has the options.
#include "answer.hpp"
#include "clock.hpp"
#include "plan.hpp"
#include "sockets.hpp"

#include <csignal>
#include <deque>
#include <getopt.h>
#include <memory>
#include <string>
#include <sys/timerfd.h>

namespace {

using namespace bench;

struct connection {
    int descriptor = -1;
    bool connecting = false;
    bool busy = false;
    std::uint64_t began = 0;  // ns; with --rate, when the request was due
    answer_reader answer;
};

struct counts {
    std::uint64_t answered = 0;
    std::uint64_t wrong_status = 0;
    std::uint64_t wrong_length = 0;
    std::uint64_t errors = 0;  // connections that broke under a request, answers without a length
    std::uint64_t bytes = 0;
};

class load {
public:
    explicit load(const options& o)
        : options_(o), requests_(o), connections_(o.connections), buffer_(256 * 1024, '\0') {}

    void run() {
        for (connection& c : connections_) open(c);
        if (options_.rate > 0) start_ticking();
        const std::uint64_t start = now_ns();
        const std::uint64_t end = start + static_cast<std::uint64_t>(options_.seconds * 1e9);
        while (counts_.answered + counts_.errors < options_.requests && now_ns() < end) {
            for (const epoll_event& e : poller_.wait(100)) {
                if (e.data.ptr == this) {
                    tick();
                } else {
                    ready(*static_cast<connection*>(e.data.ptr));
                }
            }
        }
        report(static_cast<double>(now_ns() - start) / 1e9);
    }

private:
    void open(connection& c) {
        c.descriptor = begin_connect(options_.port);
        c.connecting = true;
        c.busy = false;
        if (options_.rate == 0) c.began = now_ns();
        poller_.add(c.descriptor, EPOLLOUT, &c);
    }
    void reopen(connection& c) {
        close(c.descriptor);
        open(c);
    }
    void broken(connection& c) {
        ++counts_.errors;
        reopen(c);
    }

    void ready(connection& c) {
        if (c.connecting) return connected(c);
        const ssize_t n = recv(c.descriptor, buffer_.data(), buffer_.size(), 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            // A kept connection may be closed between requests; under one it is an error.
            if (c.busy) return broken(c);
            return reopen(c);
        }
        counts_.bytes += static_cast<std::uint64_t>(n);
        switch (c.answer.take({buffer_.data(), static_cast<std::size_t>(n)})) {
            case answer_reader::state::incomplete: return;
            case answer_reader::state::unreadable: return broken(c);
            case answer_reader::state::complete: return complete(c);
        }
    }
    void connected(connection& c) {
        int error = 0;
        socklen_t size = sizeof error;
        checked(getsockopt(c.descriptor, SOL_SOCKET, SO_ERROR, &error, &size), "SO_ERROR");
        if (error != 0) return broken(c);
        c.connecting = false;
        poller_.change(c.descriptor, EPOLLIN, &c);
        next(c);
    }
    void complete(connection& c) {
        latency_.add(now_ns() - c.began);
        ++counts_.answered;
        if (c.answer.status() != options_.status) ++counts_.wrong_status;
        if (options_.body && c.answer.body() != *options_.body) ++counts_.wrong_length;
        c.busy = false;
        if (options_.close || c.answer.closes()) return reopen(c);
        next(c);
    }

    // The connection is free: at a rate it waits for its turn, otherwise it asks at once.
    void next(connection& c) {
        if (options_.rate == 0) {
            if (!options_.close) c.began = now_ns();
            return ask(c);
        }
        if (due_.empty()) {
            idle_.push_back(&c);
            return;
        }
        c.began = due_.front();
        due_.pop_front();
        ask(c);
    }
    void ask(connection& c) {
        if (requests_.all_taken()) return;
        const std::string_view text = requests_.next();
        c.answer.reset();
        c.busy = true;
        const ssize_t n = send(c.descriptor, text.data(), text.size(), MSG_NOSIGNAL);
        if (n != static_cast<ssize_t>(text.size())) broken(c);
    }

    void start_ticking() {
        ticker_ = checked(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create");
        itimerspec every{};
        every.it_interval.tv_nsec = every.it_value.tv_nsec = 1'000'000'000L / options_.rate;
        checked(timerfd_settime(ticker_, 0, &every, nullptr), "timerfd_settime");
        poller_.add(ticker_, EPOLLIN, this);
    }
    void tick() {
        std::uint64_t expired = 0;
        if (read(ticker_, &expired, sizeof expired) != sizeof expired) return;
        for (std::uint64_t i = 0; i < expired; ++i) due_.push_back(now_ns());
        while (!due_.empty() && !idle_.empty()) {
            connection& c = *idle_.front();
            idle_.pop_front();
            c.began = due_.front();
            due_.pop_front();
            ask(c);
        }
    }

    void report(double seconds) const {
        std::printf(
            "{\"requests\": %llu, \"seconds\": %.4f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f, "
            "\"wrong_status\": %llu, \"wrong_length\": %llu, \"errors\": %llu, \"bytes\": %llu}\n",
            as_printed(counts_.answered), seconds, latency_.quantile_us(0.5), latency_.quantile_us(0.99),
            latency_.max_us(), as_printed(counts_.wrong_status), as_printed(counts_.wrong_length),
            as_printed(counts_.errors), as_printed(counts_.bytes));
    }
    static unsigned long long as_printed(std::uint64_t n) { return n; }

    const options options_;
    request_source requests_;
    std::deque<connection> connections_;  // never moves: the poller knows their addresses
    std::string buffer_;
    poller poller_;
    int ticker_ = -1;
    std::deque<std::uint64_t> due_;
    std::deque<connection*> idle_;
    histogram latency_;
    counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto o = parse_options(argc, argv);
    if (!o) {
        std::fputs("bench_load: see tests/performance/README.md\n", stderr);
        return 2;
    }
    load(*o).run();
}
