// RFC 9111 §4.2: how old a response is, and how long it is fresh.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

// ---------------------------------------------------------------- §4.2.3, with the names of the RFC

struct age_case {
    std::string name;
    seconds age_value;        // Age field
    milliseconds date_value;  // Date, from the moment of the response; may be in its future
    milliseconds response_delay;
    milliseconds resident_time;
    seconds current_age;
};
class CurrentAge : public ::testing::TestWithParam<age_case> {};

TEST_P(CurrentAge, IsThatOfTheRfc) {
    const age_case& c = GetParam();
    field_list list{{"Date", date(t0 + c.date_value)}};
    if (c.age_value > 0s) list.emplace_back("Age", std::to_string(c.age_value.count()));
    const stored_response r = make_stored(make_request(), make_response(list), policy{}, t0 - c.response_delay, t0);
    EXPECT_EQ(current_age(r, t0 + c.resident_time), c.current_age);
}

INSTANTIATE_TEST_SUITE_P(Examples, CurrentAge,
                         ::testing::Values(age_case{"New", 0s, 0ms, 0ms, 0ms, 0s},
                                           age_case{"Resident", 0s, 0ms, 0ms, 5s, 5s},
                                           age_case{"AgeValueAdds", 30s, 0ms, 0ms, 3s, 33s},
                                           age_case{"ApparentAge", 0s, -10s, 0ms, 5s, 15s},
                                           age_case{"DateInTheFutureCountsAsZero", 0s, 30s, 0ms, 5s, 5s},
                                           age_case{"AgeValueBeatsApparentAge", 60s, -10s, 2s, 0ms, 62s},
                                           age_case{"ApparentAgeBeatsAgeValue", 5s, -60s, 2s, 0ms, 60s},
                                           age_case{"DelayCounts", 0s, 0ms, 1500ms, 2s, 3s},
                                           age_case{"RoundsDown", 0s, 0ms, 0ms, 3999ms, 3s},
                                           age_case{"ThreeAfterThree", 0s, 0ms, 5ms, 3s, 3s},
                                           age_case{"ClockSetBackAfterTheAnswer", 0s, 0ms, 0ms, -1h, 0s},
                                           age_case{"ClockSetBackDuringTheRequest", 7s, 0ms, -1h, 0ms, 7s},
                                           age_case{"AgeOf2To31", 2147483648s, 0ms, 0ms, 10s, 2147483658s}),
                         case_name<age_case>);

// Date says whole seconds: an answer of 12:00:00.9 that says 12:00:00 is not 0.9 s old, and max-age=1 holds for a
// second.
TEST(CurrentAgeFractions, AFractionOfASecondInTheClockMakesNothingOlder) {
    const wall_time late = t0 + 900ms;
    const stored_response r = make_stored(make_request(), make_response({{"Date", date(t0)}}), policy{}, late, late);
    EXPECT_EQ(current_age(r, late + 999ms), 0s);
    EXPECT_EQ(current_age(r, late + 3s), 3s);
}

TEST(CurrentAgeFractions, WithoutDateItCountsFromTheResponse) {
    const stored_response r = make_stored(make_request(), make_response({}), policy{}, t0, t0 + 100ms);
    EXPECT_EQ(current_age(r, t0 + 3100ms), 3s);
}

struct age_field_case {
    std::string name;
    std::vector<std::string> lines;
    seconds age;
};
class AgeField : public ::testing::TestWithParam<age_field_case> {};

TEST_P(AgeField, FirstMemberOfTheFirstLine) {
    field_list list;
    for (const std::string& line : GetParam().lines) list.emplace_back("Age", line);
    EXPECT_EQ(stored(list).age_value, GetParam().age);
}

// RFC 9111 §5.1
INSTANTIATE_TEST_SUITE_P(
    Examples, AgeField,
    ::testing::Values(age_field_case{"Plain", {"7200"}, 7200s}, age_field_case{"Nonnumeric", {"abc"}, 0s},
                      age_field_case{"Negative", {"-7200"}, 0s}, age_field_case{"Float", {"7200.0"}, 0s},
                      age_field_case{"Parameter", {"7200;x=1"}, 0s}, age_field_case{"Suffix", {"7200,0"}, 7200s},
                      age_field_case{"SecondLine", {"7200", "0"}, 7200s}, age_field_case{"Prefix", {"0,7200"}, 0s},
                      age_field_case{"PrefixLine", {"0", "7200"}, 0s}, age_field_case{"Empty", {""}, 0s},
                      age_field_case{"Huge", {"99999999999999"}, 2147483648s}),
    case_name<age_field_case>);

// ---------------------------------------------------------------- §4.2.1

struct lifetime_case {
    std::string name;
    field_list fields;
    seconds shared;
    seconds private_;
};
class FreshnessLifetime : public ::testing::TestWithParam<lifetime_case> {};

TEST_P(FreshnessLifetime, ByWhatTheOriginSays) {
    const stored_response r = stored(GetParam().fields);
    EXPECT_EQ(freshness_lifetime(r, policy{}), GetParam().shared);
    EXPECT_EQ(freshness_lifetime(r, private_cache()), GetParam().private_);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, FreshnessLifetime,
    ::testing::Values(
        lifetime_case{"Nothing", {}, 0s, 0s}, lifetime_case{"MaxAge", {{"Cache-Control", "max-age=60"}}, 60s, 60s},
        lifetime_case{"SMaxageIsForSharedCaches", {{"Cache-Control", "max-age=60, s-maxage=10"}}, 10s, 60s},
        lifetime_case{"SMaxageAlone", {{"Cache-Control", "s-maxage=10"}}, 10s, 0s},
        lifetime_case{"Expires", {{"Date", date(t0)}, {"Expires", date(t0 + 90s)}}, 90s, 90s},
        lifetime_case{"ExpiresAgainstASkewedDate", {{"Date", date(t0 + 2h)}, {"Expires", date(t0 + 3h)}}, 3600s, 3600s},
        lifetime_case{"ExpiresWithoutDate", {{"Expires", date(t0 + 90s)}}, 90s, 90s},
        lifetime_case{"ExpiresInThePast", {{"Date", date(t0)}, {"Expires", date(t0 - 90s)}}, 0s, 0s},
        lifetime_case{"ExpiresZero", {{"Expires", "0"}}, 0s, 0s},
        lifetime_case{"ExpiresMinusOne", {{"Expires", "-1"}}, 0s, 0s},
        lifetime_case{"ExpiresJunk", {{"Expires", "Thu, 18 Aug 2050 02:01:18 UTC"}}, 0s, 0s},
        lifetime_case{"ExpiresTwice", {{"Expires", date(t0 + 90s)}, {"Expires", date(t0 + 90s)}}, 0s, 0s},
        lifetime_case{"ExpiresFarAway",
                      {{"Date", date(t0)}, {"Expires", "Sun, 21 Nov 2286 04:46:39 GMT"}},
                      8203999599s,
                      8203999599s},
        lifetime_case{"MaxAgeBeatsExpires", {{"Cache-Control", "max-age=5"}, {"Expires", date(t0 + 90s)}}, 5s, 5s},
        lifetime_case{"ZeroMaxAgeBeatsExpires", {{"Cache-Control", "max-age=0"}, {"Expires", date(t0 + 90s)}}, 0s, 0s},
        lifetime_case{"MaxAgeBeatsInvalidExpires", {{"Cache-Control", "max-age=5"}, {"Expires", "0"}}, 5s, 5s},
        lifetime_case{"PublicIsNoLifetime", {{"Cache-Control", "public"}, {"ETag", "\"a\""}}, 0s, 0s},
        lifetime_case{"NoHeuristicsByDefault", {{"Last-Modified", date(t0 - 1000h)}}, 0s, 0s}),
    case_name<lifetime_case>);

// B58, S206
TEST(FreshnessWithAge, ExpiresAndAgeAndAFastDate) {
    const stored_response r = stored({{"Date", date(t0 + 2h)}, {"Expires", date(t0 + 3h)}, {"Age", "3700"}});
    EXPECT_GE(current_age(r, t0), freshness_lifetime(r, policy{}));
}

// ---------------------------------------------------------------- the route's word

TEST(RouteLifetime, DefaultCountsWhereTheOriginIsSilent) {
    policy rules;
    rules.has_default_lifetime = true;
    rules.default_lifetime = 30s;
    EXPECT_EQ(freshness_lifetime(stored({}), rules), 30s);
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "public"}}), rules), 30s);
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=5"}}), rules), 5s);
    EXPECT_EQ(freshness_lifetime(stored({{"Expires", "0"}}), rules), 0s);
    EXPECT_EQ(freshness_lifetime(stored({}, 404), rules), 0s);
    EXPECT_EQ(freshness_lifetime(stored({}, 302), rules), 0s);
}

TEST(RouteLifetime, OverrideBeatsTheOrigin) {
    policy rules;
    rules.override_lifetime = rules.has_default_lifetime = true;
    rules.default_lifetime = 30s;
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=5, s-maxage=6"}}), rules), 30s);
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=5"}}, 500), rules), 5s);
}

TEST(RouteLifetime, CapHoldsForEverything) {
    policy rules;
    rules.max_lifetime = 10s;
    rules.negative = {{404, 60s}};
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=3600"}}), rules), 10s);
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=5"}}), rules), 5s);
    EXPECT_EQ(freshness_lifetime(stored({}, 404), rules), 10s);
    rules.override_lifetime = true;
    rules.default_lifetime = 20s;
    EXPECT_EQ(freshness_lifetime(stored({}), rules), 10s);
}

TEST(RouteLifetime, NegativeIsByStatusAndOnlyWhereTheOriginIsSilent) {
    policy rules;
    rules.negative = {{404, 10s}, {410, 60s}};
    EXPECT_EQ(freshness_lifetime(stored({}, 404), rules), 10s);
    EXPECT_EQ(freshness_lifetime(stored({}, 410), rules), 60s);
    EXPECT_EQ(freshness_lifetime(stored({}, 403), rules), 0s);
    EXPECT_EQ(freshness_lifetime(stored({{"Cache-Control", "max-age=1"}}, 404), rules), 1s);
}

// §4.2.2
TEST(HeuristicFreshness, IsATenthOfTheTimeSinceTheChangeAndADayAtMost) {
    policy rules;
    rules.heuristic_freshness = true;
    const auto changed = [](milliseconds ago) {
        return field_list{{"Date", date(t0)}, {"Last-Modified", date(t0 - ago)}};
    };
    EXPECT_EQ(freshness_lifetime(stored(changed(1000s)), rules), 100s);
    EXPECT_EQ(freshness_lifetime(stored(changed(9000h)), rules), 24h);
    EXPECT_EQ(freshness_lifetime(stored(changed(-1000s)), rules), 0s);  // changed in the future
    EXPECT_EQ(freshness_lifetime(stored({}), rules), 0s);
    EXPECT_EQ(freshness_lifetime(stored(changed(1000s), 404), rules), 100s);
    EXPECT_EQ(freshness_lifetime(stored(changed(1000s), 302), rules), 0s);
    field_list explicitly = changed(1000s);
    explicitly.emplace_back("Cache-Control", "public");
    EXPECT_EQ(freshness_lifetime(stored(explicitly, 302), rules), 100s);
    explicitly.emplace_back("Cache-Control", "max-age=0");
    EXPECT_EQ(freshness_lifetime(stored(explicitly), rules), 0s);
}

// ---------------------------------------------------------------- §4.2.4, RFC 5861

struct stale_case {
    std::string name;
    std::string cache_control;
    bool shared;
    bool private_;
};
class StaleForbidden : public ::testing::TestWithParam<stale_case> {};

TEST_P(StaleForbidden, ByDirective) {
    const stored_response r = stored({{"Cache-Control", GetParam().cache_control}});
    EXPECT_EQ(stale_forbidden(r, policy{}), GetParam().shared);
    EXPECT_EQ(stale_forbidden(r, private_cache()), GetParam().private_);
}

INSTANTIATE_TEST_SUITE_P(Examples, StaleForbidden,
                         ::testing::Values(stale_case{"MaxAge", "max-age=1", false, false},
                                           stale_case{"MustRevalidate", "max-age=1, must-revalidate", true, true},
                                           stale_case{"ProxyRevalidate", "max-age=1, proxy-revalidate", true, false},
                                           stale_case{"SMaxage", "s-maxage=1", true, false},
                                           stale_case{"NoCache", "no-cache", true, true},
                                           stale_case{"StaleIfErrorChangesNothing",
                                                      "max-age=1, stale-if-error=9, must-revalidate", true, true}),
                         case_name<stale_case>);

TEST(StaleForbiddenByRoute, KeptOnTheConditionThatTheOriginIsAsked) {
    stored_response r = stored({{"Cache-Control", "private"}});
    r.always_validate = true;
    EXPECT_TRUE(stale_forbidden(r, keeps_private()));
}

struct error_case {
    std::string name;
    std::string cache_control;
    seconds route;
    milliseconds later;
    bool serve;
};
class ServeOnError : public ::testing::TestWithParam<error_case> {};

TEST_P(ServeOnError, WithinTheWindow) {
    policy rules;
    rules.stale_if_error = GetParam().route;
    const stored_response r = stored({{"Cache-Control", GetParam().cache_control}, {"ETag", "\"a\""}});
    EXPECT_EQ(may_serve_on_error(r, rules, origin_failure::error_status, t0 + GetParam().later), GetParam().serve);
}

// B61, S229
INSTANTIATE_TEST_SUITE_P(
    Examples, ServeOnError,
    ::testing::Values(error_case{"Fresh", "max-age=60", 0s, 5s, true},
                      error_case{"NoWindow", "max-age=1", 0s, 1s, false},
                      error_case{"Inside", "max-age=1, stale-if-error=3", 0s, 2s, true},
                      error_case{"LastMoment", "max-age=1, stale-if-error=3", 0s, 3999ms, true},
                      error_case{"Over", "max-age=1, stale-if-error=3", 0s, 4s, false},
                      error_case{"MustRevalidate", "max-age=1, stale-if-error=3, must-revalidate", 600s, 2s, false},
                      error_case{"ProxyRevalidate", "max-age=1, stale-if-error=3, proxy-revalidate", 600s, 2s, false},
                      error_case{"SMaxage", "s-maxage=1, stale-if-error=3", 600s, 2s, false},
                      error_case{"NoCache", "no-cache, stale-if-error=3", 600s, 2s, false},
                      error_case{"Route", "max-age=1", 600s, 300s, true},
                      error_case{"RouteForAnAnswerThatIsAskedEveryTime", "public", 600s, 300s, true},
                      error_case{"OriginsWordBeatsTheRoutes", "max-age=1, stale-if-error=3", 600s, 300s, false},
                      error_case{"OriginForbids", "max-age=1, stale-if-error=0", 600s, 2s, false}),
    case_name<error_case>);

// ---------------------------------------------------------------- how long it is worth its room

TEST(KeepUntil, LifetimeThenTheLongestOfWhatCanUseItStale) {
    policy rules;
    rules.validate_for = 1h;
    const auto until = [&](const field_list& list, int status = 200) {
        return keep_until(stored(list, status), rules) - t0;
    };
    EXPECT_EQ(until({{"Cache-Control", "max-age=60"}}), 60s);
    EXPECT_EQ(until({{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}}), 60s + 1h);
    EXPECT_EQ(until({{"Cache-Control", "max-age=60"}, {"Last-Modified", date(t0 - 5h)}}), 60s + 1h);
    EXPECT_EQ(until({{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}}, 404), 60s);  // no 304 speaks of a 404
    EXPECT_EQ(until({{"Cache-Control", "max-age=60, stale-if-error=7200"}, {"ETag", "\"a\""}}), 60s + 2h);
    EXPECT_EQ(until({{"Cache-Control", "max-age=60, stale-while-revalidate=30"}}), 90s);
    EXPECT_EQ(until({{"Cache-Control", "max-age=60, must-revalidate, stale-while-revalidate=30"}}), 60s);
    EXPECT_EQ(until({{"Cache-Control", "public"}, {"ETag", "\"a\""}}), 1h);
}

TEST(KeepUntil, TheAgeItCameWithIsTakenOffItsLifetimeButNotOffItsRevival) {
    policy rules;
    rules.validate_for = 1h;
    EXPECT_EQ(keep_until(stored({{"Cache-Control", "max-age=60"}, {"Age", "20"}}), rules) - t0, 40s);
    EXPECT_EQ(keep_until(stored({{"Cache-Control", "max-age=60"}, {"Age", "7200"}, {"ETag", "\"a\""}}), rules) - t0,
              1h);
}

TEST(KeepUntil, ATagOfOursRevivesNothing) {
    stored_response r = stored({{"Cache-Control", "max-age=60"}, {"ETag", "W/\"ours\""}});
    r.own_etag = true;
    EXPECT_EQ(keep_until(r, policy{}) - t0, 60s);
}

TEST(KeepUntil, WhatA304ForbadeToHaveGoesAtOnce) {
    EXPECT_EQ(keep_until(stored({{"Cache-Control", "no-store, max-age=60"}}), policy{}), t0);
    EXPECT_EQ(keep_until(stored({{"Cache-Control", "private, max-age=60"}}), policy{}), t0);
    EXPECT_EQ(keep_until(stored({{"Cache-Control", "private, max-age=60"}}), private_cache()), t0 + 60s);
}

}  // namespace
}  // namespace etagere::cache::test
