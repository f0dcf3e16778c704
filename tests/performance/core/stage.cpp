#include "stage.hpp"

#include "etagere/app/config.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/h1/parser.hpp"

#include "app/assemble.hpp"
#include "exchange/keep.hpp"

#include <cstdio>

namespace etagere::bench {
namespace {

constexpr std::string_view config = R"(
version: 1
listeners:
  ingress: { address: "127.0.0.1:8080" }
upstreams:
  app: { endpoints: ["http://127.0.0.1:3000"] }
routes:
  - { name: all, match: { path: "/**" }, upstream: app }
  - { name: coded, match: { path: "/coded/**" }, upstream: app, compress: { algorithms: [gzip], above: 100B } }
  - name: rules
    match: { path: "/rules/**" }
    upstream: app
    cache: { key: { query: { sort: true, ignore: ["utm_*"] } } }
)";

[[noreturn]] void give_up(std::string_view why) {
    std::fprintf(stderr, "bench_core: %.*s\n", static_cast<int>(why.size()), why.data());
    std::abort();
}

std::shared_ptr<const exchange::runtime> make_runtime(observe::metrics& metrics) {
    app::config_result read = app::parse_config(
        config, "bench", [](const std::string&) { return std::nullopt; },
        [](const std::string&) { return std::unexpected(std::string("no files")); });
    if (!read.ok()) give_up(app::format_problems(read.problems, app::problem_format::text));
    auto made = app::assemble(std::move(read.value), nullptr, metrics);
    if (!made) give_up(made.error());
    return *made;
}

http::request_head parsed(const std::string& request) {
    http::request_head head;
    const auto taken = http::h1::parse_request(request, {}, "http", head);
    if (!taken || *taken != request.size()) give_up("a request that is none");
    return head;
}

}  // namespace

stage::stage()
    : metrics_(1, {"bench", "bench"}),
      counters_(metrics_.of(0)),
      access_(writer_, 1, {}, *observe::log_output::open("/dev/null")),
      state_(on_, make_runtime(metrics_), collapse_, *this),
      proxy_(state_, exchange::role::ingress) {}

stage::~stage() = default;

void stage::observe(const observe::record& r) {
    ++observed_;
    counters_.in_flight(r.listener_index, -1);
    counters_.observe(r);
    access_.write(0, r);
}

std::string stage::key_of(const std::string& request) {
    const http::request_head head = parsed(request);
    const routing::route* const route = state_.current()->routes.ingress.match(head);
    std::string key;
    cache::make_key(key, route->name, head, route->policy, crypto::sha256_hex);
    return key;
}

store::object_ptr stage::keep(const std::string& request, std::string_view fields, std::string body) {
    const http::request_head head = parsed(request);
    const exchange::runtime& running = *state_.current();
    const routing::route* const route = running.routes.ingress.match(head);
    http::response_head answer;
    const std::string text =
        "HTTP/1.1 200 OK\r\n" + std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    if (!http::h1::parse_response(text, {}, head.verb, answer)) give_up("an answer that is none");
    const moment now = on_.now();
    exchange::answer_to_keep what;
    what.request = &head;
    what.head = &answer;
    what.body = store::share(body);
    what.asked = now;
    what.received = now.wall;
    what.known = store().purges().mark();
    auto kept = exchange::keep(state_, running, *route, key_of(request), std::move(what));
    if (!kept) give_up("the answer was not kept");
    return kept;
}

}  // namespace etagere::bench
