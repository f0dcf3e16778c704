// The end of a turn: behind everything that was ready, in the order of coming, and gone with its io_context.
#include "etagere/net/worker.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace etagere::net {
namespace {

TEST(Turn, GoesOnBehindWhatWasReadyInTheOrderOfComing) {
    worker on(0);
    std::string said;
    const auto waits = [&](char name) -> task<void> {
        co_await on.end_of_turn([&] { said += name; });
        said += name;
    };
    asio::post(on.executor(), [&] {
        spawn(on.executor(), waits('a'));
        spawn(on.executor(), waits('b'));
        said += '1';
    });
    asio::post(on.executor(), [&] { said += '2'; });
    on.io().run();
    EXPECT_EQ(said, "12abab");  // what they have to say first, all of it
}

TEST(Turn, WhoWaitsAgainIsOfTheNextTurn) {
    worker on(0);
    std::string said;
    const auto waits = [&](char name) -> task<void> {
        co_await on.end_of_turn([&] { said += name; });
        co_await on.end_of_turn([&] { said += name; });
        said += name;
    };
    spawn(on.executor(), waits('a'));
    spawn(on.executor(), waits('b'));
    on.io().run();
    EXPECT_EQ(said, "ababab");
}

TEST(Turn, WhatOneThrowsIsHisAlone) {
    worker on(0);
    std::string said;
    const auto waits = [&](char name) -> task<void> {
        const auto act = [&] {
            if (name == 'b') throw std::runtime_error("b");
            said += name;
        };
        try {
            co_await on.end_of_turn(act);
            said += name;
        } catch (const std::runtime_error&) {
            said += '!';
        }
    };
    for (const char name : {'a', 'b', 'c'}) spawn(on.executor(), waits(name));
    on.io().run();
    EXPECT_EQ(said, "aca!c");
}

// An act may start a coroutine that waits for the end of a turn: that is the next one's.
TEST(Turn, WhatBeginsAtTheEndWaitsForTheNext) {
    worker on(0);
    std::string said;
    const auto begun = [&]() -> task<void> { co_await on.end_of_turn([&] { said += '2'; }); };
    const auto begins = [&]() -> task<void> {
        co_await on.end_of_turn([&] {
            said += '1';
            spawn(on.executor(), begun());
        });
        said += 'a';
    };
    spawn(on.executor(), begins());
    on.io().run();
    EXPECT_EQ(said, "1a2");
}

TEST(Turn, TakesAlongWhoWaitsWhenItsWorkerGoes) {
    const auto held = std::make_shared<int>(0);
    {
        worker on(0);
        const auto waits = [&](std::shared_ptr<int> holds) -> task<void> {
            co_await on.end_of_turn([&] { ++*holds; });
            ++*holds;
        };
        spawn(on.executor(), waits(held));
        spawn(on.executor(), waits(held));
        EXPECT_EQ(held.use_count(), 3);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace etagere::net
