// The coroutines of the program: `task<T>`, how they wait for Asio's operations (`use_task`), and how they are started
// (`spawn`). Asio's own awaitable costs several hundred instructions a call, this one a few dozen; a request makes
// dozens (ADR 25).
#pragma once

#include "etagere/net/frame_memory.hpp"

#include <cassert>
#include <coroutine>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/require.hpp>

namespace etagere::net {

namespace asio = boost::asio;

using io_executor = asio::io_context::executor_type;

template <class T> class task;

namespace detail {

class promise_base {
public:
    static void* operator new(std::size_t size) { return take_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { give_frame_back(frame, size); }

    std::suspend_always initial_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error_ = std::current_exception(); }

    /// The spawned coroutine at the bottom of the calls. Destroying it destroys all of them.
    std::coroutine_handle<> root() const noexcept { return root_; }

protected:
    struct back_to_caller {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            return ended.promise().caller_;
        }
        void await_resume() const noexcept {}
    };

    void called(std::coroutine_handle<> by, std::coroutine_handle<> root) noexcept {
        caller_ = by;
        root_ = root;
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

    std::coroutine_handle<> caller_, root_;
    std::exception_ptr error_;
};

template <class T> class promise final : public promise_base {
public:
    task<T> get_return_object() noexcept;
    back_to_caller final_suspend() const noexcept { return {}; }
    template <class U> void return_value(U&& value) { value_.emplace(std::forward<U>(value)); }

private:
    friend class task<T>;
    T result() {
        rethrow();
        assert(value_.has_value());
        return std::move(*value_);
    }
    std::optional<T> value_;
};

template <> class promise<void> final : public promise_base {
public:
    inline task<void> get_return_object() noexcept;
    back_to_caller final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}

private:
    friend class task<void>;
    void result() const { rethrow(); }
};

}  // namespace detail

/// A call of a coroutine. It begins when it is awaited, once, and lives in the frame of whoever awaits it. What it
/// throws comes out of the co_await.
template <class T> class [[nodiscard]] task {
public:
    using promise_type = detail::promise<T>;

    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&&) = delete;
    ~task() {
        if (frame_) frame_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> by) noexcept {
        frame_.promise().called(by, by.promise().root());
        return frame_;
    }
    T await_resume() { return frame_.promise().result(); }

private:
    friend promise_type;
    explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
    std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T> task<T> promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<promise>::from_promise(*this));
}

task<void> promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<promise>::from_promise(*this));
}

/// A coroutine that nobody awaits: it owns itself.
struct spawned {
    struct promise_type : promise_base {
        spawned get_return_object() noexcept {
            root_ = std::coroutine_handle<promise_type>::from_promise(*this);
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
    };
    std::coroutine_handle<> frame;
};

/// Where an operation's results go, and who waits for them.
template <class... Results> struct awaited {
    std::optional<std::tuple<Results...>> results;
    std::coroutine_handle<> waiting, root;
};

}  // namespace detail

/// What an operation calls when it is done, once: resumes the coroutine that waits for it. Where it is destroyed
/// without having been called (the io_context is going), the coroutines that wait go too.
template <class... Results> class completion {
public:
    using allocator_type = frame_allocator<void>;

    explicit completion(detail::awaited<Results...>& to) noexcept : to_(&to) {}
    completion(completion&& other) noexcept : to_(std::exchange(other.to_, nullptr)) {}
    completion& operator=(completion&& other) noexcept {
        std::swap(to_, other.to_);
        return *this;
    }
    ~completion() {
        if (to_ != nullptr) to_->root.destroy();
    }

    void operator()(Results... results) {
        detail::awaited<Results...>& to = *std::exchange(to_, nullptr);
        to.results.emplace(std::move(results)...);
        to.waiting.resume();
    }
    allocator_type get_allocator() const noexcept { return {}; }

private:
    detail::awaited<Results...>* to_;
};

namespace detail {

/// An operation that begins when it is awaited. A completion must not come before the operation's start has returned;
/// Asio's do not.
template <class Initiation, class Arguments, class... Results> class operation {
public:
    template <class I, class... A>
    explicit operation(I&& initiation, A&&... arguments)
        : initiation_(std::forward<I>(initiation)), arguments_(std::forward<A>(arguments)...) {}

    bool await_ready() const noexcept { return false; }
    template <class Promise> void await_suspend(std::coroutine_handle<Promise> by) {
        to_.waiting = by;
        to_.root = by.promise().root();
        std::apply(
            [this](auto&... arguments) {
                std::move(initiation_)(completion<Results...>(to_), std::move(arguments)...);
            },
            arguments_);
    }
    std::tuple<Results...> await_resume() {
        assert(to_.results.has_value());
        return std::move(*to_.results);
    }

private:
    Initiation initiation_;
    Arguments arguments_;
    awaited<Results...> to_;
};

template <class Done> spawned run_spawned(io_executor on, task<void> what, Done done) {
    // As long as it runs, its io_context has something to do, also while it waits for another thread.
    const auto working = asio::require(on, asio::execution::outstanding_work.tracked);
    std::exception_ptr error;
    {
        task<void> own(std::move(what));  // ends before `done` is called
        try {
            co_await own;
        } catch (...) {
            error = std::current_exception();
        }
    }
    done(error);
}

}  // namespace detail

/// The token: `auto [ec, n] = co_await socket.async_read_some(buffer, use_task);` Nothing throws.
struct use_task_t {};
inline constexpr use_task_t use_task{};

/// Runs `what` on `on`, at once where that is this thread's loop. `done` is called when it has ended, with what it
/// threw. It goes with its io_context, wherever it waits then.
template <class Done> void spawn(const io_executor& on, task<void> what, Done done) {
    struct start {
        explicit start(std::coroutine_handle<> f) noexcept : frame(f) {}
        start(start&& other) noexcept : frame(std::exchange(other.frame, nullptr)) {}
        start& operator=(start&&) = delete;
        ~start() {
            if (frame) frame.destroy();
        }
        void operator()() { std::exchange(frame, nullptr).resume(); }
        std::coroutine_handle<> frame;
    };
    asio::dispatch(on, start(detail::run_spawned(on, std::move(what), std::move(done)).frame));
}

/// The same, for what nobody waits for.
inline void spawn(const io_executor& on, task<void> what) {
    spawn(on, std::move(what), [](const std::exception_ptr&) {});
}

}  // namespace etagere::net

template <class... Results> class boost::asio::async_result<etagere::net::use_task_t, void(Results...)> {
public:
    template <class Initiation, class... Arguments>
    static auto initiate(Initiation&& initiation, etagere::net::use_task_t, Arguments&&... arguments) {
        return etagere::net::detail::operation<std::decay_t<Initiation>, std::tuple<std::decay_t<Arguments>...>,
                                               std::decay_t<Results>...>(std::forward<Initiation>(initiation),
                                                                         std::forward<Arguments>(arguments)...);
    }
};
