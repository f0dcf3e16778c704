// What one line of the access log looks like.
#include "etagere/observe/access_log.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

using namespace std::chrono_literals;

const wall_time when = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 16h + 5min + 8s + 42ms;

/// A revalidation as app2 of the article asks for it.
record revalidation() {
    record r;
    r.at = when;
    r.request_id = "4f1c";
    r.listener = "ingress";
    r.route = "products";
    r.client_ip = "192.0.2.1";
    r.method = "GET";
    r.scheme = "http";
    r.host = "api.example";
    r.path = "/api/products";
    r.query = "page=1";
    r.protocol = "HTTP/1.1";
    r.status = 304;
    r.bytes_in = 120;
    r.bytes_out = 180;
    r.duration_us = 12'345;
    r.ttfb_us = 12'300;
    r.why = reason::revalidated;
    r.age_s = 0;
    r.has_ttl = true;
    r.etag_in = R"("abc")";
    r.etag_out = R"(W/"abc")";
    r.not_modified = true;
    r.store = "memcached";
    r.store_us = 480;
    r.upstream = "rails";
    r.endpoint = "http://127.0.0.1:3000";
    r.upstream_status = 304;
    r.upstream_us = 11'000;
    r.queue_us = 250;
    r.user_agent = "Ruby";
    return r;
}

std::string line(const record& r, const access_options& o) {
    std::string out;
    line_memory memory;
    append_access_line(out, r, o, memory);
    return out;
}

TEST(AccessLine, JsonHasFlatStableNamesInThisOrder) {
    EXPECT_EQ(
        line(revalidation(), {}),
        R"({"ts":"2026-11-30T16:05:08.042Z","level":"info","msg":"request","request_id":"4f1c","listener":"ingress",)"
        R"("route":"products","client_ip":"192.0.2.1","method":"GET","scheme":"http","host":"api.example",)"
        R"("path":"/api/products","query":"page=1","protocol":"HTTP/1.1","status":304,"bytes_in":120,)"
        R"("bytes_out":180,"duration_ms":12.345,"ttfb_ms":12.300,"cache":"revalidated","reason":"revalidated",)"
        R"("age_s":0,"ttl_s":0,"etag_in":"\"abc\"","etag_out":"W/\"abc\"","not_modified":true,"collapsed":false,)"
        R"("store":"memcached","store_ms":0.480,"upstream":"rails","endpoint":"http://127.0.0.1:3000",)"
        R"("upstream_status":304,"upstream_ms":11.000,"queue_ms":0.250,"retries":0,"user_agent":"Ruby"})"
        "\n");
}

// What is kept of one line for the next never shows in it.
TEST(AccessLine, TheLineBeforeMakesNoDifference) {
    std::vector<record> records{revalidation()};
    for (std::string_view record::* const member :
         {&record::listener, &record::route, &record::client_ip, &record::method, &record::scheme, &record::host}) {
        for (const std::string_view value : {"", "\"odd\"\n", "other"}) {
            records.push_back(revalidation());
            records.back().*member = value;
        }
    }
    records.emplace_back();
    line_memory memory;
    for (const record& before : records) {
        for (const record& r : records) {
            for (const bool redact : {false, true}) {
                std::string out;
                append_access_line(out, before, {}, memory);
                out.clear();
                const access_options options{.redact_client_ip = redact};
                append_access_line(out, r, options, memory);
                ASSERT_EQ(out, line(r, options));
            }
        }
    }
}

TEST(AccessLine, JsonLeavesOutWhatDoesNotApply) {
    record r;
    r.at = when;
    r.listener = "ingress";
    r.method = "GET";
    r.path = "/";
    r.status = 400;
    r.why = reason::refused;
    r.error = "bad_framing";
    EXPECT_EQ(
        line(r, {}),
        R"({"ts":"2026-11-30T16:05:08.042Z","level":"info","msg":"request","listener":"ingress","route":"",)"
        R"("method":"GET","path":"/","status":400,"bytes_in":0,"bytes_out":0,"duration_ms":0.000,"ttfb_ms":0.000,)"
        R"("cache":"refused","reason":"refused","not_modified":false,"collapsed":false,"error":"bad_framing"})"
        "\n");
}

TEST(AccessLine, JsonSaysWhatToWriteWhereAnAnswerWasNotKept) {
    record r = revalidation();
    r.why = reason::nostore_private;
    std::string member = R"("reason":"nostore_private","remedy":)";
    append_json_string(member, info(r.why).remedy);
    EXPECT_NE(line(r, {}).find(member), std::string::npos) << line(r, {});
    r.why = reason::miss_cold;
    EXPECT_EQ(line(r, {}).find("remedy"), std::string::npos) << "nothing is wrong";
}

TEST(AccessLine, Combined) {
    record r = revalidation();
    EXPECT_EQ(line(r, {.format = access_format::combined}),
              R"(192.0.2.1 - - [30/Nov/2026:16:05:08 +0000] "GET /api/products?page=1 HTTP/1.1" 304 180 "-" "Ruby")"
              "\n");
    r.referer = "https://shop.example/a b";
    r.client_ip = {};
    r.query = {};
    r.user_agent = {};
    EXPECT_EQ(
        line(r, {.format = access_format::combined}),
        R"(- - - [30/Nov/2026:16:05:08 +0000] "GET /api/products HTTP/1.1" 304 180 "https://shop.example/a b" "-")"
        "\n");
}

TEST(AccessLine, RackCacheUsesItsWords) {
    record r = revalidation();
    const access_options o{.format = access_format::rack_cache};
    const auto with = [&](std::string_view method, reason why) {
        r.method = method;
        r.why = why;
        return line(r, o);
    };
    r.found = looked_up::stored;
    r.freshened = true;
    EXPECT_EQ(with("GET", reason::revalidated), "cache: [GET /api/products?page=1] stale, valid, store\n");
    r.freshened = false;
    EXPECT_EQ(with("HEAD", reason::revalidated), "cache: [HEAD /api/products?page=1] stale, valid\n");
    EXPECT_EQ(with("GET", reason::hit_not_modified), "cache: [GET /api/products?page=1] fresh\n");
    r.query = {};
    r.path = "/x";
    r.found = looked_up::no;
    EXPECT_EQ(with("POST", reason::invalidated), "cache: [POST /x] invalidate, pass\n");
    EXPECT_EQ(with("GET", reason::pass_stream), "cache: [GET /x] pass\n");
    EXPECT_EQ(with("GET", reason::failed), "cache: [GET /x] failed\n") << "no word of Rack::Cache's: ours";
}

TEST(AccessLine, RedactedMembersAreNeverShown) {
    const record r = revalidation();
    access_options o{.redact_query = true, .redact_client_ip = true, .redact_user_agent = true};
    for (const auto format : {access_format::json, access_format::combined, access_format::rack_cache}) {
        o.format = format;
        const std::string text = line(r, o);
        EXPECT_EQ(text.find("page=1"), std::string::npos) << text;
        EXPECT_EQ(text.find("192.0.2.1"), std::string::npos) << text;
        EXPECT_EQ(text.find("Ruby"), std::string::npos) << text;
        EXPECT_NE(text.find("[redacted]"), std::string::npos) << text;
    }
    record bare = r;
    bare.query = {};
    bare.client_ip = {};
    bare.user_agent = {};
    o.format = access_format::json;
    EXPECT_EQ(line(bare, o).find("[redacted]"), std::string::npos) << "absent stays absent";
}

TEST(AccessLine, OffWritesNothing) {
    EXPECT_EQ(line(revalidation(), {.format = access_format::off}), "");
}

TEST(AccessLine, FailuresAreErrors) {
    record r;
    r.status = 500;
    EXPECT_TRUE(is_failure(r));
    EXPECT_NE(line(r, {}).find(R"("level":"error")"), std::string::npos);
    r.status = 499;
    r.error = "bad_request";
    EXPECT_FALSE(is_failure(r));
    r.status = 200;
    r.error = "upstream_truncated";
    EXPECT_TRUE(is_failure(r));
    r.error = {};
    EXPECT_FALSE(is_failure(r));
}

// S277: one line for each request, whatever was sent, and no second member where one was.
TEST(AccessLine, CannotBeForged) {
    constexpr std::string_view forged =
        "x\r\n{\"ts\":\"2026-11-30T16:05:08.042Z\",\"msg\":\"request\",\"status\":200}\n\x1b[2J\x9b\",\"status\":\"1\\";
    for (auto member : {&record::request_id, &record::listener, &record::route, &record::client_ip, &record::method,
                        &record::scheme, &record::host, &record::path, &record::query, &record::protocol,
                        &record::etag_in, &record::etag_out, &record::user_agent, &record::referer, &record::upstream,
                        &record::endpoint, &record::store, &record::error}) {
        record r = revalidation();
        r.*member = forged;
        for (const auto format : {access_format::json, access_format::combined, access_format::rack_cache}) {
            const std::string text = line(r, {.format = format});
            EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
            EXPECT_TRUE(text.ends_with('\n'));
            EXPECT_TRUE(std::ranges::all_of(text.substr(0, text.size() - 1), [](char c) {
                return c >= 0x20 && c < 0x7f;
            })) << text;
            EXPECT_EQ(text.find("\"status\":\"1"), std::string::npos) << text;
            EXPECT_EQ(text.find("\"status\":200"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace etagere::observe
