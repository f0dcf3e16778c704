// The store must not be able to hurt: whatever a server does, an answer is the right one or none, and it comes in time.
#include "etagere/store/tiers.hpp"

#include "../../../src/store/memcached/client.hpp"
#include "backends.hpp"
#include "fault_proxy.hpp"
#include "make.hpp"
#include "real_memcached.hpp"

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using testing::eventually;
using testing::fault_proxy;
using testing::loaded;
using testing::make;
using testing::now;
using testing::options_for;
using kind = fault_proxy::fault::kind;
using clock = std::chrono::steady_clock;

// What a request may wait beyond the timeout on a busy machine with sanitizers; without them it is well below 5 ms.
constexpr milliseconds margin{500};

class Faults : public ::testing::Test {
protected:
    void SetUp() override { open({}); }

    struct tuning {
        milliseconds timeout{100};
        std::uint32_t failures = 1000;  // the breaker stays out of it, unless it is what is tested
        milliseconds open{20};
    };
    void open(tuning t) {
        store_.reset();
        memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy_.port()}});
        o.key_prefix = prefix_;
        o.timeout = t.timeout;
        o.connect_timeout = milliseconds(300);
        o.breaker_failures = t.failures;
        o.breaker_open = t.open;
        store_ = make_memcached_store(o);
    }
    void put(const std::string& key, const std::string& body) {
        store_->put(key, make({.body = body, .when = now()}), 32, now());
    }
    std::string body(const std::string& key) {
        const auto f = loaded(*store_, key);
        if (!f || !f->set) return "";
        const auto whole = testing::with_body(*store_, key, f->set.front());
        return std::string(whole ? *(*whole)->body : std::string_view{});
    }
    void put_and_wait(const std::string& key, const std::string& bytes) {
        ASSERT_TRUE(eventually([&] {
            put(key, bytes);
            return eventually([&] { return body(key) == bytes; }, milliseconds(500));
        }));
    }
    error_code error(const std::string& key) {
        const auto f = loaded(*store_, key);
        return f ? error_code{} : f.error();
    }
    /// The right answer comes back once the server is well again.
    void expect_recovery(const std::string& key, const std::string& bytes) {
        proxy_.set({});
        EXPECT_TRUE(eventually([&] { return body(key) == bytes; }));
    }
    std::uint64_t reconnects() { return store_->stats().servers.at(0).reconnects; }

    std::string prefix_ = testing::fresh_prefix();
    fault_proxy proxy_{testing::shared_memcached().port()};
    std::unique_ptr<store> store_;
};

// security-catalogue S250.
TEST_F(Faults, AServerThatHangsCostsItsTimeoutAndNoMore) {
    put_and_wait("key", "right");
    proxy_.set({.what = kind::hang});
    for (int i = 0; i < 3; ++i) {
        const auto start = clock::now();
        EXPECT_EQ(error("key"), errc::store_timeout);
        EXPECT_LT(clock::now() - start, milliseconds(100) + margin);
    }
    expect_recovery("key", "right");
}

// The lane is blocked in the first question; those that came later wait in its queue and must not wait longer.
TEST_F(Faults, WhoWaitsBehindAStuckLaneIsAnsweredInTimeToo) {
    put_and_wait("key", "right");
    proxy_.set({.what = kind::hang});
    std::atomic<int> answered = 0;
    const auto start = clock::now();
    for (int i = 0; i < 50; ++i) {
        store_->load("key " + std::to_string(i), now(), [&](const result<found>& f) {
            EXPECT_FALSE(f);
            ++answered;
        });
        if (i % 10 == 0) EXPECT_TRUE(eventually([&] { return proxy_.accepted() > 0; }));
    }
    EXPECT_TRUE(eventually([&] { return answered == 50; }));
    EXPECT_LT(clock::now() - start, milliseconds(100) + margin);
}

// One of many that were asked together has no other deadline than one alone, and the end of the store is an answer too.
TEST_F(Faults, ABatchIsAnsweredInTimeWhateverBecomesOfIt) {
    put_and_wait("key", "right");
    constexpr std::size_t keys = 100;
    std::atomic<std::size_t> answered = 0;
    const auto ask_all = [&] {
        answered = 0;
        std::vector<std::string> names;
        std::vector<store::question> questions;
        for (std::size_t i = 0; i < keys; ++i) names.push_back("key " + std::to_string(i));
        for (const std::string& name : names) {
            questions.push_back({.key = name, .whole = true, .done = [&](const result<found>& f) {
                                     EXPECT_FALSE(f);
                                     ++answered;
                                 }});
        }
        store_->load_all(questions, now());
    };
    proxy_.set({.what = kind::hang});
    const auto start = clock::now();
    ask_all();
    EXPECT_TRUE(eventually([&] { return answered == keys; }));
    EXPECT_LT(clock::now() - start, milliseconds(100) + margin);

    open({.timeout = milliseconds(500)});
    ask_all();
    store_.reset();
    EXPECT_EQ(answered, keys);
}

// bug-cases B93, security-catalogue S252: the late reply meets a closed connection, never the next question.
TEST_F(Faults, ALateReplyIsNeverReadAsTheNextAnswer) {
    for (int i = 0; i < 5; ++i) put_and_wait("key " + std::to_string(i), "body " + std::to_string(i));
    for (int i = 0; i < 4; ++i) {
        const std::string asked = "key " + std::to_string(i), next = "key " + std::to_string(i + 1);
        const auto before = reconnects();
        proxy_.set({.what = kind::late});
        EXPECT_EQ(error(asked), errc::store_timeout);
        EXPECT_TRUE(eventually([&] { return reconnects() > before; }));
        proxy_.set({});
        proxy_.release();
        EXPECT_TRUE(eventually([&] {
            const std::string got = body(next);
            EXPECT_TRUE(got.empty() || got == "body " + std::to_string(i + 1)) << got;
            return !got.empty();
        }));
    }
}

TEST_F(Faults, AServerThatDripsIsCutOff) {
    open({.timeout = milliseconds(50)});
    put_and_wait("key", "right");
    proxy_.set({.what = kind::drip});
    const auto before = reconnects();
    EXPECT_TRUE(eventually([&] {
        const auto start = clock::now();
        const auto f = loaded(*store_, "key");
        EXPECT_LT(clock::now() - start, milliseconds(50) + margin);
        return reconnects() > before;
    }));
    expect_recovery("key", "right");
}

// Each chunk has the timeout, not the body: else what is large could never come from a server that is a little slow.
TEST_F(Faults, ALargeBodyMayTakeLongerThanOneTimeout) {
    open({.timeout = milliseconds(400)});
    const std::string large(testing::max_object, 'x');
    put_and_wait("key", large);
    proxy_.set({.what = kind::slow, .n = 100});
    const auto start = clock::now();
    EXPECT_EQ(body("key"), large);
    EXPECT_GT(clock::now() - start, milliseconds(400)) << "the proxy was not slow enough to show anything";
}

TEST_F(Faults, DestructionDoesNotWaitForAStuckServer) {
    put_and_wait("key", std::string(30'000, 'x'));
    for (const kind k : {kind::hang, kind::drip, kind::late}) {
        open({.timeout = seconds(3)});
        (void)body("key");
        proxy_.set({.what = k});
        std::atomic<int> answered = 0;
        for (int i = 0; i < 5; ++i) {
            put("other " + std::to_string(i), "x");
            store_->load("key", now(), [&](const result<found>&) { ++answered; });
        }
        const auto start = clock::now();
        store_.reset();
        EXPECT_LT(clock::now() - start, seconds(3) + margin);
        EXPECT_EQ(answered, 5) << "every completion runs before the destructor ends";
        proxy_.set({});
    }
}

// What is owed and what was purged are tried again; at the end not after a timeout.
TEST_F(Faults, DestructionTakesOneTimeoutWhateverIsOwed) {
    put_and_wait("key", "right");
    open({.timeout = seconds(1)});
    EXPECT_EQ(body("key"), "right");
    proxy_.set({.what = kind::hang});
    store_->erase("key", now());
    store_->purge(std::array{cache::purge_target{}}, false, now(), [](bool) {});
    // The lane has the erase, and the journal waits behind it.
    ASSERT_TRUE(eventually([&] { return store_->stats().servers.at(0).queue_depth == 1; }));
    const auto start = clock::now();
    store_.reset();
    EXPECT_LT(clock::now() - start, seconds(1) + margin);
}

// A lane whose call has failed begins the next one at once, also in the moment before it is stopped.
TEST_F(Faults, ACallBegunAtTheEndWaitsNoLongerThanTheEnd) {
    proxy_.set({.what = kind::hang});
    client c({.host = "127.0.0.1", .port = proxy_.port()}, seconds(10), milliseconds(300));
    for (const milliseconds left : {milliseconds(100), milliseconds(0), milliseconds(-100)}) {
        const auto start = clock::now();
        c.end_by(start + left);
        EXPECT_EQ(c.remove("key"), reply_status::timeout);
        EXPECT_LT(clock::now() - start, milliseconds(100) + margin) << left.count();
    }
}

TEST_F(Faults, TruncatedAnswersAreMissesOrErrors) {
    put_and_wait("key", "right");
    for (std::size_t n = 0; n < 400; n += n < 40 ? 1 : 13) {
        proxy_.set({.what = kind::truncate, .n = n});
        const std::string got = body("key");
        EXPECT_TRUE(got.empty() || got == "right") << n << got;
    }
    expect_recovery("key", "right");
}

// security-catalogue S243, on the wire: the protocol's own octets are hit as well.
TEST_F(Faults, FlippedBitsNeverMakeAWrongAnswer) {
    open({.timeout = milliseconds(30)});
    put_and_wait("key", "right");
    for (std::size_t bit = 0; bit < 400 * 8; bit += 37) {
        proxy_.set({.what = kind::flip, .n = bit});
        const std::string got = body("key");
        EXPECT_TRUE(got.empty() || got == "right") << bit << got;
        proxy_.set({});
        if (bit % 10 == 0) put("key", "right");
    }
    put_and_wait("key", "right");
}

// security-catalogue S255.
TEST_F(Faults, ErrorsAndGarbageAreNoAnswers) {
    put_and_wait("key", "right");
    for (const char* text :
         {"SERVER_ERROR out of memory writing get response\r\n", "SERVER_ERROR\r\n", "ERROR\r\n",
          "CLIENT_ERROR bad command line format\r\n", "\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "VALUE\r\n",
          "VALUE x\r\n", "VALUE x y z\r\n", "VALUE nobody-asked 0 2 1\r\nxx\r\nEND\r\n"}) {
        proxy_.set({.what = kind::canned, .text = text});
        const auto before = reconnects();
        const auto f = loaded(*store_, "key");
        EXPECT_TRUE(!f || !f->set) << text;
        put("other", "x");
        EXPECT_TRUE(eventually([&] { return reconnects() > before; })) << text << ": the connection stayed open";
    }
    expect_recovery("key", "right");
}

// libmemcached asserts what it is answered to a write; a reply of another conversation must not end the process (S252).
TEST_F(Faults, ForeignRepliesToWritesCostTheConnection) {
    put_and_wait("key", "right");
    for (const std::string text :
         {"END\r\n", "OK\r\n", "DELETED\r\n", "STAT a b\r\n", "VALUE x 0 1 1\r\nx\r\nEND\r\n"}) {
        proxy_.set({.what = kind::canned, .text = text});
        const auto before = reconnects();
        put("other", "x");
        EXPECT_TRUE(eventually([&] { return reconnects() > before; })) << text << ": the connection stayed open";
    }
    expect_recovery("key", "right");
}

TEST_F(Faults, AFullServerRefusesWritesAndGoesOnAnswering) {
    put_and_wait("key", "right");
    proxy_.set({.what = kind::canned, .text = "SERVER_ERROR out of memory storing object\r\n"});
    put("new", "new");
    EXPECT_TRUE(eventually([&] { return store_->stats().of(operation::put, outcome::error) > 0; }));
    EXPECT_EQ(store_->stats().servers.at(0).breaker, breaker_state::closed);
    expect_recovery("key", "right");
    EXPECT_EQ(body("new"), "");
}

// security-catalogue S249: at once, not after a timeout.
TEST_F(Faults, ARefusingServerOpensTheBreaker) {
    memcached_options o = options_for({{.host = "127.0.0.1", .port = testing::free_port()}});
    o.breaker_failures = 3;
    o.breaker_open = std::chrono::hours(1);
    store_ = make_memcached_store(o);
    EXPECT_TRUE(eventually([&] {
        EXPECT_EQ(error("key"), errc::store_unavailable);
        return store_->stats().servers.at(0).breaker == breaker_state::open;
    }));
    const auto start = clock::now();
    for (int i = 0; i < 1000; ++i) {
        bool inside = false;
        store_->load("key", now(), [&](const result<found>& f) {
            EXPECT_EQ(f.error(), errc::store_unavailable);
            inside = true;
        });
        EXPECT_TRUE(inside) << "answered inside the call";
    }
    EXPECT_LT(clock::now() - start, seconds(1));
    put("key", "x");
    EXPECT_TRUE(eventually([&] { return store_->stats().dropped_writes > 0; }));
}

TEST_F(Faults, TheBreakerClosesAgainWhenATrySucceeds) {
    open({.timeout = milliseconds(50), .failures = 2, .open = milliseconds(10)});
    put_and_wait("key", "right");
    proxy_.set({.what = kind::hang});
    EXPECT_TRUE(eventually([&] { return error("key") == errc::store_unavailable; }));
    EXPECT_GE(store_->stats().servers.at(0).opened, 1U);
    expect_recovery("key", "right");
    EXPECT_EQ(store_->stats().servers.at(0).breaker, breaker_state::closed);
}

// security-catalogue S254: no connections are left over, and none is made for each request.
TEST_F(Faults, AFlappingServerLeavesNothingBehind) {
    open({.timeout = milliseconds(50), .failures = 2, .open = milliseconds(5)});
    put_and_wait("key", "right");
    for (int i = 0; i < 30; ++i) {
        proxy_.set({.what = i % 2 == 0 ? kind::close : kind::none});
        for (int k = 0; k < 20; ++k) {
            const std::string got = body("key");
            EXPECT_TRUE(got.empty() || got == "right");
        }
    }
    expect_recovery("key", "right");
    EXPECT_LT(proxy_.accepted(), 200) << "600 requests, 15 of 30 phases broken";
}

// security-catalogue S256: a restart is no fault, only a loss of everything.
TEST_F(Faults, ARestartedServerIsUsedAtOnce) {
    testing::real_memcached own;
    memcached_options o = options_for({own.address()});
    o.breaker_failures = 1;
    o.breaker_open = std::chrono::hours(1);
    store_ = make_memcached_store(o);
    put_and_wait("key", "right");
    own.restart();
    const auto f = loaded(*store_, "key");
    ASSERT_TRUE(f) << f.error().message();
    EXPECT_FALSE(f->set);
    put_and_wait("key", "again");
}

// An invalidation that meets a dead server is owed, and paid before anything is read from it again.
TEST_F(Faults, ErasesAreNotLostWhileTheServerIsAway) {
    open({.timeout = milliseconds(50), .failures = 2, .open = milliseconds(10)});
    for (int i = 0; i < 5; ++i) put_and_wait("key " + std::to_string(i), "old");
    put_and_wait("other", "other");
    proxy_.set({.what = kind::hang});
    EXPECT_TRUE(eventually([&] { return error("other") == errc::store_unavailable; }));
    for (int i = 0; i < 5; ++i) store_->erase("key " + std::to_string(i), now());
    EXPECT_TRUE(eventually([&] { return store_->stats().servers.at(0).owed_erases > 0; }));
    proxy_.set({});
    EXPECT_TRUE(eventually([&] {
        for (int i = 0; i < 5; ++i) EXPECT_EQ(body("key " + std::to_string(i)), "");
        return body("other") == "other";
    }));
    EXPECT_TRUE(eventually([&] { return store_->stats().servers.at(0).owed_erases == 0; }));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(body("key " + std::to_string(i)), "");
}

// security-catalogue S266.
TEST_F(Faults, AFullWriteQueueDropsAndCounts) {
    memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy_.port()}});
    o.timeout = seconds(3);  // longer than the puts take on any machine, so that no write is given up meanwhile
    o.write_queue = 4;
    o.write_queue_bytes = 100'000;
    o.breaker_failures = 1000;
    store_ = make_memcached_store(o);
    proxy_.set({.what = kind::hang});
    const auto start = clock::now();
    for (int i = 0; i < 100; ++i) put("key " + std::to_string(i), std::string(1000, 'x'));
    put("large", std::string(200'000, 'x'));
    EXPECT_LT(clock::now() - start, o.timeout) << "nobody waits for a write";
    EXPECT_GE(store_->stats().dropped_writes, 95U);
    EXPECT_LE(store_->stats().pending_writes, 5U) << "four that wait, and the one that is being carried out";
}

TEST_F(Faults, AFullReadQueueAnswersAtOnce) {
    memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy_.port()}});
    o.timeout = seconds(1);
    o.read_queue = 2;
    store_ = make_memcached_store(o);
    proxy_.set({.what = kind::hang});
    std::atomic<int> refused = 0, answered = 0;
    for (int i = 0; i < 50; ++i) {
        store_->load("key", now(), [&](const result<found>& f) {
            refused += f.error() == errc::store_unavailable ? 1 : 0;
            ++answered;
        });
    }
    EXPECT_GE(refused, 40);
    EXPECT_TRUE(eventually([&] { return answered == 50; }));
}

class TierFaults : public Faults {
protected:
    void open_tiers(store_failure policy) {
        memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy_.port()}});
        o.key_prefix = prefix_;
        o.timeout = milliseconds(50);
        o.breaker_failures = 2;
        o.breaker_open = std::chrono::hours(1);
        store_ = make_tiered_store({.memory = {}, .memcached = o, .local_ttl = seconds(10), .on_failure = policy});
    }
    static moment later() { return {now().wall, now().steady + seconds(11)}; }
};

TEST_F(TierFaults, BypassAnswersNothingThatMemcachedCannotConfirm) {
    open_tiers(store_failure::bypass);
    put("key", "right");
    EXPECT_EQ(*store_->peek("key", now()).set.front()->body, "right");
    proxy_.set({.what = kind::hang});
    EXPECT_TRUE(eventually(
        [&] { return store_->stats().servers.at(0).breaker == breaker_state::open || !loaded(*store_, "unknown"); }));
    EXPECT_TRUE(store_->peek("key", now()).set) << "still trusted";
    EXPECT_FALSE(store_->peek("key", later()).set);
    EXPECT_FALSE(loaded(*store_, "key", later()));
    EXPECT_TRUE(eventually([&] {
        (void)loaded(*store_, "unknown", later());
        return store_->stats().servers.at(0).breaker == breaker_state::open;
    }));
    put("key", "not kept");
    EXPECT_FALSE(store_->peek("key", now()).set) << "while memcached is down nothing is kept, and the old is gone";
}

TEST_F(TierFaults, MemoryOnlyGoesOnWithWhatIsThere) {
    open_tiers(store_failure::memory_only);
    put("key", "right");
    proxy_.set({.what = kind::hang});
    const auto f = loaded(*store_, "key", later());
    ASSERT_TRUE(f && f->set);
    EXPECT_EQ(f->from, level::memory);
    EXPECT_EQ(*f->set.front()->body, "right");
    EXPECT_TRUE(eventually([&] {
        (void)loaded(*store_, "unknown", later());
        return store_->stats().servers.at(0).breaker == breaker_state::open;
    }));
    put("key", "new");
    EXPECT_EQ(*store_->peek("key", now()).set.front()->body, "new");
}

}  // namespace
}  // namespace etagere::store
