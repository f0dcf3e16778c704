// The parts of a hit that need no store: heads, keys, decisions, lines.
#include "etagere/cache/decisions.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/http/h1/serializer.hpp"
#include "etagere/observe/access_log.hpp"

#include "measure.hpp"
#include "requests.hpp"

#include <array>

namespace etagere::bench {
namespace {

using namespace std::chrono_literals;

constexpr wall_time noon = std::chrono::sys_days{std::chrono::November / 30 / 2026} + 12h;

http::request_head parsed(const std::string& text) {
    http::request_head out;
    const auto taken = http::h1::parse_request(text, {}, "http", out);
    if (!taken || *taken != text.size()) std::abort();
    return out;
}

cache::stored_response stored(const http::request_head& request,
                              std::initializer_list<std::pair<std::string_view, std::string_view>> fields,
                              const cache::policy& rules = {}) {
    http::response_head head;
    for (const auto& [name, value] : fields) (void)head.header.add(name, value);
    head.body = http::framing::of_length(1024);
    return cache::make_stored(request, head, rules, noon, noon, crypto::sha256_hex);
}

void parse(benchmark::State& state, std::string_view fields) {
    const std::string text = head("GET", "/api/products?page=2&per=100", fields);
    http::request_head out;
    measure(state, [&] { benchmark::DoNotOptimize(http::h1::parse_request(text, {}, "http", out)); });
}
BENCHMARK_CAPTURE(parse, curl, curl_fields);
BENCHMARK_CAPTURE(parse, browser, browser_fields);

void key(benchmark::State& state, const cache::policy& rules) {
    const auto request = parsed(head("GET", "/api/products?utm_source=x&page=2&a=1&per=100", browser_fields));
    std::string out;
    measure(state, [&] {
        cache::make_key(out, "products", request, rules, crypto::sha256_hex);
        benchmark::DoNotOptimize(out.data());
    });
}
BENCHMARK_CAPTURE(key, plain, cache::policy{});
BENCHMARK_CAPTURE(key, query_rules, [] {
    cache::policy rules;
    rules.query = {.sort = true, .ignore = {"utm_*"}};
    return rules;
}());

void reuse(benchmark::State& state) {
    const auto request = parsed(head("GET", "/api/products", browser_fields));
    const cache::policy rules;
    const auto response = stored(request, {{"Cache-Control", "max-age=600, public"}, {"ETag", "W/\"0123456789\""}});
    measure(state, [&] { benchmark::DoNotOptimize(cache::decide_reuse(&response, false, request, rules, noon + 5s)); });
}
BENCHMARK(reuse);

void precondition(benchmark::State& state) {
    const auto request = parsed(head("GET", "/api/products", browser_fields, "If-None-Match: W/\"0123456789\"\r\n"));
    const cache::policy rules;
    const auto response = stored(request, {{"Cache-Control", "max-age=600, public"}, {"ETag", "W/\"0123456789\""}});
    measure(state, [&] {
        benchmark::DoNotOptimize(cache::evaluate_preconditions(request, response.status, response.etag(),
                                                               response.last_modified, rules, noon + 5s));
    });
}
BENCHMARK(precondition);

/// The last of so many variants by Accept and Accept-Language.
void choose_variant(benchmark::State& state) {
    const auto request = parsed(head("GET", "/api/products", browser_fields));
    const cache::policy rules;
    std::vector<cache::stored_response> all;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        auto asked = request;
        if (i + 1 < state.range(0)) asked.header.set(http::field_id::accept, "text/x-" + std::to_string(i));
        all.push_back(stored(asked, {{"Vary", "Accept, Accept-Language"}, {"Cache-Control", "max-age=600"}}));
    }
    std::vector<const cache::stored_response*> variants;
    for (const auto& r : all) variants.push_back(&r);
    measure(state, [&] {
        const int at = cache::select_variant(variants, request, rules, crypto::sha256_hex);
        if (at + 1 != state.range(0)) std::abort();
    });
}
BENCHMARK(choose_variant)->Arg(1)->Arg(20);

void write_head(benchmark::State& state) {
    http::fields header;
    for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"Content-Type", "application/json; charset=utf-8"},
             {"ETag", "W/\"0123456789abcdef0123456789\""},
             {"Cache-Control", "max-age=600, public"},
             {"Date", "Mon, 30 Nov 2026 12:00:00 GMT"},
             {"Vary", "Accept"}}) {
        (void)header.add(name, value);
    }
    std::string out;
    measure(state, [&] {
        out.clear();
        http::h1::write_response_start(out, 200, "OK", header);
        http::h1::write_head_end(out, http::framing::of_length(1024), -1, http::version::http11, true);
        benchmark::DoNotOptimize(out.data());
    });
}
BENCHMARK(write_head);

void access_line(benchmark::State& state, observe::access_format format) {
    observe::record r;
    r.at = noon;
    r.listener = "ingress";
    r.route = "products";
    r.client_ip = "192.0.2.1";
    r.method = "GET";
    r.scheme = "http";
    r.host = "shop.test";
    r.path = "/api/products";
    r.query = "page=2&per=100";
    r.protocol = "HTTP/1.1";
    r.user_agent =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36";
    r.etag_out = "W/\"0123456789abcdef0123456789\"";
    r.store = "memory";
    r.status = 200;
    r.bytes_in = 700;
    r.bytes_out = 1400;
    r.entity_bytes = 1024;
    r.duration_us = r.ttfb_us = 12;
    r.why = reason::hit_fresh;
    r.age_s = 12;
    r.ttl_s = 588;
    r.has_ttl = true;
    std::string out;
    observe::line_memory memory;
    const observe::access_options options{.format = format};
    measure(state, [&] {
        out.clear();
        observe::append_access_line(out, r, options, memory);
        benchmark::DoNotOptimize(out.data());
    });
}
BENCHMARK_CAPTURE(access_line, json, observe::access_format::json);
BENCHMARK_CAPTURE(access_line, combined, observe::access_format::combined);
BENCHMARK_CAPTURE(access_line, rack_cache, observe::access_format::rack_cache);

}  // namespace
}  // namespace etagere::bench
