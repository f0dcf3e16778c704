// F7: Cache-Control. The input: lines, each ended by NUL; they are taken for a response's and for a request's.
#include "etagere/cache/decisions.hpp"

#include "check.hpp"

using namespace etagere;
using namespace etagere::cache;

namespace {

constexpr std::int64_t most = std::int64_t{1} << 31;

void check_range(std::int64_t delta) {
    FUZZ_CHECK(delta == absent || (delta >= 0 && delta <= most));
}

// One more line never makes a delta larger, once there is one.
void check_less(std::int64_t before, std::int64_t after) {
    FUZZ_CHECK(before == absent || (after != absent && after <= before));
}

void check_response(const response_directives& d) {
    for (const std::int64_t v : {d.max_age, d.s_maxage, d.stale_while_revalidate, d.stale_if_error}) check_range(v);
}

void check_more_cautious(const response_directives& before, const response_directives& after) {
    check_less(before.max_age, after.max_age);
    check_less(before.s_maxage, after.s_maxage);
    check_less(before.stale_while_revalidate, after.stale_while_revalidate);
    check_less(before.stale_if_error, after.stale_if_error);
    FUZZ_CHECK(!before.no_store || after.no_store);
    FUZZ_CHECK(!before.no_cache || after.no_cache);
    FUZZ_CHECK(!before.private_ || after.private_);
    FUZZ_CHECK(!before.must_revalidate || after.must_revalidate);
    FUZZ_CHECK(!before.proxy_revalidate || after.proxy_revalidate);
    FUZZ_CHECK(!before.must_understand || after.must_understand);
}

void check_decisions(const http::response_head& response) {
    constexpr wall_time now{std::chrono::hours(24 * 20000)};
    const policy rules;
    const http::request_head request;
    const storability s = judge_storability(request, response, rules, now);
    FUZZ_CHECK(s.store == (s.why == reason::none));
    const stored_response r =
        make_stored(request, response, rules, now, now, [](std::string_view value) { return std::string(value); });
    FUZZ_CHECK(!r.directives.no_store || !s.store);
    FUZZ_CHECK(!r.directives.private_ || !s.store);
    const seconds lifetime = freshness_lifetime(r, rules);
    FUZZ_CHECK(lifetime >= seconds(0) && lifetime <= seconds(most));
    FUZZ_CHECK(keep_until(r, rules) >= now);
    const reuse_decision d = decide_reuse(&r, false, request, rules, now + std::chrono::minutes(1));
    FUZZ_CHECK(d.what != reuse_action::serve ||
               (d.ttl > seconds(0) && !r.directives.no_cache && !r.directives.no_store));
    FUZZ_CHECK(d.what != reuse_action::serve_revalidate || !stale_forbidden(r, rules));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    http::response_head response;
    http::fields& lines = response.header;
    lines.append(http::field_id::etag, "\"a\"");
    response_directives before = parse_response_directives(lines);
    while (!in.rest.empty()) {
        if (!lines.add("Cache-Control", in.text())) continue;
        const response_directives after = parse_response_directives(lines);
        FUZZ_CHECK(after.seen);
        check_response(after);
        check_more_cautious(before, after);
        before = after;
        const request_directives asked = parse_request_directives(lines);
        check_range(asked.max_age);
        check_range(asked.min_fresh);
        FUZZ_CHECK(asked.max_stale >= absent);
    }
    check_decisions(response);
    lines.append(http::field_id::cache_control, "no-store");
    FUZZ_CHECK(!judge_storability(http::request_head{}, response, policy{}, wall_time{}).store);
    return 0;
}
