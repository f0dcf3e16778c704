// The end of a turn of a worker's loop, which is when it sends. One turn handles everything that was ready at once;
// what it has to say goes out in one go. A peer that is spoken to every few microseconds falls asleep between two
// words, and the kernel wakes it for each, on the sender's time (ADR 27).
#pragma once

#include "etagere/net/asio.hpp"

#include <coroutine>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

namespace etagere::net {

/// Not thread-safe: belongs to its worker. Must outlive its io_context's handlers: those who wait when the io_context
/// goes, go with it.
class turn {
    struct waiting {
        std::coroutine_handle<> frame, root;
    };
    class awaiter {
    public:
        awaiter(turn& of, const io_executor& on) noexcept : of_(of), on_(on) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> void await_suspend(std::coroutine_handle<Promise> by) {
            of_.waiting_.push_back({.frame = by, .root = by.promise().root()});
            if (of_.waiting_.size() == 1) asio::post(on_, ending(of_));
        }
        void await_resume() const noexcept {}

    private:
        turn& of_;
        io_executor on_;
    };

public:
    turn() = default;
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    /// Awaited before a send. Who waits goes on in the order of coming, behind everything that was ready before.
    awaiter end(const io_executor& on) noexcept { return {*this, on}; }

private:
    /// What the loop calls behind the turn. Not called (the io_context is going): who waits goes too.
    class ending {
    public:
        using allocator_type = frame_allocator<void>;

        explicit ending(turn& of) noexcept : of_(&of) {}
        ending(ending&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        ending& operator=(ending&&) = delete;
        ~ending() {
            if (of_ == nullptr) return;
            for (const waiting& w : std::exchange(of_->waiting_, {})) w.root.destroy();
        }
        void operator()() {
            turn& of = *std::exchange(of_, nullptr);
            of.going_on_.swap(of.waiting_);
            for (const waiting& w : of.going_on_) w.frame.resume();
            of.going_on_.clear();
        }
        allocator_type get_allocator() const noexcept { return {}; }

    private:
        turn* of_;
    };

    std::vector<waiting> waiting_;   // not empty while an `ending` is on its way
    std::vector<waiting> going_on_;  // keeps its capacity, as the other
};

}  // namespace etagere::net
