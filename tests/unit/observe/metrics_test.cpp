// What /metrics says. Single counters: counters_test.cpp.
#include "etagere/observe/metrics.hpp"

#include <atomic>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

record request(std::uint32_t route, reason why = reason::hit_fresh) {
    record r;
    r.listener = "ingress";
    r.listener_index = name_table::overflow + 1;  // the first name that is added
    r.route_index = route;
    r.method = "GET";
    r.verb = http::method::get;
    r.status = 200;
    r.why = why;
    r.duration_us = 750;
    r.ttfb_us = 400;
    r.bytes_out = 1000;
    return r;
}

/// One registered listener, route and upstream; two workers.
struct Metrics : testing::Test {
    Metrics() {
        all.upstream("rails");
        route = all.route("products");
    }
    metrics all{2, {"0.1.0", "c0ffee"}};
    const std::uint32_t listener = all.listener("ingress");
    std::uint32_t route = 0;
};

TEST_F(Metrics, SamplesBearTheDocumentedNames) {
    record r = request(route, reason::revalidated);
    r.upstream = "rails";
    r.upstream_status = 304;
    r.upstream_us = 600;
    r.connect_us = 90;
    r.not_modified = true;
    r.collapsed = true;
    r.entity_bytes = 50'000;
    r.coding = http::coding::br;
    r.uncoded_bytes = r.encoded_bytes = 50'000;
    r.coded_bytes = 9'000;
    all.of(0).observe(r);
    all.of(1).observe(r);
    all.of(1).refreshed(route, refresh_result::changed);
    all.of(0).audited(route, audit_result::wrong_304);
    const std::string text = all.render();
    for (const auto* const sample : {
             R"(etagere_build_info{version="0.1.0",revision="c0ffee"} 1)",
             R"(etagere_http_requests_total{listener="ingress",route="products",method="GET",code="2xx"} 2)",
             R"(etagere_http_requests_in_flight{listener="ingress"} 0)",
             R"(etagere_http_request_duration_seconds_bucket{route="products",cache="revalidated",le="0.0005"} 0)",
             R"(etagere_http_request_duration_seconds_bucket{route="products",cache="revalidated",le="0.001"} 2)",
             R"(etagere_http_request_duration_seconds_bucket{route="products",cache="revalidated",le="10"} 2)",
             R"(etagere_http_request_duration_seconds_bucket{route="products",cache="revalidated",le="+Inf"} 2)",
             R"(etagere_http_request_duration_seconds_sum{route="products",cache="revalidated"} 0.0015)",
             R"(etagere_http_request_duration_seconds_count{route="products",cache="revalidated"} 2)",
             R"(etagere_http_first_byte_seconds_bucket{route="products",cache="revalidated",le="0.0005"} 2)",
             R"(etagere_http_response_bytes_total{route="products",cache="revalidated"} 2000)",
             R"(etagere_cache_decisions_total{route="products",reason="revalidated"} 2)",
             R"(etagere_cache_not_modified_total{route="products",side="client"} 2)",
             R"(etagere_cache_not_modified_total{route="products",side="upstream"} 2)",
             R"(etagere_cache_saved_bytes_total{route="products",side="client"} 100000)",
             R"(etagere_cache_saved_bytes_total{route="products",side="upstream"} 100000)",
             R"(etagere_cache_collapsed_requests_total{route="products",scope="local"} 2)",
             R"(etagere_compression_responses_total{route="products",coding="br"} 2)",
             R"(etagere_compression_bytes_total{route="products",coding="br",side="upstream"} 100000)",
             R"(etagere_compression_bytes_total{route="products",coding="br",side="client"} 18000)",
             R"(etagere_compression_encoded_bytes_total{route="products"} 100000)",
             R"(etagere_cache_background_refresh_total{route="products",result="changed"} 1)",
             R"(etagere_etag_audit_total{route="products",result="wrong_304"} 1)",
             R"(etagere_upstream_requests_total{upstream="rails",code="3xx"} 2)",
             R"(etagere_upstream_duration_seconds_count{upstream="rails",phase="connect"} 2)",
             R"(etagere_upstream_duration_seconds_bucket{upstream="rails",phase="total",le="0.001"} 2)",
             R"(etagere_config_reloads_total{result="ok"} 0)",
             R"(etagere_config_reloads_total{result="error"} 0)",
         }) {
        EXPECT_THAT(text, HasSubstr(std::string(sample) + "\n"));
    }
}

TEST_F(Metrics, FactsOfOtherRoomsAreAskedForWhenRead) {
    std::uint64_t asked = 0;
    fact_sources sources;
    sources.connections = [&] { return std::vector<connection_facts>{{"ingress", "http1", ++asked}}; };
    sources.stores = [] {
        store_facts s;
        s.name = "default";
        s.bytes = 4096;
        s.entries = 3;
        s.evictions = 7;
        s.operations = {{"load", "timeout", 5}};
        s.durations = {{"load", {}}};
        s.durations[0].values.buckets[0] = 9;
        s.durations[0].values.sum_us = 1500;
        s.servers = {{.name = "127.0.0.1:11211", .breaker_open = true, .queue_depth = 12}};
        s.corrupt = 2;
        return std::vector{s};
    };
    sources.upstreams = [] {
        return std::vector<upstream_facts>{{.name = "rails",
                                            .active = 5,
                                            .idle = 2,
                                            .queued = 4,
                                            .queue_rejected = 1,
                                            .retries = 3,
                                            .connects = 8,
                                            .connect_failures = 2}};
    };
    sources.log_lines_dropped = [] { return std::uint64_t{6}; };
    all.read_from(sources);
    all.render();
    const std::string text = all.render();
    for (const auto* const sample : {
             R"(etagere_connections{listener="ingress",protocol="http1"} 2)",
             R"(etagere_store_bytes{store="default"} 4096)",
             R"(etagere_store_entries{store="default"} 3)",
             R"(etagere_store_evictions_total{store="default"} 7)",
             R"(etagere_store_operations_total{store="default",op="load",result="timeout"} 5)",
             R"(etagere_store_operation_duration_seconds_bucket{store="default",op="load",le="0.0005"} 9)",
             R"(etagere_store_operation_duration_seconds_sum{store="default",op="load"} 0.0015)",
             R"(etagere_store_breaker_open{store="default",server="127.0.0.1:11211"} 1)",
             R"(etagere_store_queue_depth{store="default",server="127.0.0.1:11211"} 12)",
             R"(etagere_store_rejected_records_total{store="default",cause="corrupt"} 2)",
             R"(etagere_upstream_connections{upstream="rails",state="active"} 5)",
             R"(etagere_upstream_connections{upstream="rails",state="idle"} 2)",
             R"(etagere_upstream_queue_depth{upstream="rails"} 4)",
             R"(etagere_upstream_queue_rejected_total{upstream="rails"} 1)",
             R"(etagere_upstream_retries_total{upstream="rails",cause="connection"} 3)",
             R"(etagere_upstream_connects_total{upstream="rails",result="ok"} 6)",
             R"(etagere_upstream_connects_total{upstream="rails",result="error"} 2)",
             "etagere_log_dropped_total 6",
         }) {
        EXPECT_THAT(text, HasSubstr(std::string(sample) + "\n"));
    }
}

TEST_F(Metrics, InFlightIsWhatBeganAndHasNotEnded) {
    all.of(0).in_flight(listener, +1);
    all.of(1).in_flight(listener, +1);
    all.of(1).in_flight(listener, +1);
    all.of(1).in_flight(listener, -1);
    EXPECT_THAT(all.render(), HasSubstr("etagere_http_requests_in_flight{listener=\"ingress\"} 2\n"));
}

TEST_F(Metrics, ReloadsAreCountedAndTheFirstLoadIsNone) {
    const wall_time start{1'764'518'405'250ms};
    all.config_loaded(start);
    all.config_reloaded(false, start + 1h);
    EXPECT_THAT(all.render(), HasSubstr("etagere_config_reloads_total{result=\"ok\"} 0\n"));
    EXPECT_THAT(all.render(), HasSubstr("etagere_config_reloads_total{result=\"error\"} 1\n"));
    EXPECT_THAT(all.render(), HasSubstr("etagere_config_last_reload_success_timestamp_seconds 1764518405.25\n"));
    all.config_reloaded(true, start + 2h);
    EXPECT_THAT(all.render(), HasSubstr("etagere_config_reloads_total{result=\"ok\"} 1\n"));
    EXPECT_THAT(all.render(), HasSubstr("etagere_config_last_reload_success_timestamp_seconds 1764525605.25\n"));
}

TEST_F(Metrics, CountersSurviveAReload) {
    all.of(0).observe(request(route));
    const std::uint32_t orders = all.route("orders");
    ASSERT_EQ(all.route("products"), route);
    all.of(0).observe(request(route));
    all.of(0).observe(request(orders));
    EXPECT_THAT(all.render(), HasSubstr(R"(etagere_cache_decisions_total{route="products",reason="hit_fresh"} 2)"));
    EXPECT_THAT(all.render(), HasSubstr(R"(etagere_cache_decisions_total{route="orders",reason="hit_fresh"} 1)"));
}

// S276: nothing that a client sends becomes a label value.
TEST_F(Metrics, RequestsCannotMakeSeries) {
    const auto series = [this] {
        const std::string text = all.render();
        return std::ranges::count(text, '\n');
    };
    all.of(0).observe(request(route));
    record other = request(route);
    other.method = "ANY";
    other.verb = http::method::other;
    other.listener_index = name_table::none;
    other.upstream = "unknown";
    all.of(0).observe(other);
    const auto before = series();
    for (int i = 0; i < 1000; ++i) {
        const std::string junk = "X" + std::to_string(i) + "\"} 1\n";
        record r = request(route);
        r.method = r.host = r.path = r.query = r.route = r.user_agent = r.listener = r.upstream = r.error = junk;
        r.verb = http::find_method(junk);
        r.listener_index = name_table::none;
        all.of(0).observe(r);
    }
    EXPECT_EQ(series(), before);
    EXPECT_THAT(all.render(), HasSubstr(R"({listener="none",route="products",method="other",code="2xx"} 1001)"));
    EXPECT_THAT(all.render(), Not(HasSubstr("X1")));
}

TEST_F(Metrics, LowerCaseMethodsAreOther) {
    record r = request(route);
    r.verb = http::find_method("get");
    all.of(0).observe(r);
    EXPECT_THAT(all.render(), HasSubstr(R"(method="other",code="2xx"} 1)"));
}

TEST_F(Metrics, RoutesBeyondTheCapShareOneSeries) {
    for (std::uint32_t i = 0; i < 2 * max_routes; ++i) {
        all.of(0).observe(request(all.route("route-" + std::to_string(i))));
    }
    const std::string text = all.render();
    const std::regex decision("\netagere_cache_decisions_total\\{");
    EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), decision), std::sregex_iterator()),
              max_routes - 2)
        << "all but none and the unused products, overflow among them";
    EXPECT_THAT(text, HasSubstr(R"(etagere_cache_decisions_total{route="overflow",reason="hit_fresh"} 1027)"));
}

TEST(Exposition, LabelValuesAreEscaped) {
    std::string text;
    exposition out(text);
    out.family("etagere_test", exposition::kind::gauge, "Help.");
    out.sample({{"route", "a\"b\\c\nd"}}, std::uint64_t{1});
    EXPECT_EQ(text,
              "# HELP etagere_test Help.\n# TYPE etagere_test gauge\netagere_test{route=\"a\\\"b\\\\c\\nd\"} 1\n");
}

// The format's grammar: HELP and TYPE once before each family, no sample outside its family, no series twice.
TEST_F(Metrics, TheTextIsWellFormed) {
    all.of(0).observe(request(route));
    fact_sources sources;
    sources.connections = [] { return std::vector<connection_facts>{{"ingress", "http1", 1}}; };
    sources.stores = [] {
        store_facts s;
        s.name = "default";
        s.operations = {{"load", "ok", 1}, {"put", "ok", 1}};
        s.durations = {{"load", {}}};
        s.servers = {{.name = "a"}, {.name = "b"}};
        store_facts other = s;
        other.name = "other";
        return std::vector{s, other};
    };
    sources.upstreams = [] { return std::vector<upstream_facts>{{.name = "rails"}, {.name = "go"}}; };
    sources.log_lines_dropped = [] { return std::uint64_t{0}; };
    all.read_from(sources);

    std::set<std::string> families;
    std::set<std::string> series;
    std::string family;
    std::string kind;
    std::istringstream text(all.render());
    const std::regex sample(R"rx(([a-z_]+)(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (\d+(\.\d+)?))rx");
    for (std::string line; std::getline(text, line);) {
        std::smatch match;
        if (std::regex_match(line, match, std::regex("# HELP (etagere_[a-z_]+) .+\\."))) {
            family = match[1];
            EXPECT_TRUE(families.insert(family).second) << line;
        } else if (std::regex_match(line, match, std::regex("# TYPE (etagere_[a-z_]+) (counter|gauge|histogram)"))) {
            EXPECT_EQ(match[1], family);
            kind = match[2];
            EXPECT_EQ(kind == "counter", family.ends_with("_total")) << line;
        } else {
            ASSERT_TRUE(std::regex_match(line, match, sample)) << line;
            EXPECT_TRUE(series.insert(match[1].str() + match[2].str()).second) << line;
            std::string base = match[1];
            if (kind == "histogram") base = std::regex_replace(base, std::regex("_(bucket|sum|count)$"), "");
            EXPECT_EQ(base, family) << line;
        }
    }
    EXPECT_GT(families.size(), 30U);
}

// For ThreadSanitizer: workers count, one thread reads, another one reloads.
TEST_F(Metrics, ReadingAndReloadingDisturbNobody) {
    constexpr int each = 5000;
    std::atomic<int> running = 2;
    std::vector<std::thread> workers;
    for (unsigned w = 0; w < 2; ++w) {
        workers.emplace_back([&, w] {
            for (int i = 0; i < each; ++i) {
                all.of(w).in_flight(listener, +1);
                all.of(w).observe(request(route + static_cast<std::uint32_t>(i % 4)));
                all.of(w).in_flight(listener, -1);
            }
            --running;
        });
    }
    std::thread reload([&] {
        for (int i = 1; i < 50; ++i) {
            all.route("route-" + std::to_string(i));
            all.upstream("upstream-" + std::to_string(i));
            fact_sources sources;
            sources.log_lines_dropped = [i] { return static_cast<std::uint64_t>(i); };
            all.read_from(std::move(sources));
            all.config_reloaded(true, wall_time{});
        }
    });
    while (running != 0) EXPECT_THAT(all.render(), HasSubstr("etagere_build_info"));
    reload.join();
    for (auto& worker : workers) worker.join();
    const std::string text = all.render();
    for (const auto* const name : {"products", "route-1", "route-2", "route-3"}) {
        EXPECT_THAT(text, HasSubstr("etagere_cache_decisions_total{route=\"" + std::string(name) +
                                    "\",reason=\"hit_fresh\"} " + std::to_string(2 * each / 4)));
    }
    EXPECT_THAT(text, HasSubstr("etagere_http_requests_in_flight{listener=\"ingress\"} 0\n"));
}

}  // namespace
}  // namespace etagere::observe
