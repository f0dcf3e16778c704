// The deadline wheel in virtual time: advance() is what its timer calls.
#include "etagere/net/deadline.hpp"

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::net {
namespace {

using namespace std::chrono_literals;

class DeadlineWheel : public testing::Test {
protected:
    /// Goes on tick by tick, as a timer that never sleeps would.
    void pass(milliseconds time) {
        const steady_time end = now + time;
        while (now < end) {
            now = std::min(now + deadline_wheel::tick, end);
            wheel.advance(now);
        }
    }
    void jump(milliseconds time) {
        now += time;
        wheel.advance(now);
    }
    auto counting(int& n) {
        return [&n] { ++n; };
    }

    asio::io_context io{1};
    deadline_wheel wheel{io};
    // Far enough from the clock that the test's own run time does not matter.
    steady_time now = std::chrono::steady_clock::now() + 1h;
    int fired = 0;

    void SetUp() override { wheel.advance(now); }
};

TEST_F(DeadlineWheel, ExpiresOnceNotBeforeItsTimeAndAtMostTwoTicksAfter) {
    deadline d(wheel, counting(fired));
    d.arm(now + 95ms);
    pass(94ms);
    EXPECT_EQ(fired, 0);
    EXPECT_FALSE(d.expired());
    pass(1ms + 2 * deadline_wheel::tick);
    EXPECT_EQ(fired, 1);
    EXPECT_TRUE(d.expired());
    pass(30s);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, ArmingAgainClearsExpired) {
    deadline d(wheel, counting(fired));
    d.arm(now + 10ms);
    pass(30ms);
    ASSERT_TRUE(d.expired());
    d.arm(now + 50ms);
    EXPECT_FALSE(d.expired());
    pass(70ms);
    EXPECT_TRUE(d.expired());
    EXPECT_EQ(fired, 2);
}

TEST_F(DeadlineWheel, LongerThanATurnOfTheWheel) {
    deadline d(wheel, counting(fired));
    d.arm(now + 65s);
    pass(65s - 1ms);
    EXPECT_EQ(fired, 0);
    pass(20ms);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, DisarmedNeverExpires) {
    deadline d(wheel, counting(fired));
    d.arm(now + 50ms);
    d.disarm();
    pass(1s);
    EXPECT_EQ(fired, 0);
    d.arm(steady_time::max());
    pass(30s);
    EXPECT_EQ(fired, 0);
}

TEST_F(DeadlineWheel, MovedLater) {
    deadline d(wheel, counting(fired));
    for (int i = 0; i < 100; ++i) {
        d.arm(now + 50ms);
        pass(40ms);
    }
    EXPECT_EQ(fired, 0);
    pass(30ms);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, MovedEarlier) {
    deadline d(wheel, counting(fired));
    d.arm(now + 20s);
    d.arm(now + 30ms);
    pass(50ms);
    EXPECT_EQ(fired, 1);
    pass(30s);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, ATimeThatHasPassedExpiresWithTheNextTick) {
    deadline d(wheel, counting(fired));
    d.arm(now - 5s);
    EXPECT_EQ(fired, 0);
    pass(deadline_wheel::tick);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, AStalledWorkerMissesNothing) {
    deadline a(wheel, counting(fired));
    deadline b(wheel, counting(fired));
    deadline c(wheel, counting(fired));
    a.arm(now + 20ms);
    b.arm(now + 9s);
    c.arm(now + 3min);
    jump(1min);
    EXPECT_EQ(fired, 2);
    jump(2min);
    EXPECT_EQ(fired, 3);
}

TEST_F(DeadlineWheel, DestroyedWhileArmed) {
    {
        deadline d(wheel, counting(fired));
        d.arm(now + 20ms);
    }
    pass(1s);
    EXPECT_EQ(fired, 0);
}

TEST_F(DeadlineWheel, ExpireMayDestroyItsOwnDeadline) {
    std::unique_ptr<deadline> own;
    auto marker = std::make_shared<int>(7);
    own = std::make_unique<deadline>(wheel, [&own, &seen = fired, marker] {
        own.reset();
        seen = *marker;  // its captures outlive the deadline
    });
    own->arm(now + 10ms);
    pass(50ms);
    EXPECT_EQ(fired, 7);
    EXPECT_EQ(own, nullptr);
    EXPECT_EQ(marker.use_count(), 1);
}

TEST_F(DeadlineWheel, ExpireMayDestroyTheOthersOfItsSlot) {
    std::vector<std::unique_ptr<deadline>> all;
    all.reserve(5);
    for (int i = 0; i < 5; ++i) {
        all.push_back(std::make_unique<deadline>(wheel, [&] {
            ++fired;
            all.clear();
        }));
        all.back()->arm(now + 30ms);
    }
    pass(1s);
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, ExpireMayArmItselfAndOthers) {
    deadline other(wheel, counting(fired));
    std::optional<deadline> self;
    int rounds = 0;
    self.emplace(wheel, [&] {
        if (++rounds < 3) self->arm(now + 20ms);
        other.arm(now);
    });
    self->arm(now + 20ms);
    pass(200ms);
    EXPECT_EQ(rounds, 3);
    EXPECT_EQ(fired, 3);
    EXPECT_TRUE(self->expired());
}

TEST_F(DeadlineWheel, SleepsUntilTheNextDeadlineAndNotAtAllWithoutOne) {
    EXPECT_EQ(wheel.wakes_at(), steady_time::max());
    deadline d(wheel, counting(fired));
    const steady_time at = now + 5s;
    d.arm(at);
    EXPECT_GE(wheel.wakes_at(), at);
    EXPECT_LT(wheel.wakes_at(), at + deadline_wheel::tick);
    deadline sooner(wheel, counting(fired));
    sooner.arm(now + 1s);
    EXPECT_LT(wheel.wakes_at(), now + 1s + deadline_wheel::tick);
}

TEST_F(DeadlineWheel, ItsTimerRunsOnTheLoop) {
    std::optional<deadline_wheel> real{io};
    deadline late(*real, counting(fired));
    deadline d(*real, [&] {
        ++fired;
        io.stop();
    });
    const steady_time start = std::chrono::steady_clock::now();
    late.arm(start + 1h);
    d.arm(start + 30ms);
    io.run();
    EXPECT_EQ(fired, 1);
    EXPECT_GE(std::chrono::steady_clock::now(), start + 30ms);
    // The wheel may go first: a deadline then is nobody's.
    real.reset();
    io.restart();
    io.poll();
    EXPECT_EQ(fired, 1);
}

TEST_F(DeadlineWheel, AWakeUpAlreadyDeliveredDoesNotTouchAWheelThatIsGone) {
    std::optional<deadline_wheel> real{io};
    std::optional<deadline> d;
    d.emplace(*real, counting(fired));
    d->arm(std::chrono::steady_clock::now() - 1s);
    // Runs before the timer's handler, which is due in the same turn.
    asio::steady_timer first(io, std::chrono::steady_clock::now() - 1h);
    first.async_wait([&](const boost::system::error_code&) { real.reset(); });
    io.run();
    EXPECT_EQ(fired, 0);
}

TEST_F(DeadlineWheel, AnyOrderOfArmingKeepsEveryDeadlineWithinTwoTicks) {
    std::mt19937 random(20261130);  // the same run every time
    struct probe {
        steady_time at = steady_time::max();
        std::unique_ptr<deadline> d;
    };
    std::vector<probe> probes(50);
    for (probe& p : probes) {
        p.d = std::make_unique<deadline>(wheel, [this, &p] {
            ++fired;
            EXPECT_LE(p.at, now);
            EXPECT_GE(p.at + 2 * deadline_wheel::tick, now);
            p.at = steady_time::max();
        });
    }
    for (int step = 0; step < 20000; ++step) {
        probe& p = probes[random() % probes.size()];
        const auto what = random() % 10;
        if (what == 0) {
            p.d->disarm();
            p.at = steady_time::max();
        } else if (what < 6) {
            p.at = now + milliseconds(random() % (what == 1 ? 30000 : 300) + 1);
            p.d->arm(p.at);
        }
        pass(milliseconds(random() % 8));
        for (const probe& q : probes) ASSERT_TRUE(q.at == steady_time::max() || q.at + 2 * deadline_wheel::tick > now);
    }
    EXPECT_GT(fired, 1000);
}

}  // namespace
}  // namespace etagere::net
