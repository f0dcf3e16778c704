#include "etagere/observe/counters.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

struct bucket_case {
    std::uint64_t us;
    std::size_t bucket;
};
class Buckets : public testing::TestWithParam<bucket_case> {};

TEST_P(Buckets, BoundsAreInclusive) {
    histogram h;
    h.observe(GetParam().us);
    histogram_values values;
    h.add_to(values);
    EXPECT_EQ(values.buckets.at(GetParam().bucket), 1U);
    EXPECT_EQ(values.count(), 1U);
    EXPECT_EQ(values.sum_us, GetParam().us);
}
INSTANTIATE_TEST_SUITE_P(Edges, Buckets,
                         testing::Values(bucket_case{0, 0}, bucket_case{500, 0}, bucket_case{501, 1},
                                         bucket_case{1000, 1}, bucket_case{1001, 2}, bucket_case{50'000, 6},
                                         bucket_case{10'000'000, 13}, bucket_case{10'000'001, 14},
                                         bucket_case{3'600'000'000, 14}));

TEST(NameTable, IndexesAreDenseAndStay) {
    name_table names(8);
    EXPECT_EQ(names.add("products"), 2U);
    EXPECT_EQ(names.add("orders"), 3U);
    EXPECT_EQ(names.add("products"), 2U) << "a reload gets the index it had";
    EXPECT_EQ(names.find("orders"), 3U);
    EXPECT_EQ(names.find("unknown"), name_table::none);
    EXPECT_EQ(names[3], "orders");
    EXPECT_EQ(names.size(), 4U);
}

// S276
TEST(NameTable, NamesBeyondTheCapShareOneIndex) {
    name_table names(4);
    names.add("a");
    EXPECT_EQ(names.add("b"), 3U);
    EXPECT_EQ(names.add("c"), name_table::overflow);
    EXPECT_EQ(names.add("d"), name_table::overflow);
    EXPECT_EQ(names.add("b"), 3U) << "those that have one keep it";
    EXPECT_EQ(names.size(), 4U);
    EXPECT_EQ(names[name_table::overflow], "overflow");
}

TEST(Codes, AreClasses) {
    EXPECT_EQ(code_labels.at(code_index(200)), "2xx");
    EXPECT_EQ(code_labels.at(code_index(101)), "1xx");
    EXPECT_EQ(code_labels.at(code_index(599)), "5xx");
    for (const int odd : {0, -1, 99, 600, 99999}) EXPECT_EQ(code_labels.at(code_index(odd)), "none") << odd;
}

struct WorkerCounters : testing::Test {
    WorkerCounters() {
        route = names.routes.add("products");
        r.listener_index = names.listeners.add("ingress");
        names.upstreams.add("rails");
        r.listener = "ingress";
        r.route_index = route;
        r.method = "GET";
        r.verb = http::method::get;
        r.status = 200;
    }
    const route_counters& of_route() const { return *counters.route(route); }

    metric_names names;
    worker_counters counters{names};
    std::uint32_t route = 0;
    record r;
};

TEST_F(WorkerCounters, NothingIsMadeBeforeItIsUsed) {
    EXPECT_EQ(counters.route(route), nullptr);
    counters.observe(r);
    EXPECT_NE(counters.route(route), nullptr);
    EXPECT_EQ(counters.upstream(2), nullptr);
}

TEST_F(WorkerCounters, EveryReasonCountsInAClassOfItsOwnName) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(reason::count_); ++i) {
        metric_names fresh_names;
        worker_counters fresh(fresh_names);
        r.why = static_cast<reason>(i);
        r.route_index = 0;
        fresh.observe(r);
        for (std::size_t c = 0; c < class_labels.size(); ++c) {
            histogram_values values;
            fresh.route(0)->classes.at(c).duration.add_to(values);
            EXPECT_EQ(values.count(), class_labels.at(c) == info(r.why).cache_class ? 1U : 0U)
                << name(r.why) << " in " << class_labels.at(c);
        }
        EXPECT_EQ(fresh.route(0)->decisions.at(i).get(), 1U);
    }
}

struct saving_case {
    const char* name;
    reason why;
    int status, upstream_status;
    std::int64_t age;
    bool not_modified, collapsed;
    std::uint64_t client, upstream;
};
class Savings : public WorkerCounters, public testing::WithParamInterface<saving_case> {};

TEST_P(Savings, AreContentThatDidNotTravel) {
    r.why = GetParam().why;
    r.status = GetParam().status;
    r.upstream_status = GetParam().upstream_status;
    r.age_s = GetParam().age;
    r.not_modified = GetParam().not_modified;
    r.collapsed = GetParam().collapsed;
    r.entity_bytes = 1000;
    counters.observe(r);
    EXPECT_EQ(of_route().saved_client_bytes.get(), GetParam().client);
    EXPECT_EQ(of_route().saved_upstream_bytes.get(), GetParam().upstream);
    EXPECT_EQ(of_route().not_modified_client.get(), GetParam().not_modified ? 1U : 0U);
    EXPECT_EQ(of_route().not_modified_upstream.get(), GetParam().upstream_status == 304 ? 1U : 0U);
    EXPECT_EQ(of_route().collapsed.get(), GetParam().collapsed ? 1U : 0U);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, Savings,
    testing::Values(saving_case{"Hit", reason::hit_fresh, 200, 0, 3, false, false, 0, 1000},
                    saving_case{"HitNotModified", reason::hit_not_modified, 304, 0, 3, true, false, 1000, 1000},
                    saving_case{"PreconditionFailed", reason::hit_precondition_failed, 412, 0, 3, false, false, 0, 0},
                    saving_case{"RevalidatedSentWhole", reason::revalidated, 200, 304, 0, false, false, 0, 1000},
                    saving_case{"RevalidatedNotModified", reason::revalidated, 304, 304, 0, true, false, 1000, 1000},
                    saving_case{"ChangedNotModified", reason::revalidated_changed, 304, 200, -1, true, false, 1000, 0},
                    saving_case{"Miss", reason::miss_cold, 200, 200, -1, false, false, 0, 0},
                    saving_case{"Follower", reason::collapsed_local, 200, 0, -1, false, true, 0, 1000},
                    saving_case{"StaleError", reason::hit_stale_error, 200, 0, 90, false, false, 0, 1000}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(WorkerCounters, UpstreamPhasesOnlyWhereTheyHappened) {
    const std::uint32_t rails = names.upstreams.find("rails");
    const auto count = [&](phase p) {
        histogram_values values;
        counters.upstream(rails)->phases.at(static_cast<std::size_t>(p)).add_to(values);
        return values.count();
    };
    r.upstream = "rails";
    r.upstream_status = 200;
    r.upstream_us = 900;
    r.upstream_ttfb_us = 700;
    counters.observe(r);  // on a kept connection
    EXPECT_EQ(count(phase::connect), 0U);
    EXPECT_EQ(count(phase::queue), 1U);
    EXPECT_EQ(count(phase::first_byte), 1U);
    EXPECT_EQ(count(phase::total), 1U);
    r.connect_us = 150;
    r.upstream_status = 0;  // connected, but no answer came
    counters.observe(r);
    EXPECT_EQ(count(phase::connect), 1U);
    EXPECT_EQ(count(phase::first_byte), 1U);
    EXPECT_EQ(count(phase::total), 2U);
    EXPECT_EQ(counters.upstream(rails)->requests.at(code_index(200)).get(), 1U);
    EXPECT_EQ(counters.upstream(rails)->requests.at(code_index(0)).get(), 1U);
}

TEST_F(WorkerCounters, AnIndexOutOfRangeIsNoRoute) {
    r.route_index = max_routes;
    counters.observe(r);
    EXPECT_EQ(counters.route(0)->decisions.at(0).get(), 1U);
}

}  // namespace
}  // namespace etagere::observe
