// What is particular to the memcached store: what lies where, for how long, and what happens to records that others
// damaged. What every store promises is in conformance_test.cpp; bad servers are in faults_test.cpp.
#include "etagere/store/memcached.hpp"

#include "etagere/crypto/digest.hpp"

#include "backends.hpp"
#include "fault_proxy.hpp"
#include "make.hpp"
#include "real_memcached.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using testing::eventually;
using testing::keys_in;
using testing::loaded;
using testing::make;
using testing::now;
using testing::options_for;
using testing::recipe;
using ::testing::SizeIs;

class Memcached : public ::testing::Test {
protected:
    void SetUp() override { store_ = open(); }
    std::unique_ptr<store> open(const std::string& sign_key = "") {
        memcached_options o = options_for({server_});
        o.key_prefix = prefix_;
        o.sign_key = sign_key;
        return make_memcached_store(o);
    }
    std::string meta_key(const std::string& key) const { return prefix_ + ":v2:m:" + crypto::sha256_hex(key); }
    std::string entity_key(const std::string& body) const { return prefix_ + ":v2:e:" + crypto::sha256_hex(body); }
    std::vector<std::string> entities() const { return keys_in(server_, prefix_ + ":v2:e:"); }

    object_ptr head(const std::string& key) { return head(*store_, key); }
    static object_ptr head(store& s, const std::string& key) {
        const auto f = loaded(s, key);
        return f && f->set ? f->set.front() : nullptr;
    }
    std::string body(const std::string& key) { return body(*store_, key); }
    static std::string body(store& s, const std::string& key) {
        const object_ptr o = head(s, key);
        if (!o) return "";
        const auto whole = testing::with_body(s, key, o);
        return std::string(whole ? *(*whole)->body : std::string_view{});
    }
    void put_and_wait(const std::string& key, recipe r) {
        r.when = now();
        store_->put(key, make(r), 32, now());
        ASSERT_TRUE(eventually([&] { return body(key) == r.body; })) << key;
    }

    memcached_server server_ = testing::shared_memcached().address();
    std::string prefix_ = testing::fresh_prefix();
    testing::plain_client plain_{{server_}};
    std::unique_ptr<store> store_;
};

TEST_F(Memcached, KeysAreDigestsUnderTheNamespaceAndTheVersion) {
    put_and_wait("http://h/a b\r\nflush_all\r\n", {.body = "hello"});
    EXPECT_THAT(keys_in(server_, prefix_),
                ::testing::UnorderedElementsAre(meta_key("http://h/a b\r\nflush_all\r\n"), entity_key("hello"),
                                                prefix_ + ":v2:purges"));
}

// security-catalogue S240: what a client sends never becomes a command.
TEST_F(Memcached, TheWireShowesOnlyOurCommands) {
    testing::fault_proxy proxy(server_.port);
    memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy.port()}});
    store_ = make_memcached_store(o);
    put_and_wait("key\r\nset evil 0 0 1\r\nx\r\n" + std::string(10'000, 'k') + "\xff\xfe", {.body = "b"});
    store_->erase("key\r\nflush_all\r\n", now());
    (void)body("key\r\nflush_all\r\n");
    EXPECT_TRUE(eventually([&] { return proxy.asked().find("delete ") != std::string::npos; }));
    const std::string wire = proxy.asked();
    const std::regex command("(gets|touch|delete|add|cas)( [0-9a-z:.-]+)+");
    int commands = 0;
    for (std::size_t at = 0; at < wire.size(); ++commands) {
        const std::size_t end = wire.find("\r\n", at);
        ASSERT_NE(end, std::string::npos);
        const std::string line = wire.substr(at, end - at);
        EXPECT_TRUE(std::regex_match(line, command)) << line;
        at = end + 2;
        if (line.starts_with("add ") || line.starts_with("cas ")) {  // VERB key flags expiry size [cas]
            std::istringstream words(line);
            std::string skipped;
            std::size_t size = 0;
            words >> skipped >> skipped >> skipped >> skipped >> size;
            at += size + 2;
        }
    }
    EXPECT_GT(commands, 5);
}

/// load_all() as a call, for one key whose body will be wanted.
found whole(store& s, const std::string& key) {
    std::promise<found> answer;
    store::question q{
        .key = key, .whole = true, .done = [&](const result<found>& f) { answer.set_value(f.value_or(found{})); }};
    s.load_all(std::span(&q, 1), now());
    return answer.get_future().get();
}

class MemcachedWhole : public Memcached {
protected:
    void SetUp() override {
        memcached_options o = options_for({{.host = "127.0.0.1", .port = proxy_.port()}});
        o.key_prefix = prefix_;
        store_ = make_memcached_store(o);
    }
    /// Lines that ask for this record.
    std::vector<std::string> questions_for(const std::string& record_key) const {
        std::vector<std::string> out;
        std::istringstream wire(proxy_.asked());
        for (std::string line; std::getline(wire, line);) {
            if (line.starts_with("gets ") && line.find(record_key) != std::string::npos) out.push_back(line);
        }
        return out;
    }
    object_ptr variant(const std::string& key) {
        const found f = whole(*store_, key);
        return f.set ? f.set.front() : nullptr;
    }

    testing::fault_proxy proxy_{server_.port};
};

TEST_F(MemcachedWhole, TheBodyComesAlongOnceItIsKnown) {
    put_and_wait("key", {.body = "hello"});
    const object_ptr got = variant("key");
    ASSERT_TRUE(got && got->body);
    EXPECT_EQ(*got->body, "hello");
    EXPECT_THAT(questions_for(entity_key("hello")).back(), ::testing::HasSubstr(meta_key("key")))
        << "both in one question";
}

TEST_F(MemcachedWhole, AGuessThatIsWrongIsForgotten) {
    put_and_wait("key", {.body = "old"});
    ASSERT_TRUE(variant("key")->body);
    const auto other = open();
    other->put("key", make({.body = "new", .when = now()}), 32, now());
    ASSERT_TRUE(eventually([&] { return body(*other, "key") == "new"; }));
    const object_ptr head_of_new = variant("key");
    ASSERT_TRUE(head_of_new);
    EXPECT_FALSE(head_of_new->body) << "what came along was of the old one";
    const auto asked = questions_for(entity_key("old")).size();
    (void)variant("key");
    EXPECT_THAT(questions_for(entity_key("old")), SizeIs(asked));
    EXPECT_EQ(body("key"), "new");
    EXPECT_EQ(*variant("key")->body, "new");
}

TEST_F(MemcachedWhole, ADamagedBodyDoesNotComeAlong) {
    put_and_wait("key", {.body = "hello"});
    ASSERT_TRUE(variant("key")->body);
    std::string bad = *plain_.get(entity_key("hello"));
    bad[bad.size() - 10] = static_cast<char>(bad[bad.size() - 10] ^ 1);
    ASSERT_TRUE(plain_.set(entity_key("hello"), bad));
    const object_ptr got = variant("key");
    ASSERT_TRUE(got);
    EXPECT_FALSE(got->body);
    EXPECT_EQ(testing::with_body(*store_, "key", got).error(), errc::store_miss);
}

TEST_F(MemcachedWhole, LargeBodiesAreAskedForWhenTheyAreWanted) {
    put_and_wait("key", {.body = std::string(70'000, 'x')});
    EXPECT_FALSE(variant("key")->body);
}

// What waits together travels together: the lane is held up by the first, and takes all the others in one question.
TEST_F(MemcachedWhole, WhatWaitsTogetherIsOneQuestion) {
    proxy_.set({.what = testing::fault_proxy::fault::kind::late});
    std::atomic<int> answered = 0;
    const auto count = [&](const result<found>&) { ++answered; };
    store_->load("first", now(), count);
    ASSERT_TRUE(eventually([&] { return proxy_.held() > 0; }));
    for (int i = 0; i < 20; ++i) store_->load("key " + std::to_string(i), now(), count);
    proxy_.set({});
    proxy_.release();
    ASSERT_TRUE(eventually([&] { return answered == 21; }));
    for (int i = 0; i < 20; ++i) {
        const auto lines = questions_for(meta_key("key " + std::to_string(i)));
        ASSERT_THAT(lines, SizeIs(1));
        EXPECT_EQ(lines[0], questions_for(meta_key("key 0"))[0]);
    }
}

TEST_F(Memcached, EqualBodiesAreStoredOnce) {
    for (int i = 0; i < 5; ++i)
        put_and_wait("key " + std::to_string(i), {.body = "the same", .etag = std::to_string(i)});
    EXPECT_THAT(entities(), SizeIs(1));
    EXPECT_EQ(store_->stats().deduplicated, 4U);
}

TEST_F(Memcached, LargeBodiesAreChunked) {  // bug-cases B91
    std::string large(testing::max_object, 'x');
    for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 2654435761U >> 13U);
    put_and_wait("key", {.body = large});
    EXPECT_THAT(entities(), SizeIs(::testing::Gt(6U)));
}

TEST_F(Memcached, FresheningWritesTheMetaRecordOnly) {
    put_and_wait("key", {.body = "hello", .etag = "\"1\""});
    const std::string sets = testing::stat_of(server_, "cmd_set");
    const object_ptr old = head("key");
    cache::stored_response fresh = old->response;
    ASSERT_TRUE(fresh.header.add("X-Fresh", "yes"));
    fresh.index();
    store_->freshen("key", make_object(std::move(fresh), nullptr, old->keep_until + seconds(60), old->rest->entity),
                    now());
    EXPECT_TRUE(eventually([&] { return head("key")->response.header.find("x-fresh").has_value(); }));
    EXPECT_EQ(std::stoul(testing::stat_of(server_, "cmd_set")), std::stoul(sets) + 1);
    EXPECT_EQ(body("key"), "hello");
}

// The head may be revived for as long as it lives, so the bytes have to live as long.
TEST_F(Memcached, FresheningExtendsTheEntitysLife) {
    put_and_wait("key", {.body = "hello", .etag = "\"1\"", .keep = std::chrono::hours(30)});
    const object_ptr old = head("key");
    store_->freshen("key", make_object(old->response, share("hello"), now().wall + std::chrono::hours(100)), now());
    EXPECT_TRUE(eventually([&] { return testing::lifetime_of(server_, entity_key("hello")) > 99 * 3600; }));
    EXPECT_GT(testing::lifetime_of(server_, meta_key("key")), 99 * 3600);
}

TEST_F(Memcached, ALaterSharerDoesNotShortenAnEntitysDay) {
    put_and_wait("long", {.body = "shared", .keep = std::chrono::hours(24)});
    put_and_wait("short", {.body = "shared", .keep = seconds(10)});
    EXPECT_GT(testing::lifetime_of(server_, entity_key("shared")), 23 * 3600);
    EXPECT_LE(testing::lifetime_of(server_, meta_key("short")), 11);
}

// bug-cases B95: above 30 days memcached reads a Unix time.
TEST_F(Memcached, ALifetimeOfAYearIsAYear) {
    put_and_wait("key", {.body = "hello", .keep = std::chrono::days(365)});
    for (const std::string& key : {meta_key("key"), entity_key("hello")}) {
        const auto life = testing::lifetime_of(server_, key);
        ASSERT_TRUE(life);
        EXPECT_NEAR(static_cast<double>(*life), 365.0 * 86400, 10);
    }
}

// bug-cases B98.
TEST_F(Memcached, AHeadWithoutItsBodyIsAMissAndGoes) {
    put_and_wait("key", {.body = "hello"});
    const object_ptr found_head = head("key");
    ASSERT_TRUE(plain_.remove(entity_key("hello")));
    const auto r = testing::with_body(*store_, "key", found_head);
    EXPECT_EQ(r.error(), errc::store_miss);
    EXPECT_TRUE(eventually([&] { return !head("key"); }));
    EXPECT_EQ(store_->stats().lost_bodies, 1U);
    put_and_wait("key", {.body = "hello"});
}

TEST_F(Memcached, AMissingChunkIsAMiss) {
    put_and_wait("key", {.body = std::string(200'000, 'x')});
    for (const std::string& k : entities()) {
        if (k.ends_with(":3")) ASSERT_TRUE(plain_.remove(k));
    }
    EXPECT_EQ(testing::with_body(*store_, "key", head("key")).error(), errc::store_miss);
    put_and_wait("key", {.body = std::string(200'000, 'x')});
}

// security-catalogue S243: in the stored value, any octet.
TEST_F(Memcached, DamagedMetaRecordsAreMissesAndCounted) {
    put_and_wait("key", {.body = "hello"});
    const std::string good = *plain_.get(meta_key("key"));
    std::uint64_t damaged = 0;
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
        ASSERT_TRUE(plain_.set(meta_key("key"), bad));
        const auto f = loaded(*store_, "key");
        ASSERT_TRUE(f);
        EXPECT_FALSE(f->set) << at;
        ++damaged;
    }
    const store_stats counted = store_->stats();
    EXPECT_EQ(counted.corrupt + counted.other_version, damaged);
    EXPECT_EQ(counted.other_version, 2U) << "the two octets of the version";
    put_and_wait("key", {.body = "again"});
}

TEST_F(Memcached, DamagedBodiesAreMissesAndRepaired) {
    put_and_wait("key", {.body = "hello"});
    const std::string good = *plain_.get(entity_key("hello"));
    for (std::size_t at = 0; at < good.size(); at += 3) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 4);
        ASSERT_TRUE(plain_.set(entity_key("hello"), bad));
        const object_ptr o = head("key");
        if (o) EXPECT_EQ(testing::with_body(*store_, "key", o).error(), errc::store_miss) << at;
        // A put of the same millisecond as the lost answer may go with it; the next one stays.
        EXPECT_TRUE(eventually([&] {
            store_->put("key", make({.body = "hello", .when = now()}), 32, now());
            return eventually([&] { return body("key") == "hello"; }, milliseconds(50));
        })) << at;
    }
}

// security-catalogue S244.
TEST_F(Memcached, SwappedRecordsAreMisses) {
    put_and_wait("a", {.body = "body of a"});
    put_and_wait("b", {.body = "body of b"});
    const std::string meta_a = *plain_.get(meta_key("a")), meta_b = *plain_.get(meta_key("b"));
    ASSERT_TRUE(plain_.set(meta_key("a"), meta_b) && plain_.set(meta_key("b"), meta_a));
    EXPECT_EQ(body("a"), "");
    EXPECT_EQ(body("b"), "");
    ASSERT_TRUE(plain_.set(meta_key("a"), meta_a) && plain_.set(meta_key("b"), meta_b));
    EXPECT_EQ(body("a"), "body of a");
    const std::string entity_a = *plain_.get(entity_key("body of a"));
    ASSERT_TRUE(plain_.set(entity_key("body of b"), entity_a));
    EXPECT_EQ(body("b"), "");
    EXPECT_EQ(body("a"), "body of a");
}

// security-catalogue S246: a newer sidecar's record is left alone.
TEST_F(Memcached, ARecordOfAnotherVersionIsNotOverwritten) {
    put_and_wait("key", {.body = "hello"});
    std::string other = *plain_.get(meta_key("key"));
    ++other[4];
    ASSERT_TRUE(plain_.set(meta_key("key"), other));
    EXPECT_FALSE(head("key"));
    store_->put("key", make({.body = "mine", .when = now()}), 32, now());
    put_and_wait("fence", {.body = "fence"});
    EXPECT_EQ(plain_.get(meta_key("key")), other);
    EXPECT_GE(store_->stats().other_version, 1U);
}

TEST_F(Memcached, WithAKeyOnlySignedRecordsCount) {
    put_and_wait("key", {.body = "unsigned"});
    const auto signing = open("secret");
    EXPECT_FALSE(head(*signing, "key"));
    signing->put("key", make({.body = "signed", .when = now()}), 32, now());
    EXPECT_TRUE(eventually([&] { return body(*signing, "key") == "signed"; }));
    EXPECT_FALSE(head(*open("another secret"), "key"));
    EXPECT_FALSE(head(*store_, "key"));
}

TEST_F(Memcached, SeveralProcessesShareIt) {
    const auto other = open();
    put_and_wait("key", {.body = "hello"});
    EXPECT_EQ(body(*other, "key"), "hello");
    other->erase("key", now());
    EXPECT_TRUE(eventually([&] { return !head("key"); }));
}

// Each reads, changes and writes the same record: none of their variants is lost.
TEST_F(Memcached, VariantsOfSeveralWritersAreMerged) {
    const auto other = open();
    for (int i = 0; i < 8; ++i) {
        store& s = i % 2 == 0 ? *store_ : *other;
        s.put("key",
              make({.body = std::to_string(i), .vary_name = "accept", .vary_value = std::to_string(i), .when = now()}),
              32, now());
    }
    EXPECT_TRUE(eventually([&] {
        const auto f = loaded(*store_, "key");
        return f && f->set && f->set.size() == 8;
    }));
}

// security-catalogue S241: the server's items are smaller than our chunks.
TEST(MemcachedItemLimit, WhatDoesNotFitIsCountedAndNeverHalfThere) {
    testing::real_memcached small({"-I", "512k"});
    memcached_options o = options_for({small.address()});
    o.chunk = 900 << 10U;
    o.max_object = 2 << 20U;
    const auto s = make_memcached_store(o);
    s->put("key", make({.body = "fits", .when = now()}), 32, now());
    EXPECT_TRUE(eventually([&] {
        const auto f = loaded(*s, "key");
        return f && f->set;
    }));
    s->put("key", make({.body = std::string(700'000, 'x'), .when = now()}), 32, now());
    EXPECT_TRUE(eventually([&] { return s->stats().of(operation::put, outcome::too_large) > 0; }));
    EXPECT_TRUE(eventually([&] {
        const auto f = loaded(*s, "key");
        return f && !f->set;
    })) << "what it should have replaced must not answer";
    EXPECT_EQ(s->stats().servers.at(0).breaker, breaker_state::closed);
}

class MemcachedServers : public ::testing::Test {
protected:
    std::vector<memcached_server> addresses() const { return {a_.address(), b_.address(), c_.address()}; }
    testing::real_memcached a_, b_, c_;
};

// Our keys lie where any ketama client of libmemcached looks for them, in whatever order the servers are listed.
TEST_F(MemcachedServers, PlacementIsThatOfAnyKetamaClient) {
    memcached_options o = options_for(addresses());
    const auto s = make_memcached_store(o);
    for (int i = 0; i < 60; ++i) {
        s->put("key " + std::to_string(i), make({.body = std::to_string(i), .when = now()}), 32, now());
    }
    testing::plain_client plain({b_.address(), c_.address(), a_.address()});
    std::reverse(o.servers.begin(), o.servers.end());
    const auto reversed = make_memcached_store(o);
    for (int i = 0; i < 60; ++i) {
        const std::string key = "key " + std::to_string(i);
        EXPECT_TRUE(
            eventually([&] { return plain.get(o.key_prefix + ":v2:m:" + crypto::sha256_hex(key)).has_value(); }));
        const auto f = loaded(*reversed, key);
        EXPECT_TRUE(f && f->set) << key;
    }
    for (const auto& server : addresses()) EXPECT_THAT(keys_in(server, o.key_prefix), SizeIs(::testing::Gt(5U)));
}

// security-catalogue S264: only its share, and nobody else waits for it.
TEST_F(MemcachedServers, OneThatDiesTakesItsShareOnly) {
    memcached_options o = options_for(addresses());
    o.breaker_failures = 1;
    o.breaker_open = std::chrono::hours(1);
    const auto s = make_memcached_store(o);
    const auto there = [&](int i) {
        const auto f = loaded(*s, "key " + std::to_string(i));
        return f && f->set;
    };
    constexpr int keys = 150;
    for (int i = 0; i < keys; ++i) {
        s->put("key " + std::to_string(i), make({.body = "b", .when = now()}), 32, now());
    }
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(eventually([&] { return there(i); })) << i;
    b_.kill();
    int lost = 0;
    for (int i = 0; i < keys; ++i) lost += there(i) ? 0 : 1;
    EXPECT_GT(lost, keys / 3 / 2);
    EXPECT_LT(lost, keys / 2 + 10);
    const store_stats counted = s->stats();
    EXPECT_EQ(std::ranges::count(counted.servers, breaker_state::open, &server_stats::breaker), 1);
}

TEST(MemcachedOptions, AreChecked) {
    const auto with = [](auto change) {
        memcached_options o = options_for({{.host = "127.0.0.1", .port = 1}});
        change(o);
        return o;
    };
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.servers.clear(); })), std::invalid_argument);
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.key_prefix = "a b"; })), std::invalid_argument);
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.key_prefix = "a\r\n"; })), std::invalid_argument);
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.key_prefix = std::string(101, 'x'); })),
                 std::invalid_argument);
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.timeout = milliseconds{0}; })), std::invalid_argument);
    EXPECT_THROW(make_memcached_store(with([](auto& o) { o.chunk = 10; })), std::invalid_argument);
}

}  // namespace
}  // namespace etagere::store
