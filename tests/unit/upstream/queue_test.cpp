// The bound on connections and the queue behind it, on one worker and between two.
#include "origin.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using testing::ElementsAre;

/// Holds every request until it is let go, and notes the order of their coming.
struct holding {
    explicit holding(net::worker& w) : on(w) {}
    net::worker& on;
    std::vector<std::string> came;
    int inside = 0, most = 0;
    int let_go = 0;

    net::task<void> operator()(visitor& v) {
        for (;;) {
            const std::string r = co_await v.request();
            if (r.empty()) co_return;
            came.push_back(r.substr(4, r.find(' ', 4) - 4));
            most = std::max(most, ++inside);
            const int mine = static_cast<int>(came.size());
            co_await settle(on, [&] { return let_go >= mine; });
            --inside;
            co_await v.ok("done");
        }
    }
};

class UpstreamQueue : public UpstreamTest {
protected:
    void spawn(std::string target) {
        net::spawn(worker.executor(),
                   told(get(*api, std::move(target)), [this](const answer& a) { answers.push_back(a); }));
    }
    std::vector<answer> answers;
};

TEST_F(UpstreamQueue, NeverMoreConnectionsThanAllowedAndFirstComeFirstServed) {
    holding script(worker);
    origin o(worker.io(), std::ref(script));
    auto opts = one(o);
    opts.max_connections = 2;
    make(opts);
    run([&]() -> net::task<void> {
        for (int i = 1; i <= 6; ++i) spawn("/" + std::to_string(i));
        co_await settle(worker, [&] { return script.came.size() == 2 && seen().queued == 4; });
        EXPECT_EQ(seen().active, 2U);
        for (script.let_go = 1; script.let_go < 6; ++script.let_go) {
            const auto next = static_cast<std::size_t>(std::min(6, script.let_go + 2));
            co_await settle(worker, [&] { return script.came.size() == next; });
        }
        co_await settle(worker, [&] { return answers.size() == 6; });
        EXPECT_THAT(script.came, ElementsAre("/1", "/2", "/3", "/4", "/5", "/6"));
        EXPECT_EQ(script.most, 2);
        EXPECT_EQ(o.connections(), 2);
        for (const answer& a : answers) EXPECT_EQ(a.body, "done");
        EXPECT_EQ(seen().queued, 0U);
        EXPECT_EQ(seen().idle, 2U);
    });
}

TEST_F(UpstreamQueue, AFullQueueIsSaidAtOnce) {
    holding script(worker);
    origin o(worker.io(), std::ref(script));
    auto opts = one(o);
    opts.max_connections = 1;
    opts.queue = 1;
    make(opts);
    run([&]() -> net::task<void> {
        spawn("/held");
        spawn("/waits");
        co_await settle(worker, [&] { return seen().queued == 1; });
        const answer a = co_await get(*api);
        EXPECT_EQ(a.ec, errc::queue_full);
        EXPECT_EQ(seen().queue_rejected, 1U);
        script.let_go = 2;
        co_await settle(worker, [&] { return answers.size() == 2; });
        EXPECT_EQ(answers[1].body, "done");
    });
}

// S228: the origin hangs with many waiting; all are told, and the next request tries again.
TEST_F(UpstreamQueue, WaitingEndsAtItsTimeAndLeavesNoTrace) {
    holding script(worker);
    origin o(worker.io(), std::ref(script));
    auto opts = one(o);
    opts.max_connections = 1;
    opts.queue = 500;
    opts.queue_timeout = 20ms;
    make(opts);
    run([&]() -> net::task<void> {
        spawn("/held");
        co_await settle(worker, [&] { return script.came.size() == 1; });
        for (int i = 0; i < 500; ++i) spawn("/waits");
        co_await settle(worker, [&] { return answers.size() == 500; });
        for (const answer& a : answers) EXPECT_EQ(a.ec, errc::queue_timeout);
        EXPECT_EQ(seen().queued, 0U);
        script.let_go = 2;
        co_await settle(worker, [&] { return seen().idle == 1; });
        const answer a = co_await get(*api);
        EXPECT_EQ(a.body, "done");
        EXPECT_EQ(script.came.size(), 2U);  // those who gave up never reached the origin
    });
}

TEST_F(UpstreamQueue, AFailedConnectPassesItsPermitOn) {
    auto opts = options{};
    opts.endpoints = {refusing(worker.io())};
    opts.max_connections = 1;
    opts.attempts = 1;
    make(opts);
    run([&]() -> net::task<void> {
        for (int i = 0; i < 5; ++i) spawn("/");
        co_await settle(worker, [&] { return answers.size() == 5; });
        for (const answer& a : answers) EXPECT_EQ(a.ec, errc::connect_failed);
        EXPECT_EQ(seen().active, 0U);
        EXPECT_EQ(seen().connect_failures, 5U);
    });
}

/// A second worker with a loop and a thread of its own, and an origin on a third.
class UpstreamWorkers : public testing::Test {
protected:
    struct place {
        explicit place(unsigned n) : worker(n) {
            thread = std::thread([this] { worker.io().run(); });
        }
        ~place() {
            work.reset();
            worker.io().stop();
            thread.join();
        }
        place(const place&) = delete;
        place& operator=(const place&) = delete;

        /// Runs it there and waits for its end.
        template <class T> T ask(std::function<net::task<T>()> what) {
            std::promise<T> out;
            auto future = out.get_future();
            net::spawn(worker.executor(), told(what(), [&out](T value) { out.set_value(std::move(value)); }));
            EXPECT_EQ(future.wait_for(20s), std::future_status::ready) << "hangs";
            return future.get();
        }
        void join(std::shared_ptr<shared_state> s) {
            ask<int>([&]() -> net::task<int> {
                api = make_cluster(worker, std::move(s));
                co_return 0;
            });
        }
        void leave() {
            ask<int>([&]() -> net::task<int> {
                api.reset();
                co_return 0;
            });
        }

        net::worker worker;
        asio::executor_work_guard<net::io_executor> work{worker.executor()};
        std::unique_ptr<cluster> api;
        std::thread thread;
    };

    // Destroyed in reverse: the loops outlive what uses them.
    std::promise<void> all_over;
    place there{9};
    place a{0}, b{1};
};

TEST_F(UpstreamWorkers, AnIdleConnectionOfAnotherWorkerIsGivenUp) {
    origin o(there.worker.io(), counting);
    options opts;
    opts.endpoints = {o.endpoint()};
    opts.max_connections = 1;
    opts.queue = 0;  // a place that will be free is no waiting
    const auto shared = make_shared_state(opts);
    a.join(shared);
    b.join(shared);
    for (int round = 0; round < 3; ++round) {
        const auto from_a = a.ask<answer>([&] { return get(*a.api); });
        EXPECT_EQ(from_a.status, 200) << error_name(from_a.ec);
        const auto from_b = b.ask<answer>([&] { return get(*b.api); });
        EXPECT_EQ(from_b.status, 200) << error_name(from_b.ec);
    }
    EXPECT_EQ(read_totals(*shared).idle, 1U);
    EXPECT_EQ(read_totals(*shared).active, 0U);
    EXPECT_EQ(read_totals(*shared).connects, 6U);
    a.leave();
    b.leave();
    EXPECT_EQ(read_totals(*shared).idle, 0U);
}

TEST_F(UpstreamWorkers, TheBoundHoldsForAllWorkersTogetherAndNobodyStarves) {
    constexpr int clients = 8, each = 60;
    std::atomic<int> inside = 0, most = 0;
    origin o(there.worker.io(), [&](visitor& v) -> net::task<void> {
        for (;;) {
            const std::string r = co_await v.request();
            if (r.empty()) co_return;
            most = std::max(most.load(), ++inside);
            net::steady_timer turn(v.socket.get_executor(), 100us);
            co_await turn.async_wait(net::use_task);
            --inside;
            co_await v.ok("x");
        }
    });
    options opts;
    opts.endpoints = {o.endpoint()};
    opts.max_connections = 2;
    opts.queue = 100;
    opts.queue_timeout = 10s;
    const auto shared = make_shared_state(opts);
    a.join(shared);
    b.join(shared);
    std::atomic<int> good = 0, over = 0;
    const auto client = [&](place& p) -> net::task<void> {
        for (int i = 0; i < each; ++i) {
            const answer r = co_await get(*p.api);
            if (r.body == "x") ++good;
        }
        if (++over == clients) all_over.set_value();
    };
    for (int i = 0; i < clients; ++i) {
        place& p = i % 2 == 0 ? a : b;
        net::spawn(p.worker.executor(), client(p));
    }
    EXPECT_EQ(all_over.get_future().wait_for(20s), std::future_status::ready);
    EXPECT_EQ(over, clients);
    EXPECT_EQ(good, clients * each);
    EXPECT_LE(most, 2);
    EXPECT_EQ(read_totals(*shared).queued, 0U);
    EXPECT_EQ(read_totals(*shared).active, 0U);
    a.leave();
    b.leave();
    EXPECT_EQ(read_totals(*shared).idle, 0U);
}

}  // namespace
}  // namespace etagere::upstream
