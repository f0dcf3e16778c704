// The journal of purges as bytes, and how two of them become one.
#include "etagere/crypto/digest.hpp"
#include "etagere/store/record_journal.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace etagere::store::record {
namespace {

journal random_journal(std::mt19937& random, std::uint64_t era = 7) {
    journal j{.era = era, .newest = 0, .floor = random() % 50, .entries = {}};
    for (std::uint32_t i = random() % 60; i > 0; --i) {
        add(j, {.group = random() % 20, .seq = 1 + random() % 200, .prefix_length = 0, .soft = random() % 2 == 0});
    }
    j.newest = std::max(j.newest, j.floor);
    return j;
}

/// Whether it says that what was asked for under `seq` is purged.
bool purges(const journal& j, cache::group_id group, bool soft, std::uint64_t seq) {
    return seq < j.floor ||
           std::ranges::any_of(
               j.entries, [&](const journal::entry& e) { return e.group == group && e.soft == soft && seq < e.seq; });
}

seal signature(std::string key = "secret") {
    return {.key = std::move(key), .sign = crypto::hmac_sha256};
}

TEST(Journal, RoundTrip) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        journal j = random_journal(random);
        for (auto& e : j.entries) e.prefix_length = static_cast<std::uint16_t>(random() % 1025);
        for (const seal& how : {seal{}, signature()}) {
            const auto back = decode_journal(encode_journal(j, how), how);
            ASSERT_TRUE(back) << seed;
            EXPECT_EQ(*back, j);
        }
    }
}

TEST(Journal, NothingButItselfIsBelieved) {
    const journal j{.era = 3, .newest = 9, .floor = 2, .entries = {{.group = 5, .seq = 9}, {.group = 6, .seq = 4}}};
    const std::string good = encode_journal(j, signature());
    EXPECT_FALSE(decode_journal(good, {})) << "signed, and we have no key";
    EXPECT_FALSE(decode_journal(good, signature("other")));
    EXPECT_FALSE(decode_journal(encode_journal(j, {}), signature())) << "not signed";
    EXPECT_FALSE(decode_journal("", {}));
    for (std::size_t at = 0; at < good.size(); ++at) {
        EXPECT_FALSE(decode_journal(good.substr(0, at), signature())) << at;
        for (const int bit : {1, 128}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ bit);
            EXPECT_FALSE(decode_journal(bad, signature())) << at;
        }
    }
}

TEST(Journal, ImpossibleNumbersAreRefused) {
    const auto refused = [](const journal& j) { return !decode_journal(encode_journal(j, {}), {}); };
    EXPECT_FALSE(refused({.era = 1, .newest = 1, .floor = 1, .entries = {}}));
    EXPECT_TRUE(refused({.era = 0, .newest = 1, .floor = 0, .entries = {}}));
    EXPECT_TRUE(refused({.era = 1, .newest = 1, .floor = 2, .entries = {}}));
    EXPECT_TRUE(refused({.era = 1, .newest = 1, .floor = 0, .entries = {{.group = 1, .seq = 2}}}));
    EXPECT_TRUE(refused({.era = 1, .newest = 1, .floor = 0, .entries = {{.group = 1, .seq = 0}}}));
    EXPECT_TRUE(
        refused({.era = 1, .newest = 1, .floor = 0, .entries = {{.group = 1, .seq = 1, .prefix_length = 1025}}}));
}

// Properties: whatever either says is said by both together; the order does not matter; twice is once.
TEST(Journal, MergingForgetsNothing) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const journal a = random_journal(random);
        const journal b = random_journal(random);
        journal ab = a;
        merge(ab, b);
        journal ba = b;
        merge(ba, a);
        journal twice = ab;
        merge(twice, b);
        EXPECT_EQ(twice, ab);
        for (cache::group_id group = 0; group < 20; ++group) {
            for (std::uint64_t seq = 0; seq <= 201; ++seq) {
                for (const bool soft : {false, true}) {
                    const bool either = purges(a, group, soft, seq) || purges(b, group, soft, seq);
                    ASSERT_EQ(purges(ab, group, soft, seq), either);
                    ASSERT_EQ(purges(ba, group, soft, seq), either);
                }
            }
        }
    }
}

// Property: what was purged before is purged after.
TEST(Journal, ShrinkingPurgesMoreAndNeverLess) {
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        std::mt19937 random(seed);
        const journal before = random_journal(random);
        journal after = before;
        shrink(after, 8);
        EXPECT_LE(after.entries.size(), 8U);
        EXPECT_LE(after.floor, after.newest);
        for (const journal::entry& e : before.entries) {
            for (std::uint64_t seq = 0; seq <= 201; ++seq) {
                ASSERT_TRUE(!purges(before, e.group, e.soft, seq) || purges(after, e.group, e.soft, seq));
            }
        }
        EXPECT_TRUE(decode_journal(encode_journal(after, {}), {})) << "still one that is believed";
    }
}

TEST(Journal, ABoundOnItsBytes) {
    journal j{.era = 1, .newest = 0, .floor = 0, .entries = {}};
    for (std::uint64_t i = 1; i <= most_journal_entries + 1; ++i) j.entries.push_back({.group = i, .seq = i});
    j.newest = most_journal_entries + 1;
    shrink(j);
    EXPECT_LE(encode_journal(j, {}).size(), 80'000U);
    EXPECT_GT(j.entries.size(), most_journal_entries / 2);
}

}  // namespace
}  // namespace etagere::store::record
