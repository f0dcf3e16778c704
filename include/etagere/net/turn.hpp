// The end of a turn of a worker's loop, which is when it sends. One turn handles everything that was ready at once;
// what it has to say goes out in one go, send behind send. A peer that is spoken to every few microseconds falls asleep
// between two words, and the kernel wakes it for each, on the sender's time (ADR 27).
#pragma once

#include "etagere/net/asio.hpp"

#include <coroutine>
#include <exception>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

namespace etagere::net {

/// Not thread-safe: belongs to its worker. Must outlive its io_context's handlers: those who wait when the io_context
/// goes, go with it.
class turn {
    /// A coroutine that waits, and what it has to do at the end of the turn. In the coroutine's frame.
    class waiting {
    public:
        waiting(const waiting&) = delete;
        waiting& operator=(const waiting&) = delete;

    protected:
        explicit waiting(void (*act)(waiting&)) noexcept : act_(act) {}
        ~waiting() = default;

    private:
        friend turn;
        void (*act_)(waiting&);
        std::coroutine_handle<> frame_, root_;
        std::exception_ptr error_;
    };
    template <class Act> class awaiter : waiting {
    public:
        awaiter(turn& of, const io_executor& on, Act act) noexcept
            : waiting([](waiting& self) { static_cast<awaiter&>(self).act_(); }),
              of_(of),
              on_(on),
              act_(std::move(act)) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> void await_suspend(std::coroutine_handle<Promise> by) {
            of_.add(*this, by, by.promise().root(), on_);
        }
        void await_resume() const { of_.rethrow(*this); }

    private:
        turn& of_;
        io_executor on_;
        Act act_;
    };

public:
    turn() = default;
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    /// Calls `act` behind everything that was ready before, in the order of coming and with nothing between it and the
    /// next one's: a send, and no more than has to be done just before it. Then all go on. What `act` throws comes out
    /// of the co_await. It may start coroutines; it does not end one that waits here.
    template <class Act> awaiter<Act> end(const io_executor& on, Act act) noexcept {
        return {*this, on, std::move(act)};
    }

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
            for (const waiting* w : std::exchange(of_->waiting_, {})) w->root_.destroy();
        }
        void operator()() { std::exchange(of_, nullptr)->finish(); }
        allocator_type get_allocator() const noexcept { return {}; }

    private:
        turn* of_;
    };

    void add(waiting& w, std::coroutine_handle<> frame, std::coroutine_handle<> root, const io_executor& on) {
        w.frame_ = frame;
        w.root_ = root;
        waiting_.push_back(&w);
        if (waiting_.size() == 1) asio::post(on, ending(*this));
    }
    void finish() {
        going_on_.swap(waiting_);
        for (waiting* w : going_on_) {
            try {
                w->act_(*w);
            } catch (...) {
                w->error_ = std::current_exception();
            }
        }
        for (const waiting* w : going_on_) w->frame_.resume();
        going_on_.clear();
    }
    static void rethrow(const waiting& w) {
        if (w.error_) std::rethrow_exception(w.error_);
    }

    std::vector<waiting*> waiting_;   // not empty while an `ending` is on its way
    std::vector<waiting*> going_on_;  // keeps its capacity, as the other
};

}  // namespace etagere::net
