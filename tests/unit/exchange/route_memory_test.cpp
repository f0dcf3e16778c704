// What is learned about a route.
#include "etagere/exchange/route_memory.hpp"

#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

using namespace std::chrono_literals;

TEST(RouteMemory, ALessonLastsTenMinutes) {
    route_memory memory;
    const steady_time now{100h};
    EXPECT_EQ(memory.form(now), 0);
    memory.learned(2, now);
    EXPECT_EQ(memory.form(now + 10min), 2);
    EXPECT_EQ(memory.form(now + 10min + 1s), 0);
}

TEST(RouteMemory, SamplesTheShareEvenly) {
    for (const double share : {0.0, 0.01, 0.1, 0.5, 1.0}) {
        route_memory memory;
        int taken = 0;
        for (int i = 0; i < 1000; ++i) {
            const bool sampled = memory.sampled(share);
            if (i == 0) EXPECT_EQ(sampled, share > 0);
            taken += sampled ? 1 : 0;
            EXPECT_NEAR(taken, share * (i + 1), 2.5) << share << " of " << i + 1;
        }
        EXPECT_NEAR(taken, share * 1000, 2) << share;
    }
}

TEST(RouteMemory, OneAuditAtATime) {
    route_memory memory;
    EXPECT_TRUE(memory.begin_audit());
    EXPECT_FALSE(memory.begin_audit());
    memory.end_audit();
    EXPECT_TRUE(memory.begin_audit());
}

}  // namespace
}  // namespace etagere::exchange
