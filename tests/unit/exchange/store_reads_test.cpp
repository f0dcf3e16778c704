// What waits together is asked together, and what is asked for once is not asked for twice.
#include "etagere/exchange/store_reads.hpp"

#include "etagere/store/memory.hpp"

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

/// Keeps the questions until somebody answers them.
class slow_store final : public store::store {
public:
    struct question {
        std::string what;
        found_handler done;
    };
    std::vector<question> asked;
    int batches = 0;

    std::vector<std::string> questions() const {
        std::vector<std::string> out;
        for (const question& q : asked) out.push_back(q.what);
        return out;
    }

    etagere::store::found peek(std::string_view, moment) override { return {}; }
    bool has_remote() const noexcept override { return true; }
    void load(std::string_view key, moment, found_handler done) override {
        asked.push_back({"heads of " + std::string(key), std::move(done)});
    }
    void load_all(std::span<store::question> together, moment now) override {
        ++batches;
        for (auto& q : together) {
            if (q.whole) {
                asked.push_back({"all of " + std::string(q.key), std::move(q.done)});
            } else {
                load(q.key, now, std::move(q.done));
            }
        }
    }
    void inspect(std::string_view, moment, found_handler done) override { done({}); }
    void load_body(std::string_view, etagere::store::object_ptr head, moment, body_handler done) override {
        done(std::move(head));
    }
    void put(std::string_view, etagere::store::object_ptr, std::uint32_t, moment) override {}
    void freshen(std::string_view, etagere::store::object_ptr, moment) override {}
    void keep_forms(std::string_view, const etagere::store::object&, moment) override {}
    void erase(std::string_view, moment) override {}
    etagere::store::purge_table& purges() noexcept override { return memory_->purges(); }
    void purge(std::span<const cache::purge_target>, bool, moment, purge_handler done) override { done(true); }
    totals memory_totals() const override { return {}; }

private:
    std::unique_ptr<etagere::store::store> memory_ = etagere::store::make_memory_store({});
};

struct asker {
    std::optional<result<store::found>> got;
};

net::task<void> ask(store_reads& reads, store::store& from, std::string key, wish what, asker& out) {
    auto [answer] = co_await reads.heads.ask(from, key, what);
    out.got = std::move(answer);
}

class StoreReads : public ::testing::Test {
protected:
    void ask_for(const std::string& key, asker& out, wish what = wish::heads) {
        net::spawn(on_.executor(), ask(*reads_, store_, key, what, out));
    }
    void turn() {
        on_.io().restart();
        on_.io().poll();
    }

    net::worker on_{0};
    slow_store store_;
    std::optional<store_reads> reads_{std::in_place, on_};
};

TEST_F(StoreReads, EqualQuestionsOfOneTurnAreOne) {
    std::vector<asker> clients(20);
    for (asker& c : clients) ask_for("key", c);
    turn();
    ASSERT_THAT(store_.questions(), ElementsAre("heads of key"));
    const store::variant_set set(std::vector{store::object_ptr(new store::object)});
    store_.asked[0].done(store::found{.set = set, .from = store::level::memcached});
    turn();
    for (const asker& c : clients) {
        ASSERT_TRUE(c.got && *c.got);
        EXPECT_EQ((*c.got)->set, set);
    }
}

TEST_F(StoreReads, OtherQuestionsGoOutApart) {
    asker a, b, c;
    ask_for("a", a);
    ask_for("b", b);
    ask_for("a", c, wish::bodies);
    turn();
    EXPECT_THAT(store_.questions(), ElementsAre("heads of a", "heads of b", "all of a"));
    store_.asked[1].done(fail(errc::store_timeout));
    turn();
    EXPECT_FALSE(a.got);
    ASSERT_TRUE(b.got);
    EXPECT_EQ(b.got->error(), errc::store_timeout);
    store_.asked[0].done(store::found{});
    store_.asked[2].done(store::found{});
    turn();
    EXPECT_TRUE(a.got && c.got);
}

TEST_F(StoreReads, WhatOneTurnAsksOfAStoreIsOneBatch) {
    slow_store other;
    std::vector<asker> clients(9);
    for (std::size_t i = 0; i < clients.size(); ++i) {
        store::store& from = i % 3 == 1 ? static_cast<store::store&>(other) : store_;
        net::spawn(on_.executor(), ask(*reads_, from, "key " + std::to_string(i), wish::bodies, clients[i]));
    }
    turn();
    EXPECT_EQ(store_.batches, 1);
    EXPECT_EQ(other.batches, 1);
    EXPECT_THAT(store_.questions(), UnorderedElementsAre("all of key 0", "all of key 2", "all of key 3", "all of key 5",
                                                         "all of key 6", "all of key 8"));
    EXPECT_THAT(other.questions(), UnorderedElementsAre("all of key 1", "all of key 4", "all of key 7"));
    for (slow_store* const s : {&store_, &other}) {
        for (auto& q : s->asked) q.done(store::found{});
    }
    turn();
    for (const asker& c : clients) EXPECT_TRUE(c.got);
}

// The answer that is on its way may be older than a write that the second client knows of.
TEST_F(StoreReads, NobodyJoinsWhatIsOutAlready) {
    asker early, late;
    ask_for("key", early);
    turn();
    ask_for("key", late);
    turn();
    EXPECT_THAT(store_.questions(), ElementsAre("heads of key", "heads of key"));
    store_.asked[0].done(store::found{});
    turn();
    EXPECT_TRUE(early.got);
    EXPECT_FALSE(late.got);
    store_.asked[1].done(store::found{});
    turn();
    EXPECT_TRUE(late.got);
}

TEST_F(StoreReads, AnswersComeFromAnyThread) {
    std::vector<asker> clients(50);
    for (std::size_t i = 0; i < clients.size(); ++i) ask_for("key " + std::to_string(i), clients[i]);
    turn();
    ASSERT_THAT(store_.asked, SizeIs(50));
    std::jthread lane([&] {
        for (auto& q : store_.asked) q.done(store::found{});
    });
    on_.io().restart();
    on_.io().run();  // as long as one waits there is work
    for (const asker& c : clients) EXPECT_TRUE(c.got);
}

TEST_F(StoreReads, AnAnswerForAWorkerThatIsGoneIsDropped) {
    asker a;
    ask_for("key", a);
    turn();
    reads_.reset();
    store_.asked[0].done(store::found{});
    turn();
    EXPECT_FALSE(a.got);
}

TEST_F(StoreReads, NothingIsAskedWithoutQuestions) {
    turn();
    EXPECT_THAT(store_.questions(), IsEmpty());
}

}  // namespace
}  // namespace etagere::exchange
