// explain() says what is done, and why.
#include "etagere/cache/explain.hpp"

#include "etagere/cache/key.hpp"

#include "unit/cache/random.hpp"

#include <set>

#include <gmock/gmock.h>

namespace etagere::cache::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<event> events(const explanation& e) {
    std::vector<event> out;
    for (const outlook& o : e.then) out.push_back(o.when);
    return out;
}

reason reason_when(const explanation& e, event when) {
    for (const outlook& o : e.then) {
        if (o.when == when) return o.why;
    }
    return reason::none;
}

explanation explain_one(const field_list& response, seconds after, const field_list& request = {},
                        const policy& rules = {}) {
    const stored_response r = stored(response);
    const stored_response* const variants[] = {&r};
    return explain(make_request(request), rules, variants, {}, t0 + after, test_digest);
}

// ---------------------------------------------------------------- what is done

TEST(Explain, AFreshAnswerIsServed) {
    const explanation e = explain_one({{"Cache-Control", "max-age=60"}}, 10s);
    EXPECT_EQ(e.what, course::serve);
    EXPECT_EQ(e.why, reason::hit_fresh);
    EXPECT_EQ(e.status, 200);
    EXPECT_EQ(e.age, 10s);
    EXPECT_EQ(e.ttl, 50s);
    EXPECT_THAT(e.then, IsEmpty());
}

TEST(Explain, TheClientsConditionMakesA304OrA412OfIt) {
    const field_list fresh{{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}};
    const explanation same = explain_one(fresh, 1s, {{"If-None-Match", "\"a\""}});
    EXPECT_EQ(same.why, reason::hit_not_modified);
    EXPECT_EQ(same.status, 304);
    const explanation other = explain_one(fresh, 1s, {{"If-Match", "\"b\""}});
    EXPECT_EQ(other.why, reason::hit_precondition_failed);
    EXPECT_EQ(other.status, 412);
}

TEST(Explain, AStaleAnswerIsValidatedWithAnOfferOfTags) {
    const std::string changed = date(t0 - 1h);
    const explanation e = explain_one(
        {{"Cache-Control", "max-age=60, stale-if-error=100"}, {"ETag", "\"a\""}, {"Last-Modified", changed}}, 61s,
        {{"If-None-Match", "\"mine\""}});
    EXPECT_EQ(e.what, course::validate);
    EXPECT_EQ(e.why, reason::revalidated);
    EXPECT_TRUE(e.asks_in_full);
    EXPECT_EQ(e.conditions.get(http::field_id::if_none_match), "\"a\", \"mine\"");
    EXPECT_FALSE(e.conditions.has(http::field_id::if_modified_since));
    EXPECT_THAT(events(e), ElementsAre(event::not_modified, event::kept, event::error_status, event::no_answer));
    EXPECT_EQ(reason_when(e, event::kept), reason::revalidated_changed);
    EXPECT_EQ(reason_when(e, event::no_answer), reason::hit_stale_error);
}

TEST(Explain, NothingStoredIsFetchedInFull) {
    const explanation e = explain(make_request({{"If-None-Match", "\"mine\""}}), {}, {}, {}, t0, test_digest);
    EXPECT_EQ(e.what, course::fetch);
    EXPECT_EQ(e.why, reason::miss_cold);
    EXPECT_TRUE(e.asks_in_full);
    EXPECT_TRUE(e.conditions.empty()) << "the next client gains from a whole answer";
    EXPECT_EQ(reason_when(e, event::no_answer), reason::failed);
}

TEST(Explain, WhatWasNotKeptIsRememberedWithItsReason) {
    const key_knowledge known{.not_kept = reason::nostore_private, .remembered_for = 9s};
    const explanation e = explain(make_request({{"If-None-Match", "\"mine\""}}), {}, {}, known, t0, test_digest);
    EXPECT_EQ(reason_when(e, event::not_kept), reason::nostore_private);
    EXPECT_FALSE(e.asks_in_full) << "the client's own condition may save the origin a body";
    EXPECT_EQ(reason_when(e, event::client_not_modified), reason::nostore_hit_for_miss);
}

TEST(Explain, WhoComesDuringAFetchSharesIt) {
    const key_knowledge known{.in_flight = true};
    EXPECT_THAT(events(explain(make_request(), {}, {}, known, t0, test_digest)), Contains(event::leader_answered));
    policy alone;
    alone.collapse = false;
    EXPECT_THAT(events(explain(make_request(), alone, {}, known, t0, test_digest)),
                Not(Contains(event::leader_answered)));
}

TEST(Explain, OnlyIfCachedIsRefused) {
    const explanation e =
        explain(make_request({{"Cache-Control", "only-if-cached"}}), honours_clients(), {}, {}, t0, test_digest);
    EXPECT_EQ(e.what, course::refuse);
    EXPECT_EQ(e.why, reason::only_if_cached);
    EXPECT_EQ(e.status, 504);
}

TEST(Explain, WhatIsNotForTheCachePasses) {
    const explanation e = explain(make_request({}, "POST"), {}, {}, {}, t0, test_digest);
    EXPECT_EQ(e.klass, request_class::unsafe);
    EXPECT_EQ(e.what, course::pass);
    EXPECT_EQ(e.why, reason::pass_method);
    policy off;
    off.enabled = false;
    EXPECT_EQ(explain(make_request(), off, {}, {}, t0, test_digest).why, reason::pass_route_off);
}

// ---------------------------------------------------------------- it never disagrees with what is done

constexpr int rounds = 3000;

TEST(ExplainProperties, TheReasonIsThatOfTheDecision) {
    random_source random;
    std::set<reason> seen;
    for (int i = 0; i < rounds; ++i) {
        const policy rules = random_policy(random);
        std::vector<stored_response> kept;
        for (std::size_t n = random.below(4); n > 0; --n) {
            const field_list fields = random_response(random);
            kept.push_back(stored(fields, random.one_of(status_pool), random_request(random), rules));
            kept.back().always_validate = random.chance(20);
        }
        std::vector<const stored_response*> variants;
        for (const stored_response& r : kept) variants.push_back(&r);
        field_list fields = random_request(random);
        if (random.chance(30)) fields.emplace_back("If-None-Match", "\"a\"");
        if (random.chance(20)) fields.emplace_back("Cache-Control", "only-if-cached");
        const auto request = make_request(fields, random.chance(80) ? "GET" : random.chance(50) ? "HEAD" : "POST");
        const wall_time now = t0 + seconds(random.below(200));

        const explanation e = explain(request, rules, variants, {}, now, test_digest);
        seen.insert(e.why);
        const request_decision klass = classify(request, rules);
        if (klass.what != request_class::cacheable) {
            ASSERT_EQ(e.why, klass.why);
            continue;
        }
        const int at = select_variant(variants, request, rules);
        const stored_response* const chosen = at < 0 ? nullptr : variants[static_cast<std::size_t>(at)];
        const reuse_decision d = decide_reuse(chosen, !variants.empty(), request, rules, now);
        const bool from_store = d.what == reuse_action::serve || d.what == reuse_action::serve_revalidate;
        const reason done = !from_store
                                ? d.why
                                : served_as(d.why, evaluate_preconditions(request, chosen->status, chosen->etag(),
                                                                          chosen->last_modified, rules, now,
                                                                          hints_of(*chosen, request, rules, variants)));
        ASSERT_EQ(e.why, done);
        ASSERT_EQ(e.at, at);
        ASSERT_EQ(e.what == course::validate, d.what == reuse_action::validate);
        ASSERT_EQ(e.then.empty(), from_store || d.what == reuse_action::refuse);
        http::fields upstream = request.header;
        if (e.what == course::validate) {
            write_offer(upstream, make_offer(chosen, variants, &request, rules, test_digest));
            ASSERT_EQ(e.conditions.get(http::field_id::if_none_match), upstream.get(http::field_id::if_none_match));
        }
    }
    EXPECT_GE(seen.size(), 8U) << "the cases are many enough to mean something";
}

TEST(ExplainProperties, PhasesSayWhatIsDecidedAtEachSecond) {
    random_source random;
    int turns = 0;
    for (int i = 0; i < rounds / 3; ++i) {
        const policy rules = random_policy(random);
        const auto request = make_request(random_request(random));
        const fate f = foretell(request, make_response(random_response(random), random.one_of(status_pool)), rules, t0,
                                test_digest);
        ASSERT_EQ(f.may.store, f.kept.has_value());
        if (!f.kept) {
            ASSERT_NE(f.may.why, reason::none);
            continue;
        }
        ASSERT_GE(f.phases.size(), 1U);
        const seconds end = f.phases.back().after;
        std::size_t at = 0;
        for (seconds after = 0s; after < std::min<seconds>(end, 300s); ++after) {
            while (at + 1 < f.phases.size() && f.phases[at + 1].after <= after) ++at;
            const reuse_decision d = decide_reuse(&*f.kept, true, request, rules, t0 + after);
            ASSERT_EQ(f.phases[at].what, d.what) << "after " << after.count() << " s";
            ASSERT_EQ(f.phases[at].why, d.why);
        }
        turns += f.phases.size() > 2 ? 1 : 0;
        ASSERT_LT(keep_until(*f.kept, rules), t0 + end) << "forgotten only when the store may forget it";
    }
    EXPECT_GT(turns, 20);
}

// ---------------------------------------------------------------- lifetimes

struct source_case {
    std::string name;
    field_list fields;
    lifetime_source from;
    seconds value;
    std::string words;
};
class LifetimeSource : public ::testing::TestWithParam<source_case> {};

TEST_P(LifetimeSource, IsNamed) {
    policy rules;
    rules.heuristic_freshness = true;
    rules.negative = {{404, 10s}};
    rules.max_lifetime = 3600s;
    const stored_response r = stored(GetParam().fields, GetParam().from == lifetime_source::route_negative ? 404 : 200);
    const lifetime found = find_lifetime(r, rules);
    EXPECT_EQ(found.from, GetParam().from);
    EXPECT_EQ(found.value, GetParam().value);
    EXPECT_EQ(found.value, freshness_lifetime(r, rules));
    EXPECT_THAT(words(found, r), HasSubstr(GetParam().words));
}
INSTANTIATE_TEST_SUITE_P(
    Examples, LifetimeSource,
    ::testing::Values(
        source_case{"SMaxage", {{"Cache-Control", "s-maxage=5, max-age=9"}}, lifetime_source::s_maxage, 5s, "s-maxage"},
        source_case{"Targeted",
                    {{"Cache-Control", "max-age=9"}, {"CDN-Cache-Control", "max-age=7"}},
                    lifetime_source::max_age,
                    7s,
                    "max-age of CDN-Cache-Control"},
        source_case{"MaxAge", {{"Cache-Control", "max-age=9"}}, lifetime_source::max_age, 9s, "max-age of"},
        source_case{"Capped", {{"Cache-Control", "max-age=7200"}}, lifetime_source::max_age, 3600s, "lifetime.max"},
        source_case{
            "Expires", {{"Date", date(t0)}, {"Expires", date(t0 + 5s)}}, lifetime_source::expires, 5s, "Expires"},
        source_case{"NoDate", {{"Expires", "0"}}, lifetime_source::expires_invalid, 0s, "no date"},
        source_case{"Negative", {}, lifetime_source::route_negative, 10s, "for status 404"},
        source_case{"Heuristic", {{"Last-Modified", date(t0 - 1000s)}}, lifetime_source::heuristic, 100s, "a tenth"},
        source_case{"None", {{"ETag", "\"a\""}}, lifetime_source::none, 0s, "nobody"}),
    case_name<source_case>);

TEST(LifetimeSourceOfRoutes, DefaultAndOverride) {
    policy rules;
    rules.has_default_lifetime = true;
    rules.default_lifetime = 30s;
    EXPECT_EQ(find_lifetime(stored({}), rules).from, lifetime_source::route_default);
    rules.override_lifetime = true;
    EXPECT_EQ(find_lifetime(stored({{"Cache-Control", "max-age=5"}}), rules).from, lifetime_source::route_override);
}

// ---------------------------------------------------------------- keys and words

TEST(ReadKey, IsMakeKeyBackwards) {
    policy rules;
    rules.key_headers = {"X-Tenant", "X-None"};
    rules.key_cookies = {"locale"};
    rules.per_credential = {"Authorization"};
    const auto request = make_request(
        {{"X-Tenant", "a:1."}, {"X-Tenant", ""}, {"Cookie", "locale=de"}, {"Authorization", "s"}}, "GET", "/r?5:x=h");
    std::string key;
    make_key(key, "all:1", request, rules, [](std::string_view v) { return "digest of " + std::string(v); });
    const auto parts = read_key(key);
    ASSERT_TRUE(parts);
    std::vector<std::string> told;
    for (const key_part& p : *parts) {
        std::string line = p.what + " " + p.name;
        for (const std::string& v : p.values) line += "|" + v;
        told.push_back(line);
    }
    EXPECT_THAT(told, ElementsAre("schema |1", "route |all:1", "scheme |http", "authority |api.test:80",
                                  "target |/r?5:x=h", "field X-Tenant|a:1.|", "field X-None", "cookie locale|de",
                                  "credential Authorization|digest of s"));
    for (std::size_t n = 0; n < key.size(); ++n) {  // cut anywhere: fewer parts or none, never others
        const auto cut = read_key(std::string_view(key).substr(0, n));
        if (cut) EXPECT_LT(cut->size(), parts->size());
    }
    EXPECT_FALSE(read_key("x"));
    EXPECT_FALSE(read_key("99:x"));
    EXPECT_FALSE(read_key("18446744073709551615:x"));
    EXPECT_FALSE(read_key(key + "q"));
}

TEST(PolicyWords, SayWhatTheRouteDoes) {
    const auto text_of = [](const policy& p, std::string_view name) {
        for (const rule& r : describe(p)) {
            if (r.name == name) return r.text;
        }
        return std::string("(none)");
    };
    policy p;
    p.has_default_lifetime = true;
    p.default_lifetime = 90s;
    p.max_lifetime = 3600s;
    p.stale_if_error = 600s;
    p.query.ignore = {"utm_*"};
    EXPECT_THAT(text_of(p, "lifetime"), HasSubstr("1m30s where it is silent; never more than 1h"));
    EXPECT_THAT(text_of(p, "stale"), HasSubstr("10m instead of an error"));
    EXPECT_THAT(text_of(p, "key"), HasSubstr("without utm_*"));
    EXPECT_EQ(text_of(p, "private"), "not kept");
    EXPECT_THAT(text_of(keeps_private(), "private"), HasSubstr("Authorization, Cookie"));
    EXPECT_THAT(text_of(honours_clients(), "client_directives"), HasSubstr("honoured"));
    p.enabled = false;
    EXPECT_EQ(describe(p).size(), 1U);
}

TEST(PolicyWords, Durations) {
    EXPECT_EQ(duration_text(0s), "0s");
    EXPECT_EQ(duration_text(90s), "1m30s");
    EXPECT_EQ(duration_text(24h), "1d");
    EXPECT_EQ(duration_text(1500ms), "1s500ms");
    EXPECT_EQ(duration_text(-61s), "-1m1s");
}

TEST(SecretNames, AreCredentialsAndWhatIsNamedLikeThem) {
    for (const auto* const name : {"Authorization", "authorization", "Proxy-Authorization", "Cookie", "Set-Cookie",
                                   "X-Api-Key", "X-CSRF-Token", "X-Auth", "X-Session-Id"}) {
        EXPECT_TRUE(is_secret_name(name)) << name;
    }
    for (const auto* const name : {"Accept", "Accept-Encoding", "X-Tenant", "If-None-Match", ""}) {
        EXPECT_FALSE(is_secret_name(name)) << name;
    }
}

}  // namespace
}  // namespace etagere::cache::test
