// What holds whatever comes: random requests and responses from a fixed seed.
#include "etagere/cache/key.hpp"

#include "unit/cache/random.hpp"

#include <algorithm>
#include <set>

namespace etagere::cache::test {
namespace {

constexpr int rounds = 3000;

TEST(Properties, AgeIsNeverNegativeAndNeverShrinks) {
    random_source random;
    for (int i = 0; i < rounds; ++i) {
        const stored_response r = make_stored(make_request(), make_response(random_response(random)), policy{},
                                              random_time(random), random_time(random));
        const wall_time now = random_time(random);
        ASSERT_GE(current_age(r, now), 0s);
        ASSERT_GE(current_age(r, now + 5s), current_age(r, now));
        ASSERT_GE(current_age(r, r.response_time), r.age_value);
        ASSERT_GE(freshness_lifetime(r, random_policy(random)), 0s);
    }
}

TEST(Properties, NoStoreWinsOverEverything) {
    random_source random;
    for (int i = 0; i < rounds; ++i) {
        field_list list = random_response(random);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size() + 1)),
                    {"Cache-Control", "no-store"});
        const auto response = make_response(list, random.one_of(status_pool));
        // RFC 9111 §5.2.2.3: the one directive that may lift it
        if (parse_response_directives(response.header).must_understand) continue;
        const storability s =
            judge_storability(make_request(random_request(random)), response, random_policy(random), t0);
        ASSERT_FALSE(s.store);
        ASSERT_EQ(s.why, reason::nostore_no_store);
    }
}

// A shared cache never keeps for everybody what belongs to one.
TEST(Properties, WhatIsPrivateOrAuthorizedIsKeptForOneUserAndAlwaysValidated) {
    random_source random;
    int kept = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto request = make_request(random_request(random));
        const auto response = make_response(random_response(random), random.one_of(status_pool));
        const policy rules = random_policy(random);
        const storability s = judge_storability(request, response, rules, t0);
        ASSERT_EQ(s.store, s.why == reason::none);
        if (!s.store || !rules.shared) continue;
        ++kept;
        const auto d = parse_response_directives(response.header);
        if (d.private_) ASSERT_TRUE(s.always_validate && !s.shareable && !rules.per_credential.empty());
        if (response.header.has(http::field_id::set_cookie)) ASSERT_TRUE(d.public_);
        ASSERT_NE(response.header.get(http::field_id::vary), "*");
        ASSERT_NE(response.status, 206);
        ASSERT_NE(response.status, 304);
    }
    EXPECT_GT(kept, rounds / 20);  // the cases are not all refused
}

TEST(Properties, WhatIsKeptIsOfUseAndServedOnlyAsLongAsItIsKept) {
    random_source random;
    int served = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto request = make_request(random_request(random));
        const auto response = make_response(random_response(random), random.one_of(status_pool));
        const policy rules = random_policy(random);
        const storability s = judge_storability(request, response, rules, t0);
        if (!s.store) continue;
        stored_response r = make_stored(request, response, rules, t0, t0);
        r.always_validate = s.always_validate;
        const wall_time until = keep_until(r, rules);
        ASSERT_GE(until, r.response_time);
        ASSERT_GE(until, r.response_time + std::max(0s, freshness_lifetime(r, rules) - current_age(r, t0)));
        const wall_time now = t0 + seconds(random.below(200));
        const reuse_decision d = decide_reuse(&r, false, make_request(), rules, now);
        if (d.what == reuse_action::serve || d.what == reuse_action::serve_revalidate) {
            ++served;
            ASSERT_LT(now, until);
            ASSERT_FALSE(r.always_validate);
            ASSERT_FALSE(r.directives.no_cache);
            ASSERT_EQ(d.what == reuse_action::serve, d.ttl > 0s);
        }
        if (d.what == reuse_action::serve_revalidate) ASSERT_FALSE(stale_forbidden(r, rules));
        if (d.what == reuse_action::validate) ASSERT_TRUE(r.status == 200 && r.has_validator());
        if (may_serve_on_error(r, rules, origin_failure::no_answer, now)) ASSERT_LT(now, until);
    }
    EXPECT_GT(served, rounds / 40);
}

// Names in order; the lines of one name stay in theirs (RFC 9110 §5.3: only that order has a meaning).
std::string dump(const http::fields& fields) {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const http::fields::entry f : fields) lines.emplace_back(f.name, f.value);
    std::ranges::stable_sort(lines, {}, &std::pair<std::string, std::string>::first);
    std::string out;
    for (const auto& [name, value] : lines) out.append(name).append(": ").append(value).append("\n");
    return out;
}

TEST(Properties, FreshenTwiceIsFreshenOnce) {
    random_source random;
    for (int i = 0; i < rounds; ++i) {
        const stored_response r = stored(random_response(random));
        const auto answer = make_response(random_response(random), 304);
        const stored_response once = freshen(r, answer, policy{}, t0 + 9s, t0 + 10s);
        const stored_response twice = freshen(once, answer, policy{}, t0 + 9s, t0 + 10s);
        ASSERT_EQ(dump(once.header), dump(twice.header));
        ASSERT_EQ(once.age_value, twice.age_value);
        ASSERT_EQ(once.etag(), r.etag().empty() ? answer.header.get(http::field_id::etag) : r.etag());
        ASSERT_TRUE(once.date.has_value());
        ASSERT_FALSE(once.header.has(http::field_id::set_cookie));
    }
}

// ---------------------------------------------------------------- keys

std::string random_text(random_source& random) {
    static const std::vector<std::string> pieces{"a", "b", "1", ":", "/", ",", "; ", "=", "h", ".", "10:", "%", "&"};
    std::string out;
    for (std::size_t n = random.below(4); n > 0; --n) out += random.one_of(pieces);
    return out;
}

// Texts built to look like each other's borders: equal keys only for equal parts.
TEST(Properties, DifferentPartsNeverMakeOneKey) {
    random_source random;
    const policy rules{.key_headers = {"X-A", "X-B"}, .key_cookies = {"c"}, .per_credential = {"Authorization"}};
    std::set<std::string> inputs;
    std::set<std::string> keys;
    for (int i = 0; i < 20000; ++i) {
        const std::string route = random_text(random);
        http::request_head request = make_request({}, "GET", "/" + random_text(random));
        request.host = random_text(random);
        request.port = static_cast<std::uint16_t>(random.below(12));
        std::string input;
        const auto part = [&](std::string_view text) {
            for (const char c : text) input.append(c == '|' || c == '\\' ? "\\" : "").push_back(c);
            input += '|';
        };
        part(route);
        part(request.host);
        part(std::to_string(request.port));
        part(request.target);
        for (const std::string name : {"X-A", "X-B", "Authorization"}) {
            for (std::size_t n = random.below(3); n > 0; --n) {
                const std::string value(http::fields{}.add(name, "") ? random_text(random) : "");
                ASSERT_TRUE(request.header.add(name, value));
                part("=" + value);
            }
            part("");
        }
        if (random.chance(50)) {
            const std::string value = random.chance(50) ? "x" : "x.1:y";
            ASSERT_TRUE(request.header.add("Cookie", "c=" + value));
            part("=" + value);
        }
        std::string key;
        make_key(key, route, request, rules, [](std::string_view value) { return std::string(value); });
        ASSERT_EQ(inputs.insert(input).second, keys.insert(key).second) << input << "\n" << key;
    }
}

// Rules never make one key of two queries that differ in what they keep.
TEST(Properties, SortingIsTheSameForEveryOrderOfDistinctNames) {
    random_source random;
    const query_rules rules{.sort = true, .ignore = {}};
    for (int i = 0; i < 500; ++i) {
        std::vector<std::string> parameters{"a=1", "b=2", "%63=3", "d", "=5", "e+e=6"};
        std::string sorted;
        for (int order = 0; order < 4; ++order) {
            for (std::size_t n = parameters.size(); n > 1; --n)
                std::swap(parameters[n - 1], parameters[random.below(n)]);
            std::string target = "/p";
            for (const std::string& p : parameters) target += (target == "/p" ? "?" : "&") + p;
            std::string out;
            append_key_target(out, target, rules);
            if (sorted.empty()) sorted = out;
            ASSERT_EQ(out, sorted) << target;
            std::string again;
            append_key_target(again, out, rules);
            ASSERT_EQ(again, out);
        }
    }
}

}  // namespace
}  // namespace etagere::cache::test
