// What is pinned lives as long as the pin, and not longer.
#include "etagere/base/pin.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <gtest/gtest.h>

namespace etagere {
namespace {

struct counted : boost::intrusive_ref_counter<counted> {
    explicit counted(int& of) : alive(of) { ++alive; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
    int& alive;
};

TEST(Pin, HoldsOneReferenceOfAnIntrusivePointer) {
    int alive = 0;
    boost::intrusive_ptr<const counted> mine(new counted(alive));
    pin held(mine);
    EXPECT_EQ(mine->use_count(), 2U);
    EXPECT_EQ(held.get(), mine.get());
    mine.reset();
    EXPECT_EQ(alive, 1);
    held.reset();
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(held);
}

TEST(Pin, OwnsWhatNobodyElseHas) {
    int alive = 0;
    {
        const pin held(std::unique_ptr<const counted>(new counted(alive)));
        EXPECT_TRUE(held);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(Pin, MovesAndReplaces) {
    int alive = 0;
    pin a(std::make_unique<const counted>(alive));
    pin b(std::make_unique<const counted>(alive));
    EXPECT_EQ(alive, 2);
    b = std::move(a);
    EXPECT_EQ(alive, 1);
    pin c(std::move(b));
    EXPECT_TRUE(c);
    EXPECT_EQ(alive, 1);
    c = pin();
    EXPECT_EQ(alive, 0);
}

TEST(Pin, MayHoldNothing) {
    const pin none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none.get(), nullptr);
    const pin null{boost::intrusive_ptr<const counted>()};
    EXPECT_FALSE(null);
}

}  // namespace
}  // namespace etagere
