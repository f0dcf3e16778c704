// What is particular to memory in front of memcached; what every store promises is in conformance_test.cpp, and what
// happens while memcached is down in faults_test.cpp.
#include "etagere/store/tiers.hpp"

#include "etagere/crypto/digest.hpp"

#include "backends.hpp"
#include "make.hpp"
#include "real_memcached.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using testing::eventually;
using testing::loaded;
using testing::make;
using testing::now;

class Tiers : public ::testing::Test {
protected:
    std::unique_ptr<store> open(std::uint64_t memory_max_object = 64 << 10U) {
        memcached_options o = testing::options_for({server_});
        o.key_prefix = prefix_;
        return make_tiered_store({.memory = {.size = 8 << 20U, .max_object = memory_max_object, .hash_seed = 1},
                                  .memcached = o,
                                  .local_ttl = seconds(10)});
    }
    /// Past all trust that any call before has given.
    moment later() {
        steady_ += seconds(11);
        return {now().wall, steady_};
    }
    static std::uint64_t bodies_loaded(const store& s) { return s.stats().of(operation::load_body, outcome::ok); }
    static std::uint64_t asked_remotely(const store& s) {
        return s.stats().of(operation::load, outcome::ok) + s.stats().of(operation::load, outcome::miss);
    }
    /// Puts through one process, and waits until another sees it.
    void put(store& s, store& seen_by, const std::string& key, const std::string& body, const std::string& etag = "") {
        s.put(key, make({.body = body, .etag = etag, .when = now()}), 32, now());
        ASSERT_TRUE(eventually([&] {
            const auto f = loaded(seen_by, key, later());
            return f && f->set && f->set.front()->response.body_size == body.size() &&
                   f->set.front()->response.etag() == etag;
        }));
    }

    steady_time steady_ = now().steady;
    memcached_server server_ = testing::shared_memcached().address();
    std::string prefix_ = testing::fresh_prefix();
    testing::plain_client plain_{{server_}};
    std::unique_ptr<store> a_ = open();
    std::unique_ptr<store> b_ = open();
};

TEST_F(Tiers, WhatWasLoadedIsInMemoryThen) {
    put(*a_, *b_, "key", "hello");
    const auto fresh = open();
    EXPECT_FALSE(fresh->peek("key", now()).set);
    const auto f = loaded(*fresh, "key");
    ASSERT_TRUE(f && f->set);
    EXPECT_EQ(f->from, level::memcached);
    const object_ptr head = f->set.front();
    EXPECT_FALSE(head->body);
    ASSERT_TRUE(fresh->peek("key", now()).set);
    ASSERT_TRUE(testing::with_body(*fresh, "key", head));
    EXPECT_EQ(*fresh->peek("key", now()).set.front()->body, "hello");
    // Whoever still holds the head gets the body that is here.
    ASSERT_TRUE(testing::with_body(*fresh, "key", head));
    EXPECT_EQ(bodies_loaded(*fresh), 1U);
}

// security-catalogue S262: bounded by local_ttl.
TEST_F(Tiers, AnEraseOfAnotherProcessIsSeenWhenTrustEnds) {
    put(*a_, *b_, "key", "hello");
    ASSERT_TRUE(a_->peek("key", now()).set);
    b_->erase("key", now());
    EXPECT_FALSE(loaded(*b_, "key")->set);
    EXPECT_TRUE(a_->peek("key", now()).set) << "still trusted";
    EXPECT_FALSE(a_->peek("key", later()).set);
    EXPECT_FALSE(loaded(*a_, "key", later())->set);
    EXPECT_FALSE(a_->peek("key", now()).set) << "gone from memory too";
}

TEST_F(Tiers, TrustIsRenewedWithoutTheBody) {
    put(*a_, *b_, "key", "hello", "\"1\"");
    const moment then = later();
    EXPECT_FALSE(a_->peek("key", then).set);
    const auto f = loaded(*a_, "key", then);
    ASSERT_TRUE(f && f->set);
    EXPECT_EQ(f->from, level::memcached);
    EXPECT_EQ(*f->set.front()->body, "hello") << "it was here";
    EXPECT_EQ(bodies_loaded(*a_), 0U);
    EXPECT_TRUE(a_->peek("key", then).set);
}

TEST_F(Tiers, AHeadThatAnotherProcessFreshenedComesOverOurBytes) {
    put(*a_, *b_, "key", "hello", "\"1\"");
    const object_ptr head = loaded(*b_, "key", later())->set.front();
    const object_ptr whole = *testing::with_body(*b_, "key", head);
    // a_ learns the entity's name; its own object does not have it.
    const auto c = open();
    ASSERT_TRUE(testing::with_body(*c, "key", loaded(*c, "key")->set.front()));
    cache::stored_response fresh = whole->response;
    fresh.response_time += seconds(5);
    ASSERT_TRUE(fresh.header.add("X-Fresh", "yes"));
    fresh.index();
    b_->freshen("key", make_object(std::move(fresh), whole->body, whole->keep_until, whole->rest->entity), now());
    const auto before = bodies_loaded(*c);
    EXPECT_TRUE(eventually([&] {
        const auto f = loaded(*c, "key", later());
        const object& o = *f->set.front();
        return o.response.header.find("x-fresh") && o.body && *o.body == "hello";
    }));
    EXPECT_EQ(bodies_loaded(*c), before);
}

TEST_F(Tiers, AnotherProcessesNewBytesAreNotMixedWithOurs) {
    put(*a_, *b_, "key", "old bytes", "\"1\"");
    put(*b_, *a_, "key", "new bytes", "\"2\"");
    const auto f = loaded(*a_, "key", later());
    ASSERT_TRUE(f && f->set);
    EXPECT_EQ(*(*testing::with_body(*a_, "key", f->set.front()))->body, "new bytes");
}

TEST_F(Tiers, MemoryGivesBackWhatMemcachedLost) {
    put(*a_, *b_, "key", "hello", "\"1\"");
    ASSERT_TRUE(plain_.remove(prefix_ + ":v2:m:" + crypto::sha256_hex("key")));
    const object_ptr o = a_->peek("key", now()).set.front();
    a_->freshen("key", make_object(o->response, o->body, o->keep_until), now());
    EXPECT_TRUE(eventually([&] { return !loaded(*open(), "key")->set.empty(); }));
}

TEST_F(Tiers, WhatWasErasedIsNotGivenBack) {
    put(*a_, *b_, "key", "hello", "\"1\"");
    const object_ptr o = a_->peek("key", now()).set.front();
    a_->erase("key", now());
    a_->freshen("key", make_object(o->response, o->body, o->keep_until), now());  // a 304 that was on its way
    put(*a_, *b_, "fence", "fence");
    EXPECT_FALSE(a_->peek("key", now()).set);
    EXPECT_FALSE(loaded(*a_, "key")->set);
}

// Too large for memory: the old head must not come back from memcached and be trusted while the new one is written.
TEST_F(Tiers, ABodyTooLargeForMemoryReplacesOneThatWasNot) {
    for (int i = 0; i < 20; ++i) {
        put(*a_, *b_, "key", "small", '"' + std::to_string(i) + "s\"");
        const std::string large(100'000, static_cast<char>('a' + i));
        a_->put("key", make({.body = large, .etag = '"' + std::to_string(i) + "l\"", .when = now()}), 32, now());
        (void)loaded(*a_, "key");  // perhaps of the old one
        EXPECT_TRUE(eventually(
            [&] {
                const auto f = loaded(*a_, "key");
                if (!f || !f->set) return false;
                const auto whole = testing::with_body(*a_, "key", f->set.front());
                return whole && *(*whole)->body == large;
            },
            seconds(3)))
            << "long before local_ttl";
    }
}

TEST_F(Tiers, AHeadWhoseBodyIsLostLeavesMemoryToo) {  // bug-cases B98
    put(*a_, *b_, "key", "hello", "\"1\"");
    const auto fresh = open();
    const object_ptr head = loaded(*fresh, "key")->set.front();
    ASSERT_TRUE(plain_.remove(prefix_ + ":v2:e:" + crypto::sha256_hex("hello")));
    EXPECT_EQ(testing::with_body(*fresh, "key", head).error(), errc::store_miss);
    EXPECT_FALSE(fresh->peek("key", now()).set);
    EXPECT_TRUE(eventually([&] { return !loaded(*fresh, "key", later())->set; }));
}

TEST_F(Tiers, WithoutLocalTtlMemcachedIsAlwaysAsked) {
    memcached_options o = testing::options_for({server_});
    o.key_prefix = prefix_;
    const auto s = make_tiered_store({.memory = {}, .memcached = o, .local_ttl = milliseconds{0}});
    put(*s, *b_, "key", "hello", "\"1\"");
    EXPECT_FALSE(s->peek("key", now()).set);
    const auto f = loaded(*s, "key");
    ASSERT_TRUE(f && f->set);
    EXPECT_EQ(f->from, level::memcached);
    EXPECT_EQ(*f->set.front()->body, "hello");
    EXPECT_EQ(bodies_loaded(*s), 0U);
}

TEST_F(Tiers, TrustedMemoryAnswersLoadInsideTheCall) {
    put(*a_, *b_, "key", "hello");
    const auto before = asked_remotely(*a_);
    bool inside = false;
    a_->load("key", now(), [&](const result<found>& f) { inside = f && f->set && f->from == level::memory; });
    EXPECT_TRUE(inside);
    EXPECT_EQ(asked_remotely(*a_), before);
}

}  // namespace
}  // namespace etagere::store
