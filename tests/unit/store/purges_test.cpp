// What is purged for whom and when: one table, and several that share a journal which may be lost at any time.
#include "etagere/store/purges.hpp"

#include "make.hpp"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using cache::purged;
using testing::at;

http::request_head request(std::string target = "/a", std::string host = "shop.test") {
    http::request_head r;
    r.target = std::move(target);
    r.host = std::move(host);
    r.port = 80;
    return r;
}

struct answer {
    cache::purge_mark known;
    std::vector<std::string> tags = {};
    std::vector<std::pair<std::string, std::string>> more = {};
};
object_ptr make(const answer& a) {
    cache::stored_response s;
    s.known = a.known;
    cache::policy rules;
    rules.tag_fields = {};
    rules.tags = a.tags;
    for (const auto& [name, value] : a.more) EXPECT_TRUE(s.header.add(name, value));
    cache::collect_tags(s, request(), rules);
    s.index();
    return make_object(std::move(s), share("x"), at(std::chrono::hours(1)).wall);
}

purged judged(const purge_table& t, const object_ptr& o, const http::request_head& r = request(),
              std::string_view route = "all") {
    std::string scratch;
    return t.judge(*o, r, route, {}, scratch).how;
}

std::vector<cache::purge_target> tag(std::string_view name) {
    std::vector<cache::purge_target> out;
    cache::purge_tag(out, name);
    return out;
}
std::vector<cache::purge_target> url(std::string_view target) {
    std::vector<cache::purge_target> out;
    cache::purge_url(out, "http", "shop.test", 80, target);
    return out;
}

TEST(Purges, TakeWhatWasAskedForBefore) {
    purge_table t(false);
    const object_ptr before = make({t.mark(), {"a"}});
    EXPECT_EQ(judged(t, before), purged::no);
    t.purge(tag("a"), false, at().wall);
    EXPECT_EQ(judged(t, before), purged::hard);
    const object_ptr after = make({t.mark(), {"a"}});
    EXPECT_EQ(judged(t, after), purged::no);
    EXPECT_EQ(judged(t, make({t.mark(), {"b"}})), purged::no);
}

TEST(Purges, WithinOneMillisecond) {
    purge_table t(false);
    for (int i = 0; i < 100; ++i) {
        const object_ptr before = make({t.mark(), {"a"}});
        t.purge(tag("a"), false, at().wall);
        ASSERT_EQ(judged(t, before), purged::hard);
        ASSERT_EQ(judged(t, make({t.mark(), {"a"}})), purged::no);
    }
}

TEST(Purges, AClockThatWasSetBackHidesNothing) {
    purge_table t(false);
    t.purge(tag("a"), false, at(std::chrono::hours(1)).wall);
    const object_ptr before = make({t.mark(), {"a"}});
    t.purge(tag("a"), false, at().wall);
    EXPECT_EQ(judged(t, before), purged::hard);
}

TEST(Purges, SoftSaysSinceWhen) {
    purge_table t(false);
    const object_ptr o = make({t.mark(), {"a", "b"}});
    t.purge(tag("a"), true, at(seconds(5)).wall);
    t.purge(tag("b"), true, at(seconds(9)).wall);
    std::string scratch;
    const cache::purge_state s = t.judge(*o, request(), "all", {}, scratch);
    EXPECT_EQ(s.how, purged::soft);
    EXPECT_EQ(s.since, at(seconds(5)).wall);
    t.purge(tag("b"), false, at(seconds(9)).wall);
    EXPECT_EQ(judged(t, o), purged::hard);
    t.purge(tag("b"), true, at(seconds(10)).wall);
    EXPECT_EQ(judged(t, o), purged::hard) << "a soft purge does not lift a hard one";
}

TEST(Purges, ByUrlPrefixAndRoute) {
    for (const int what : {0, 1, 2, 3}) {
        purge_table t(false);
        const object_ptr o = make({t.mark()});
        std::vector<cache::purge_target> groups;
        if (what == 0) cache::purge_url(groups, "http", "shop.test", 80, "/a?x=1");
        if (what == 1) cache::purge_url(groups, "http", "", 80, "/a?x=1");
        if (what == 2) cache::purge_prefix(groups, "shop.test", "/a");
        if (what == 3) cache::purge_route(groups, "r");
        t.purge(groups, false, at().wall);
        EXPECT_EQ(judged(t, o, request("/a?x=1"), "r"), purged::hard) << what;
        EXPECT_EQ(judged(t, o, request("/b?x=1"), what == 3 ? "s" : "r"), purged::no) << what;
        EXPECT_EQ(judged(t, o, request("/a?x=1", "other.test"), "s"), what == 1 ? purged::hard : purged::no) << what;
    }
}

// One object may answer for several URLs: what was found out about one of them says nothing about another.
TEST(Purges, WhatIsNotedIsNotedForOneUrl) {
    purge_table t(false);
    const object_ptr o = make({t.mark()});
    t.purge(url("/b"), false, at().wall);
    EXPECT_EQ(judged(t, o, request("/a")), purged::no);
    EXPECT_EQ(judged(t, o, request("/b")), purged::hard);
    EXPECT_EQ(judged(t, o, request("/a")), purged::no);
}

TEST(Purges, ByUrlTakesWhatAnswersForIt) {
    purge_table t(false);
    const object_ptr several = make({t.mark(), {}, {{"No-Vary-Search", "params"}}});
    const object_ptr one = make({t.mark()});
    t.purge(url("/a"), false, at().wall);
    EXPECT_EQ(judged(t, several, request("/a?utm=1")), purged::hard);
    EXPECT_EQ(judged(t, one, request("/a?utm=1")), purged::no);
}

TEST(Purges, TooManyTagsAreAllTags) {
    purge_table t(false);
    std::vector<std::string> names;
    for (int i = 0; i < 2000; ++i) names.push_back("t" + std::to_string(i));
    const object_ptr o = make({t.mark(), names});
    EXPECT_LE(o->response.rest->tags.size(), 2U);
    t.purge(tag("t1999"), false, at().wall);
    EXPECT_EQ(judged(t, o), purged::hard);
}

TEST(Purges, ATableThatNobodyEmptiesStaysSmallAndForgetsNothing) {
    purge_table t(false);
    const object_ptr first = make({t.mark(), {"0"}});
    const object_ptr other = make({t.mark(), {"x"}});
    for (int i = 0; i < 70'000; ++i) t.purge(tag(std::to_string(i)), false, at().wall);
    EXPECT_EQ(judged(t, first), purged::hard);
    EXPECT_EQ(judged(t, other), purged::hard) << "older than what is told apart";
    EXPECT_EQ(judged(t, make({t.mark(), {"1"}})), purged::no);
}

// ---------------------------------------------------------------- with a journal

/// One process: what the journal keeper does, without waiting for anybody.
struct process {
    explicit process(std::uint64_t e) : era(e) {}

    purge_table table{true};
    std::uint64_t era;

    void synchronise(std::optional<record::journal>& shared, wall_time now) {
        if (shared) table.adopt(*shared);
        if (const auto next = table.next_edition(shared, era, now)) {
            shared = next->journal;
            table.published(*next);
        }
    }
};

TEST(SharedPurges, NothingOfOthersIsUsedBeforeTheJournalIsKnown) {
    process p{11};
    cache::purge_mark foreign{.era = 5, .seq = 9, .local = 0};
    EXPECT_EQ(judged(p.table, make({foreign})), purged::hard);
    EXPECT_EQ(judged(p.table, make({{}})), purged::hard) << "kept by one that knew of no journal";
    const object_ptr own = make({p.table.mark(), {"a"}});
    EXPECT_EQ(judged(p.table, own), purged::no);
    p.table.purge(tag("a"), false, at().wall);
    EXPECT_EQ(judged(p.table, own), purged::hard);
    EXPECT_EQ(judged(p.table, make({p.table.mark(), {"a"}})), purged::no)
        << "asked for after the purge, published or not";
}

TEST(SharedPurges, AreNoticedByTheOthers) {
    std::optional<record::journal> shared;
    process a{11};
    process b{12};
    a.synchronise(shared, at().wall);
    b.synchronise(shared, at().wall);
    const object_ptr mine = make({a.table.mark(), {"x"}});
    const object_ptr theirs = make({b.table.mark(), {"x"}});
    a.table.purge(tag("x"), false, at().wall);
    EXPECT_EQ(a.table.pending(), 2U) << "the tag, and those with too many to tell";
    a.synchronise(shared, at().wall);
    EXPECT_EQ(a.table.pending(), 0U);
    EXPECT_EQ(judged(b.table, theirs), purged::no) << "not yet";
    b.synchronise(shared, at().wall);
    for (const purge_table* t : {&a.table, &b.table}) {
        EXPECT_EQ(judged(*t, mine), purged::hard);
        EXPECT_EQ(judged(*t, theirs), purged::hard);
        EXPECT_EQ(judged(*t, make({t->mark(), {"x"}})), purged::no);
    }
}

// B's clock is behind, and B did not know of A's purge when it made its own: the number is given at publication.
TEST(SharedPurges, ClocksDoNotDecideWhatIsOlder) {
    std::optional<record::journal> shared;
    process a{11};
    process b{12};
    process c{13};
    for (process* p : {&a, &b, &c}) p->synchronise(shared, at().wall);
    a.table.purge(tag("other"), false, at(std::chrono::hours(1)).wall);
    a.synchronise(shared, at(std::chrono::hours(1)).wall);
    c.synchronise(shared, at().wall);
    const object_ptr o = make({c.table.mark(), {"x"}});  // knows of A's purge, asked before B's
    b.table.purge(tag("x"), false, at().wall);
    b.synchronise(shared, at().wall);
    c.synchronise(shared, at().wall);
    EXPECT_EQ(judged(c.table, o), purged::hard);
}

// Property. Whatever is purged, published, lost, restarted and read in whatever order: once a process has the journal
// with a purge in it, nothing that was asked for before that purge is taken for clean there, and what was asked for by
// a process that knew the purge is not taken for purged by it for ever.
TEST(SharedPurges, NeverResurrect) {
    constexpr int groups = 5;
    for (std::uint32_t seed = 1; seed <= 300; ++seed) {
        std::mt19937 random(seed);
        std::optional<record::journal> shared;
        std::uint64_t era = 100;
        milliseconds time{0};
        struct kept {
            object_ptr object;
            int group;
            int born;  // step at which it was asked for
            std::size_t by;
        };
        struct purge_of {
            int group;
            int step;
            std::size_t by;
            bool published;
        };
        std::vector<std::unique_ptr<process>> all;
        std::vector<std::vector<bool>> knows(3);  // [process][purge]
        for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<process>(++era));
        std::vector<kept> objects;
        std::vector<purge_of> done;
        const auto publish = [&](std::size_t p) {
            const bool lost = !shared;
            all[p]->synchronise(shared, at(time).wall);
            for (std::size_t i = 0; i < done.size(); ++i) {
                if (done[i].by == p) done[i].published = true;
                // From an existing journal everything is learnt that is in it; a new or restored one may lack the rest.
                if (done[i].published && !lost) knows[p][i] = true;
            }
        };
        for (int step = 0; step < 120; ++step) {
            time += milliseconds(random() % 3);
            const std::size_t p = random() % all.size();
            switch (random() % 9) {
                case 0:
                case 1: {
                    const int g = static_cast<int>(random() % groups);
                    all[p]->table.purge(tag(std::to_string(g)), false, at(time - milliseconds(random() % 50)).wall);
                    done.push_back({g, step, p, false});
                    for (auto& k : knows) k.push_back(false);
                    knows[p].back() = true;
                    break;
                }
                case 2:
                case 3:
                case 4: publish(p); break;
                case 5:
                case 6: {
                    const int g = static_cast<int>(random() % groups);
                    objects.push_back({make({all[p]->table.mark(), {std::to_string(g)}}), g, step, p});
                    break;
                }
                case 7: {  // it starts anew; the purges that it had not published are lost with it
                    if (random() % 4 != 0) break;
                    publish(p);
                    all[p] = std::make_unique<process>(++era);
                    std::erase_if(objects, [&](const kept& k) { return k.by == p; });
                    for (std::size_t i = 0; i < done.size(); ++i) knows[p][i] = false;
                    publish(p);
                    break;
                }
                default:  // memcached loses the journal, and one that knows it all puts it back
                    if (random() % 4 != 0) break;
                    for (std::size_t i = 0; i < all.size(); ++i) publish(i);
                    for (std::size_t i = 0; i < all.size(); ++i) publish(i);
                    shared.reset();
                    publish(p);
                    break;
            }
            for (const kept& k : objects) {
                for (std::size_t i = 0; i < done.size(); ++i) {
                    if (done[i].group != k.group || done[i].step < k.born || !knows[k.by][i]) continue;
                    ASSERT_EQ(judged(all[k.by]->table, k.object), purged::hard) << "seed " << seed << " step " << step;
                }
            }
        }
        // In the end all know the same, and what is asked for now is good for everybody.
        for (int round = 0; round < 2; ++round) {
            for (std::size_t p = 0; p < all.size(); ++p) all[p]->synchronise(shared, at(time).wall);
        }
        for (const auto& p : all) {
            cache::purge_mark known = p->table.mark();
            known.local = 0;  // as it would come out of a record
            for (int g = 0; g < groups; ++g) {
                const object_ptr fresh = make({known, {std::to_string(g)}});
                for (const auto& reader : all) ASSERT_EQ(judged(reader->table, fresh), purged::no) << "seed " << seed;
            }
            for (const kept& k : objects) {
                cache::purge_mark recorded = k.object->response.known;
                recorded.local = 0;
                const object_ptr read = make({recorded, {std::to_string(k.group)}});
                for (const purge_of& d : done) {
                    if (d.published && d.group == k.group && d.step >= k.born) {
                        ASSERT_EQ(judged(p->table, read), purged::hard) << "seed " << seed;
                    }
                }
            }
        }
    }
}

TEST(SharedPurges, MoreThanFitWhileNobodyCanBeTold) {
    std::optional<record::journal> shared;
    process a{11};
    a.synchronise(shared, at().wall);
    const object_ptr o = make({a.table.mark(), {"y"}});
    for (int i = 0; i < 10'000; ++i) a.table.purge(tag(std::to_string(i)), false, at().wall);
    EXPECT_LE(a.table.pending(), record::most_journal_entries);
    EXPECT_EQ(judged(a.table, o), purged::hard) << "everything is purged rather than something forgotten";
    const object_ptr later = make({a.table.mark(), {"y"}});
    a.synchronise(shared, at().wall);
    EXPECT_EQ(judged(a.table, later), purged::no);
    EXPECT_LE(shared->entries.size(), record::most_journal_entries);
}

}  // namespace
}  // namespace etagere::store
