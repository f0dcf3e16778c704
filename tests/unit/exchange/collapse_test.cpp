// Collapsed forwarding without sockets: flights, followers on other workers, and what is remembered of keys.
#include "etagere/exchange/collapse.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

using namespace std::chrono_literals;

const steady_time start{1h};

outcome failed_with(errc e) {
    return {outcome::kind::failed, {}, reason::failed, make_error_code(e)};
}

struct follower {
    std::optional<outcome> got;
    bool done = false;
};

net::task<void> follow(std::shared_ptr<flight> f, net::worker& on, milliseconds patience, follower& out) {
    out.got = co_await collapse_table::wait(std::move(f), on, patience);
    out.done = true;
}

void spawn(net::worker& on, std::shared_ptr<flight> f, milliseconds patience, follower& out) {
    net::spawn(on.executor(), follow(std::move(f), on, patience, out));
}

TEST(Collapse, TheFirstLeadsAndTheOthersFollow) {
    collapse_table table;
    const auto first = table.join("k", start);
    EXPECT_TRUE(first.leads);
    const auto second = table.join("k", start);
    EXPECT_FALSE(second.leads);
    EXPECT_EQ(second.with, first.with);
    EXPECT_TRUE(table.join("other", start).leads);
    table.finish(first.with, {});
    EXPECT_TRUE(table.join("k", start).leads) << "the flight is over";
}

TEST(Collapse, FollowersGetTheOutcomeOnTheirOwnWorker) {
    collapse_table table;
    net::worker one(0);
    net::worker two(1);
    const auto lead = table.join("k", start);
    follower a;
    follower b;
    spawn(one, table.join("k", start).with, 1min, a);
    spawn(two, table.join("k", start).with, 1min, b);
    one.io().poll();
    two.io().poll();
    EXPECT_FALSE(a.done);
    table.finish(lead.with, failed_with(errc::connect_failed));
    one.io().restart();
    one.io().run();
    EXPECT_TRUE(a.done);
    EXPECT_FALSE(b.done) << "two has not run yet";
    two.io().restart();
    two.io().run();
    ASSERT_TRUE(a.got && b.got);
    EXPECT_EQ(a.got->how, outcome::kind::failed);
    EXPECT_EQ(b.got->error, make_error_code(errc::connect_failed));
}

TEST(Collapse, WhoComesAfterTheEndDoesNotWait) {
    collapse_table table;
    net::worker on(0);
    const auto lead = table.join("k", start);
    const auto late = table.join("k", start);
    table.finish(lead.with, failed_with(errc::queue_full));
    follower f;
    spawn(on, late.with, 1min, f);
    on.io().run();
    ASSERT_TRUE(f.got);
    EXPECT_EQ(f.got->error, make_error_code(errc::queue_full));
}

TEST(Collapse, PatienceEnds) {
    collapse_table table;
    net::worker on(0);
    const auto lead = table.join("k", start);
    follower f;
    spawn(on, table.join("k", start).with, 0ms, f);
    on.io().run();
    EXPECT_TRUE(f.done);
    EXPECT_FALSE(f.got);
    table.finish(lead.with, {});  // a follower that left is not touched
    on.io().restart();
    on.io().run();
}

TEST(Collapse, ALeaderThatDiesAbandonsItsFollowers) {
    collapse_table table;
    net::worker on(0);
    follower f;
    {
        const leadership lead(table, table.join("k", start).with);
        spawn(on, table.join("k", start).with, 1min, f);
        on.io().poll();
    }
    on.io().restart();
    on.io().run();
    ASSERT_TRUE(f.got);
    EXPECT_EQ(f.got->how, outcome::kind::abandoned);
}

TEST(Collapse, OnlyTheFirstResultCounts) {
    collapse_table table;
    const auto joined = table.join("k", start);
    leadership lead(table, joined.with);
    lead.finish(failed_with(errc::queue_full));
    lead.finish(failed_with(errc::connect_failed));
    EXPECT_FALSE(lead);
    table.finish(joined.with, failed_with(errc::connect_failed));
    net::worker on(0);
    follower f;
    spawn(on, joined.with, 1min, f);
    on.io().run();
    ASSERT_TRUE(f.got);
    EXPECT_EQ(f.got->error, make_error_code(errc::queue_full));
}

TEST(Collapse, KeysThatAreNotKeptAreNotCollapsed) {
    collapse_table table;
    table.remember_not_kept("k", start, 10s, reason::nostore_private);
    const auto alone = table.join("k", start + 9s);
    EXPECT_EQ(alone.with, nullptr);
    EXPECT_EQ(alone.not_kept.why, reason::nostore_private);
    EXPECT_EQ(alone.not_kept.until, start + 10s);
    EXPECT_TRUE(table.not_kept("k", start + 9s));
    EXPECT_TRUE(table.join("k", start + 10s).leads) << "remembered for ten seconds only";
    table.remember_not_kept("again", start, 10s, reason::nostore_private);
    table.forget_not_kept("again");
    EXPECT_TRUE(table.join("again", start).leads);
}

TEST(Collapse, KnowsWhyAKeyIsNotKept) {
    collapse_table table;
    EXPECT_EQ(table.know("k", start).not_kept, reason::none);
    table.remember_not_kept("k", start, 10s, reason::nostore_private);
    table.remember_not_kept("k", start + 1s, 10s, reason::nostore_cookie);
    EXPECT_EQ(table.know("k", start + 4s).not_kept, reason::nostore_cookie) << "the last one";
    EXPECT_EQ(table.know("k", start + 4s).remembered_for, 7s);
    EXPECT_EQ(table.know("k", start + 11s).not_kept, reason::none) << "forgotten";
    table.forget_not_kept("k");
    EXPECT_EQ(table.know("k", start + 4s).not_kept, reason::none);
}

TEST(Collapse, KnowingChangesNothing) {
    collapse_table table;
    EXPECT_FALSE(table.know("k", start).in_flight);
    const auto leader = table.join("k", start);
    EXPECT_TRUE(leader.leads);
    EXPECT_TRUE(table.know("k", start).in_flight);
    EXPECT_EQ(table.join("k", start).with, leader.with);
    table.finish(leader.with, {});
    EXPECT_FALSE(table.know("k", start).in_flight);
}

TEST(Collapse, WhatWasAskedBeforeAnInvalidationIsNotStored) {
    collapse_table table;
    EXPECT_FALSE(table.invalidated_since("k", start));
    table.invalidate("k", start + 5s);
    EXPECT_TRUE(table.invalidated_since("k", start));
    EXPECT_TRUE(table.invalidated_since("k", start + 5s)) << "in doubt, it was before";
    EXPECT_FALSE(table.invalidated_since("k", start + 6s));
}

TEST(Collapse, NobodyJoinsAFlightFromBeforeAnInvalidation) {
    collapse_table table;
    const auto before = table.join("k", start);
    table.invalidate("k", start);
    const auto after = table.join("k", start + 1ms);
    EXPECT_TRUE(after.leads);
    EXPECT_NE(after.with, before.with);
    table.finish(before.with, {});  // must not end the newer flight
    EXPECT_FALSE(table.join("k", start + 1ms).leads);
}

TEST(Collapse, RemembersABoundedNumberOfKeys) {
    collapse_table table;
    for (int i = 0; i < 200'000; ++i)
        table.remember_not_kept("k" + std::to_string(i), start + i * 1ms, 10s, reason::nostore_private);
    // What is still remembered is among the newest; the oldest have long been over.
    EXPECT_FALSE(table.not_kept("k0", start + 200s));
    EXPECT_TRUE(table.not_kept("k199999", start + 200s));
}

TEST(Collapse, ManyThreadsOneFlight) {
    collapse_table table;
    std::atomic<int> leaders{0};
    std::atomic<int> told{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 500; ++i) {
                net::worker on(0);
                const auto joined = table.join("k", start);
                if (joined.leads) {
                    ++leaders;
                    leadership(table, joined.with).finish(failed_with(errc::queue_full));
                    ++told;
                } else {
                    follower f;
                    spawn(on, joined.with, 1min, f);
                    on.io().run();
                    if (f.got && f.got->how == outcome::kind::failed) ++told;
                }
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_GT(leaders, 0);
    EXPECT_EQ(told, 2000) << "nobody hangs, nobody is forgotten";
}

}  // namespace
}  // namespace etagere::exchange
