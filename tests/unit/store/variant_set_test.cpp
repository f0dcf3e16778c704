// The variants of a key as a value: nothing, one, several.
#include "etagere/store/object.hpp"

#include <optional>

#include <gtest/gtest.h>

namespace etagere::store {
namespace {

object_ptr of_status(int status) {
    boost::intrusive_ptr<object> made(new object);
    made->response.status = status;
    return made;
}

std::vector<int> statuses(const variant_set& set) {
    std::vector<int> all;
    for (const object_ptr& o : set) all.push_back(o->response.status);
    return all;
}

TEST(VariantSet, HoldsNothing) {
    for (const variant_set& none : {variant_set{}, variant_set(std::vector<object_ptr>{})}) {
        EXPECT_FALSE(none);
        EXPECT_TRUE(none.empty());
        EXPECT_EQ(none.size(), 0U);
        EXPECT_EQ(none.begin(), none.end());
        EXPECT_FALSE(none.has_a_body());
        EXPECT_TRUE(none.to_vector().empty());
        EXPECT_EQ(none.memory(), 0U);
    }
}

TEST(VariantSet, HoldsOneOrSeveralInTheirOrder) {
    for (int count : {1, 2, 3, 100}) {
        std::vector<object_ptr> variants;
        std::vector<int> expected;
        for (int i = 0; i < count; ++i) {
            variants.push_back(of_status(200 + i));
            expected.push_back(200 + i);
        }
        const variant_set set(variants);
        EXPECT_TRUE(set);
        EXPECT_EQ(statuses(set), expected);
        EXPECT_EQ(set.size(), expected.size());
        EXPECT_EQ(set.front(), variants.front());
        EXPECT_EQ(set[expected.size() - 1], variants.back());
        EXPECT_EQ(set.to_vector(), variants);
    }
}

TEST(VariantSet, CopiesShareTheObjectsAndOutliveTheFirst) {
    for (int count : {1, 3}) {
        const object_ptr first = of_status(200);
        std::vector<object_ptr> variants(1, first);
        for (int i = 1; i < count; ++i) variants.push_back(of_status(200 + i));
        std::optional<variant_set> set(std::in_place, std::move(variants));
        const variant_set copy = *set;
        EXPECT_EQ(copy, *set);
        set.reset();
        EXPECT_EQ(copy.front(), first);
        EXPECT_EQ(copy.size(), static_cast<std::size_t>(count));
    }
}

TEST(VariantSet, IsEqualWhereItIsTheSameObjects) {
    const object_ptr a = of_status(200);
    const object_ptr b = of_status(200);
    EXPECT_EQ(variant_set({a}), variant_set({a}));
    EXPECT_EQ(variant_set({a, b}), variant_set({a, b}));
    EXPECT_NE(variant_set({a, b}), variant_set({b, a}));
    EXPECT_NE(variant_set({a}), variant_set({b})) << "what it says is not what it is";
    EXPECT_NE(variant_set({a}), variant_set());
}

}  // namespace
}  // namespace etagere::store
