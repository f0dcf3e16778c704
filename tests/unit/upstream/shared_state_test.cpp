// Who gets the next connection: the rules of the queue, without a socket.
#include "../../../src/upstream/shared_state.hpp"

#include "../../../src/upstream/connection.hpp"

#include <gtest/gtest.h>

namespace etagere::upstream {
namespace {

class Permits : public testing::Test {
protected:
    static std::shared_ptr<shared_state> bound(std::uint32_t connections, std::uint32_t queue = 100) {
        options o;
        o.max_connections = connections;
        o.queue = queue;
        return std::make_shared<shared_state>(std::move(o));
    }
    net::asio::io_context io{1};
};

TEST_F(Permits, AreBounded) {
    const auto s = bound(2);
    permit a = s->try_permit();
    permit b = s->try_permit();
    EXPECT_TRUE(a);
    EXPECT_TRUE(b);
    EXPECT_FALSE(s->try_permit());
    a.reset();
    EXPECT_TRUE(s->try_permit());
    b = permit();
    EXPECT_EQ(s->read().active, 0U);
}

TEST_F(Permits, GoToTheOldestWaiterAndSkipThoseWhoLeft) {
    const auto s = bound(1);
    pool_link& link = s->attach({}, io.get_executor());
    permit held = s->try_permit();
    const auto first = std::make_shared<waiter>(link);
    const auto second = std::make_shared<waiter>(link);
    const auto third = std::make_shared<waiter>(link);
    for (const auto& w : {first, second, third}) EXPECT_EQ(s->enqueue(w), shared_state::admission::queued);
    EXPECT_TRUE(s->withdraw(*first));
    held.reset();
    EXPECT_TRUE(s->withdraw(*third));
    EXPECT_FALSE(s->withdraw(*second));  // it has the permit
    const permit adopted(s);
    EXPECT_EQ(s->read().active, 1U);
    EXPECT_EQ(s->read().queued, 0U);
}

TEST_F(Permits, AKeptConnectionServesItsOwnWorkerButNobodyIsPassedOverForEver) {
    const auto s = bound(1);
    pool_link& here = s->attach({}, io.get_executor());
    pool_link& there = s->attach({}, io.get_executor());
    permit held = s->try_permit();
    const auto foreign = std::make_shared<waiter>(there);
    s->enqueue(foreign);
    std::vector<std::shared_ptr<waiter>> own;
    for (unsigned i = 0; i <= shared_state::most_passes; ++i) {
        own.push_back(std::make_shared<waiter>(here));
        s->enqueue(own.back());
    }
    for (unsigned i = 0; i < shared_state::most_passes; ++i) {
        const auto v = s->offer(here);
        EXPECT_EQ(v.what, shared_state::fate::hand_over);
        EXPECT_EQ(v.to, own[i]);
    }
    EXPECT_EQ(s->offer(here).what, shared_state::fate::close);
    held.reset();  // what closing the connection does
    EXPECT_FALSE(s->withdraw(*foreign));
    EXPECT_TRUE(s->withdraw(*own.back()));
    permit(s).reset();
    EXPECT_EQ(s->read().active, 0U);
}

TEST_F(Permits, WithNobodyWaitingAConnectionIsKept) {
    const auto s = bound(1);
    pool_link& link = s->attach({}, io.get_executor());
    const permit held = s->try_permit();
    EXPECT_EQ(s->offer(link).what, shared_state::fate::keep);
    EXPECT_EQ(s->read().idle, 1U);
    EXPECT_EQ(s->read().active, 0U);
    s->no_longer_idle(link);
    EXPECT_EQ(s->read().active, 1U);
}

TEST_F(Permits, OneIdleConnectionIsAskedForOnce) {
    const auto s = bound(1, 1);
    pool_link& rich = s->attach({}, io.get_executor());
    pool_link& poor = s->attach({}, io.get_executor());
    const permit held = s->try_permit();
    s->offer(rich);
    EXPECT_EQ(s->enqueue(std::make_shared<waiter>(poor)), shared_state::admission::queued);
    EXPECT_EQ(rich.asked, 1U);
    EXPECT_EQ(s->enqueue(std::make_shared<waiter>(poor)), shared_state::admission::full);
    EXPECT_EQ(rich.asked, 1U);
    EXPECT_TRUE(s->still_wanted(rich));
    EXPECT_EQ(rich.asked, 0U);
}

}  // namespace
}  // namespace etagere::upstream
