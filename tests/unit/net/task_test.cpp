// Coroutines: values, exceptions, who goes with whom, and where their frames come from.
#include "etagere/net/asio.hpp"
#include "etagere/net/frame_memory.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace etagere::net {
namespace {

class Task : public testing::Test {
protected:
    task<std::string> later(std::string text) {
        co_await asio::post(io.get_executor(), use_task);
        co_return text;
    }
    task<int> fails(bool at_once) {
        if (!at_once) co_await asio::post(io.get_executor(), use_task);
        throw std::runtime_error("no");
    }

    asio::io_context io;
};

TEST_F(Task, GivesItsValueToWhoeverAwaitsIt) {
    std::string got;
    const auto whole = [&]() -> task<void> {
        got = co_await later("a");
        got += co_await later("b");
    };
    spawn(io.get_executor(), whole());
    io.run();
    EXPECT_EQ(got, "ab");
}

TEST_F(Task, BeginsWhenItIsAwaitedAndNotBefore) {
    bool begun = false;
    const auto inner = [&]() -> task<void> {
        begun = true;
        co_return;
    };
    { const auto dropped = inner(); }
    EXPECT_FALSE(begun);
    spawn(io.get_executor(), inner());
    io.run();
    EXPECT_TRUE(begun);
}

TEST_F(Task, ThrowsOutOfTheAwait) {
    int caught = 0;
    const auto whole = [&]() -> task<void> {
        for (const bool at_once : {true, false}) {
            try {
                (void)co_await fails(at_once);
            } catch (const std::runtime_error&) {
                ++caught;
            }
        }
    };
    spawn(io.get_executor(), whole());
    io.run();
    EXPECT_EQ(caught, 2);
}

TEST_F(Task, TellsWhenItHasEndedAndWhatItThrew) {
    int good = 0, bad = 0;
    const auto throws = [&]() -> task<void> { (void)co_await fails(false); };
    const auto ends = [&]() -> task<void> { (void)co_await later("a"); };
    const auto note = [&](const std::exception_ptr& e) { ++(e ? bad : good); };
    spawn(io.get_executor(), throws(), note);
    spawn(io.get_executor(), ends(), note);
    io.run();
    EXPECT_EQ(good, 1);
    EXPECT_EQ(bad, 1);
}

TEST_F(Task, IsWorkOfItsLoopAlsoWhileItWaitsForAnotherThread) {
    std::optional<completion<int>> another;
    int got = 0;
    const auto whole = [&]() -> task<void> {
        auto [n] = co_await asio::async_initiate<const use_task_t, void(int)>(
            [&](completion<int> c) { another.emplace(std::move(c)); }, use_task);
        got = n;
    };
    spawn(io.get_executor(), whole());
    io.poll();
    EXPECT_FALSE(io.stopped());
    (*another)(7);
    io.run();
    EXPECT_EQ(got, 7);
}

TEST(TaskAtTheEnd, GoesWithItsLoopAndTakesAlongWhoAwaitsIt) {
    const auto held = std::make_shared<int>(0);
    {
        asio::io_context io;
        const auto inner = [&io](std::shared_ptr<int> h) -> task<void> {
            steady_timer timer(io, steady_time::max());
            (void)co_await timer.async_wait(use_task);
            ++*h;
        };
        const auto outer = [&](std::shared_ptr<int> h) -> task<void> { co_await inner(h); };
        spawn(io.get_executor(), outer(held));
        io.poll();
        EXPECT_GT(held.use_count(), 1);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
}

// A million returns without a suspension must not be a million frames of stack.
TEST_F(Task, CallsInALoopDoNotGrowTheStack) {
    std::size_t sum = 0;
    const auto one = []() -> task<std::size_t> { co_return 1; };
    const auto whole = [&]() -> task<void> {
        for (int i = 0; i < 1'000'000; ++i) sum += co_await one();
    };
    spawn(io.get_executor(), whole());
    io.run();
    EXPECT_EQ(sum, 1'000'000U);
}

TEST(FrameMemory, GivesBlocksOfAnySizeAndTakesThemBack) {
    for (int round = 0; round < 3; ++round) {
        std::vector<std::pair<char*, std::size_t>> blocks;
        for (std::size_t size = 1; size < 8000; size += 37) {
            auto* const block = static_cast<char*>(take_frame(size));
            std::fill_n(block, size, static_cast<char>(size));
            blocks.emplace_back(block, size);
        }
        for (const auto& [block, size] : blocks) {
            EXPECT_TRUE(std::all_of(block, block + size, [&](char c) { return c == static_cast<char>(size); }));
            give_frame_back(block, size);
        }
    }
}

}  // namespace
}  // namespace etagere::net
