// Coroutine shapes that a compiler must get right before it may build étagère. Every shape runs in a child process;
// `live` counts constructions minus destructions, so anything but 0 means a temporary destroyed twice or never.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <expected>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace {

template <class T> struct job {
    struct promise_type {
        std::optional<T> value;
        std::coroutine_handle<> caller;
        job get_return_object() { return job{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        struct resume_caller {
            bool await_ready() noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
                return h.promise().caller;
            }
            void await_resume() noexcept {}
        };
        resume_caller final_suspend() noexcept { return {}; }
        template <class U> void return_value(U&& u) { value.emplace(std::forward<U>(u)); }
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
    explicit job(std::coroutine_handle<promise_type> h) : handle(h) {}
    job(job&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~job() {
        if (handle) handle.destroy();
    }
    bool await_ready() { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
        handle.promise().caller = caller;
        return handle;
    }
    T await_resume() { return std::move(*handle.promise().value); }
};

struct root {
    struct promise_type {
        root get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct counted {
    static inline int live = 0;
    int id = 0;
    counted() { ++live; }
    explicit counted(int i) : id(i) { ++live; }
    counted(const counted& o) : id(o.id) { ++live; }
    counted(counted&& o) noexcept : id(o.id) { ++live; }
    counted& operator=(const counted&) = default;
    ~counted() { --live; }
};
struct pair_of {
    counted first, second;
};

bool yes_flag = true;
job<bool> answer(bool b) {
    co_return b;
}
job<int> number() {
    co_return 2;
}
job<counted> make(int i) {
    co_return counted{i};
}
job<bool> take_pair(pair_of) {
    co_return true;
}
job<bool> take_one(counted) {
    co_return true;
}
job<std::expected<counted, int>> maybe(bool ok) {
    if (ok) co_return counted{1};
    co_return std::unexpected(7);
}
template <class F> job<bool> invoke(F f) {
    f();
    co_return true;
}

root if_await() {
    if (co_await answer(true)) std::puts("");
}
root if_and_await() {
    if (yes_flag && co_await answer(true)) std::puts("");
}
root switch_await() {
    switch (co_await number()) {
        case 2: std::puts(""); break;
        default: break;
    }
}
root do_while_await() {
    do {
        co_await number();
    } while (co_await answer(false));
}
root aggregate_argument() {
    co_await take_pair(pair_of{counted{1}, counted{2}});
}
root designated_argument() {
    co_await take_pair({.first = counted{1}, .second = counted{2}});
}
root capturing_lambda_argument() {
    counted x{1};
    co_await invoke([x] { (void)x.id; });
}
root conditional_await() {
    counted x = yes_flag ? co_await make(1) : co_await make(2);
    (void)x.id;
}
root conditional_argument() {
    co_await take_one(yes_flag ? counted{1} : counted{2});
}
root aggregate_of_awaits() {
    pair_of p{co_await make(1), co_await make(2)};
    (void)p.first.id;
}
root expected_await() {
    if (auto r = co_await maybe(true); !r) std::puts("");
    auto e = co_await maybe(false);
    (void)e.has_value();
}

struct shape {
    const char* name;
    root (*run)();
};
const shape shapes[] = {
    {"if (co_await f())", if_await},
    {"if (c && co_await f())", if_and_await},
    {"switch (co_await f())", switch_await},
    {"do {} while (co_await f())", do_while_await},
    {"co_await f(aggregate{...})", aggregate_argument},
    {"co_await f({.a = ...})", designated_argument},
    {"co_await f([x] {...})", capturing_lambda_argument},
    {"c ? co_await f() : co_await g()", conditional_await},
    {"co_await f(c ? x : y)", conditional_argument},
    {"aggregate{co_await f(), co_await g()}", aggregate_of_awaits},
    {"co_await f() -> std::expected", expected_await},
};

}  // namespace

int main() {
    int wrong = 0;
    for (const shape& s : shapes) {
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            if (!std::freopen("/dev/null", "w", stdout)) _exit(2);
            alarm(5);
            s.run();
            _exit(counted::live == 0 ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
            ++wrong;
            std::printf("miscompiled: %s (%s)\n", s.name,
                        WIFSIGNALED(status) ? "crash" : "temporary destroyed twice or never");
        }
    }
    return wrong == 0 ? 0 : 1;
}
