// What is particular to the memory store; what every store promises is in conformance_test.cpp.
#include "etagere/store/memory.hpp"

#include "etagere/cache/decisions.hpp"

#include "make.hpp"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ETAGERE_SANITIZED 1
#endif
#endif

namespace {
thread_local std::uint64_t allocations = 0;
}
#ifndef ETAGERE_SANITIZED
void* operator new(std::size_t n) {
    ++allocations;
    if (void* p = std::malloc(n)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}
#endif

namespace etagere::store {
namespace {

using testing::at;
using testing::make;
using testing::not_modified;

std::string key_of(std::size_t i) {
    return "v1:shop:http:localhost:3000:/api/products?page=" + std::to_string(i);
}

std::unique_ptr<store> memory(std::uint64_t size, std::uint64_t max_object = 16 << 10U) {
    return make_memory_store({.size = size, .max_object = max_object, .hash_seed = 7});
}

bool has(store& s, const std::string& key, moment now = at()) {
    return !s.peek(key, now).set.empty();
}

/// What the kernel says that a memory file occupies.
std::size_t file_memory(const shared_bytes& body) {
    if (body.file() < 0) return 0;
    struct stat about{};
    EXPECT_EQ(::fstat(body.file(), &about), 0);
    constexpr std::size_t block = 512;
    return static_cast<std::size_t>(about.st_blocks) * block;
}

// The budget is worth what it counts: within 5 % of what the allocator and the kernel really gave out.
TEST(MemoryBudget, CountsWhatIsGiven) {
#ifdef ETAGERE_SANITIZED
    GTEST_SKIP() << "the sanitizer's allocator is another one";
#endif
    for (const std::size_t typical : {60U, 1000U, 10'000U, 200'000U}) {
        SCOPED_TRACE(typical);
        const std::size_t count = typical > 100'000 ? 300 : 10'000;
        auto s = memory(std::uint64_t{1} << 30U, 1 << 20U);
        const auto before = mallinfo2();
        for (std::size_t i = 0; i < count; ++i) {
            s->put(key_of(i),
                   make({.body = std::string(typical / 2 + i * 131 % typical, 'b'),
                         .etag = '"' + std::to_string(i) + '"',
                         .vary_name = i % 3 == 0 ? "accept-encoding" : "",
                         .vary_value = "gzip, deflate, br",
                         .padding = i * 7 % 300}),
                   32, at());
        }
        const auto after = mallinfo2();
        std::size_t files = 0;
        for (std::size_t i = 0; i < count; ++i) {
            files += file_memory(s->peek(key_of(i), at()).set.front()->body);
        }
        const auto real = static_cast<double>(after.uordblks - before.uordblks + after.hblkhd - before.hblkhd + files);
        const auto counted = static_cast<double>(s->memory_totals().bytes);
        EXPECT_EQ(s->memory_totals().entries, count);
        EXPECT_NEAR(counted / real, 1.0, 0.05) << counted << " counted, " << real << " real";
    }
}

TEST(MemoryBudget, IsNeverExceeded) {
    auto s = memory(2 << 20U);
    for (std::size_t i = 0; i < 20'000; ++i) {
        s->put(key_of(i), make({.body = std::string(i * 37 % 9000, 'b')}), 32, at());
        ASSERT_LE(s->memory_totals().bytes, 2U << 20U) << i;
    }
    EXPECT_GT(s->memory_totals().evictions, 0U);
    EXPECT_GT(s->memory_totals().bytes, (2U << 20U) * 8 / 10);
}

TEST(MemoryBudget, GrowingEntriesPushOthersOutNotThemselves) {
    auto s = memory(512 << 10U);
    for (std::size_t i = 0; i < 2000; ++i) s->put(key_of(i), make({.body = std::string(500, 'b')}), 32, at());
    s->put(key_of(1999), make({.body = std::string(16'000, 'B')}), 32, at());
    const auto f = s->peek(key_of(1999), at());
    ASSERT_TRUE(f.set);
    EXPECT_EQ(f.set.front()->body.size(), 16'000U);
}

TEST(MemoryBudget, ZeroKeepsNothing) {
    auto s = memory(0);
    s->put("k", make({}), 32, at());
    EXPECT_FALSE(has(*s, "k"));
    EXPECT_EQ(s->memory_totals().entries, 0U);
}

// A crawler that reads everything once must not empty the cache for those who come back.
TEST(MemoryEviction, AScanDoesNotEvictTheHotSet) {
    auto s = memory(4 << 20U);
    constexpr std::size_t hot = 200, scan = 20'000;
    const auto body = std::string(4000, 'b');  // room for about 850
    for (std::size_t i = 0; i < hot; ++i) s->put(key_of(i), make({.body = body}), 32, at());
    for (std::size_t i = 0; i < hot; ++i) ASSERT_TRUE(has(*s, key_of(i)));
    std::size_t hits = 0, asked = 0;
    for (std::size_t i = 0; i < scan; ++i) {
        s->put(key_of(1'000'000 + i), make({.body = body}), 32, at());
        if (i % 10 ==
            0) {  // meanwhile each hot key is asked for once in 2000 puts: more than the whole store turns over
            ++asked;
            hits += has(*s, key_of(i / 10 % hot)) ? 1 : 0;
        }
    }
    EXPECT_GT(hits * 100, asked * 95) << hits << " of " << asked;
}

TEST(MemoryEviction, NeverUsedGoesBeforeUsed) {
    auto s = memory(100 << 10U, 4 << 10U);
    s->put("used", make({.body = std::string(3000, 'u')}), 32, at());
    for (std::size_t i = 0; i < 500; ++i) {
        ASSERT_TRUE(has(*s, "used")) << i;
        s->put(key_of(i), make({.body = std::string(3000, 'b')}), 32, at());
    }
    EXPECT_FALSE(has(*s, key_of(0)));
}

TEST(MemoryMaxObject, LargerBodiesAreNotKeptAndReplaceWhatWasThere) {
    auto s = memory(1 << 20U, 1000);
    s->put("k", make({.body = std::string(1000, 'a')}), 32, at());
    EXPECT_TRUE(has(*s, "k"));
    s->put("k", make({.body = std::string(1001, 'b')}), 32, at());
    EXPECT_FALSE(has(*s, "k")) << "the old body must not answer for the new one";
    EXPECT_EQ(s->stats().of(operation::put, outcome::too_large), 1U);
}

// architecture: eviction never frees bytes being sent. ASan is the judge.
TEST(MemoryReaders, PinWhatTheyRead) {
    auto s = memory(100 << 10U, 4 << 10U);
    s->put("k", make({.body = std::string(4000, 'k')}), 32, at());
    const found held = s->peek("k", at());
    s->erase("k", at());
    for (std::size_t i = 0; i < 200; ++i) s->put(key_of(i), make({.body = std::string(4000, 'b')}), 32, at());
    s.reset();
    EXPECT_EQ(*held.set.front()->body, std::string(4000, 'k'));
    EXPECT_TRUE(held.set.front()->wire_full().starts_with("HTTP/1.1 200 "));
}

TEST(MemoryPeek, AllocatesNothing) {
#ifdef ETAGERE_SANITIZED
    GTEST_SKIP() << "allocations are not counted under a sanitizer";
#endif
    auto s = memory(1 << 20U);
    const std::string key = key_of(1);
    const std::string other = key_of(2);
    s->put(key, make({}), 32, at());
    const auto before = allocations;
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(s->peek(key, at()).set);
        EXPECT_FALSE(s->peek(other, at()).set);
    }
    EXPECT_EQ(allocations, before);
}

// The order in which two seeds evict differs: what an attacker learns from one process does not help with the next.
TEST(MemoryHash, DependsOnTheSeed) {
    const auto kept = [](std::uint64_t seed) {
        auto s = make_memory_store({.size = 1 << 20U, .max_object = 16 << 10U, .hash_seed = seed});
        for (std::size_t i = 0; i < 1000; ++i) s->put(key_of(i), make({.body = std::string(4000, 'b')}), 32, at());
        std::string out;
        for (std::size_t i = 0; i < 1000; ++i) out += has(*s, key_of(i)) ? '1' : '0';
        return out;
    };
    EXPECT_EQ(kept(1), kept(1));
    EXPECT_NE(kept(1), kept(2));
}

TEST(MemoryStats, CountHitsAndMisses) {
    auto s = memory(1 << 20U);
    s->put("k", make({}), 32, at());
    (void)has(*s, "k");
    (void)has(*s, "k");
    (void)has(*s, "other");
    s->erase("k", at());
    s->erase("k", at());
    const store_stats counted = s->stats();
    EXPECT_EQ(counted.of(operation::peek, outcome::ok), 2U);
    EXPECT_EQ(counted.of(operation::peek, outcome::miss), 1U);
    EXPECT_EQ(counted.of(operation::put, outcome::ok), 1U);
    EXPECT_EQ(counted.of(operation::erase, outcome::ok), 1U);
    EXPECT_EQ(counted.of(operation::erase, outcome::miss), 1U);
    EXPECT_TRUE(counted.servers.empty());
}

// TSan is the judge; the assertion is that nobody ever sees another key's bytes or a mixture.
TEST(MemoryThreads, FewKeysManyHands) {
    auto s = memory(64 << 10U, 4 << 10U);
    constexpr std::size_t keys = 6;
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> hands;
        for (unsigned hand = 0; hand < 4; ++hand) {
            hands.emplace_back([&, hand] {
                std::mt19937 random(hand);
                for (int i = 0; i < 3000; ++i) {
                    const std::size_t k = random() % keys;
                    const moment now = at(milliseconds(i));
                    const std::string etag = '"' + std::to_string(k) + '"';
                    switch (random() % 8) {
                        case 0:
                        case 1:
                            s->put(key_of(k),
                                   make({.body = std::string(500 + random() % 3000, static_cast<char>('a' + k)),
                                         .etag = etag,
                                         .when = now,
                                         .keep = milliseconds(random() % 200)}),
                                   4, now);
                            break;
                        case 2: s->erase(key_of(k), now); break;
                        case 3:
                            if (const auto f = s->peek(key_of(k), now); f.set) {
                                const object& old = *f.set.front();
                                s->freshen(key_of(k), make_object(old.response, old.body, now.wall + seconds(1)), now);
                            }
                            break;
                        default:
                            if (const auto f = s->peek(key_of(k), now); f.set) {
                                for (const auto& o : f.set) {
                                    if (o->response.etag() != etag ||
                                        *o->body != std::string(o->body.size(), static_cast<char>('a' + k))) {
                                        ++wrong;
                                    }
                                }
                            }
                    }
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
}

TEST(MakeObject, WireHeadsCarryViaAndTheNotModifiedFields) {
    cache::stored_response r;
    ASSERT_TRUE(r.header.add("Content-Type", "text/plain"));
    ASSERT_TRUE(r.header.add("ETag", "W/\"1\""));
    ASSERT_TRUE(r.header.add("Vary", "Accept"));
    ASSERT_TRUE(r.header.add("Via", "1.1 inner"));
    r.index();
    const object_ptr o = make_object(r, share("hello"), at().wall);
    EXPECT_TRUE(o->wire_full().starts_with("HTTP/1.1 200 OK\r\n")) << o->wire_full();
    EXPECT_NE(o->wire_full().find("Content-Type: text/plain\r\n"), std::string::npos);
    // RFC 9110 §7.6.3: ours comes after those of inner hops.
    EXPECT_TRUE(o->wire_full().ends_with("Via: 1.1 inner\r\nAccept-Ranges: bytes\r\nVia: 1.1 etagere\r\n"))
        << o->wire_full();
    // RFC 9110 §15.4.5.
    EXPECT_EQ(not_modified(*o), "HTTP/1.1 304 Not Modified\r\nETag: W/\"1\"\r\nVary: Accept\r\nVia: 1.1 etagere\r\n");
    EXPECT_EQ(o->response.body_size, 5U);
}

}  // namespace
}  // namespace etagere::store
