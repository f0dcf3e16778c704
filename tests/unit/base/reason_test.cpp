#include "etagere/base/reason.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>

namespace etagere {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr int all = static_cast<int>(reason::count_);

TEST(Reason, EveryOneHasItsOwnNameAndAKnownClass) {
    std::set<std::string_view> names;
    for (int i = 0; i < all; ++i) {
        const reason_info& row = info(static_cast<reason>(i));
        EXPECT_FALSE(row.name.empty());
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_THAT(std::string(row.cache_class), AnyOf("hit", "stale", "revalidated", "miss", "pass", "refused"))
            << row.name;
    }
}

// The order of the table is the order of the enum: first, last and each group's first are where they belong.
TEST(Reason, NamesStandAtTheirEnumerator) {
    EXPECT_EQ(name(reason::none), "none");
    EXPECT_EQ(name(reason::hit_fresh), "hit_fresh");
    EXPECT_EQ(name(reason::hit_precondition_failed), "hit_precondition_failed");
    EXPECT_EQ(name(reason::hit_stale_error), "hit_stale_error");
    EXPECT_EQ(name(reason::revalidated), "revalidated");
    EXPECT_EQ(name(reason::miss_cold), "miss_cold");
    EXPECT_EQ(name(reason::collapsed_local), "collapsed_local");
    EXPECT_EQ(name(reason::pass_method), "pass_method");
    EXPECT_EQ(name(reason::pass_request_body), "pass_request_body");
    EXPECT_EQ(name(reason::nostore_private), "nostore_private");
    EXPECT_EQ(name(reason::nostore_sendfile), "nostore_sendfile");
    EXPECT_EQ(name(reason::nostore_hit_for_miss), "nostore_hit_for_miss");
    EXPECT_EQ(name(reason::invalidated), "invalidated");
    EXPECT_EQ(name(reason::only_if_cached), "only_if_cached");
    EXPECT_EQ(name(reason::failed), "failed");
}

TEST(Reason, ClassFollowsTheName) {
    for (int i = 1; i < all; ++i) {
        const reason_info& row = info(static_cast<reason>(i));
        if (row.name.starts_with("hit_stale")) EXPECT_EQ(row.cache_class, "stale") << row.name;
        if (row.name.starts_with("revalidated")) EXPECT_EQ(row.cache_class, "revalidated") << row.name;
        if (row.name.starts_with("miss_")) EXPECT_EQ(row.cache_class, "miss") << row.name;
        if (row.name.starts_with("nostore_")) EXPECT_EQ(row.cache_class, "miss") << row.name;
        if (row.name.starts_with("pass_")) EXPECT_EQ(row.cache_class, "pass") << row.name;
    }
}

TEST(Reason, SpeaksRackCachesWords) {
    EXPECT_EQ(info(reason::hit_fresh).rack_cache, "fresh");
    EXPECT_EQ(info(reason::hit_not_modified).rack_cache, "fresh");
    // What the origin answered decides these: observe/rack_cache_words.cpp.
    EXPECT_EQ(info(reason::revalidated).rack_cache, "");
    EXPECT_EQ(info(reason::nostore_private).rack_cache, "");
    EXPECT_EQ(info(reason::pass_method).rack_cache, "pass");
    EXPECT_EQ(info(reason::invalidated).rack_cache, "invalidate, pass");
    EXPECT_EQ(info(reason::collapsed_local).rack_cache, "");
}

TEST(Reason, WhatIsNotKeptTellsTheOperatorWhatToWrite) {
    for (int i = 0; i < all; ++i) {
        const reason_info& row = info(static_cast<reason>(i));
        if (row.name.starts_with("nostore_")) EXPECT_FALSE(row.remedy.empty()) << row.name;
    }
    const std::string remedy(info(reason::nostore_private).remedy);
    EXPECT_THAT(remedy, HasSubstr("public: true"));
    EXPECT_THAT(remedy, HasSubstr("cache: { private: revalidate }"));
}

TEST(Reason, OutOfTheTableIsNone) {
    EXPECT_EQ(name(reason::count_), "none");
}

}  // namespace
}  // namespace etagere
