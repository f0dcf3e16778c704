// RFC 9111 §4, §5.2.1 and RFC 5861 §3: what a request gets from what is stored.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

// ---------------------------------------------------------------- before the store is asked

TEST(Classify, ByMethod) {
    const auto classified = [](std::string_view method) { return classify(make_request({}, method), policy{}); };
    for (const std::string_view method : {"GET", "HEAD"}) {
        EXPECT_EQ(classified(method).what, request_class::cacheable) << method;
        EXPECT_EQ(classified(method).why, reason::none);
    }
    for (const std::string_view method : {"OPTIONS", "TRACE"}) {
        EXPECT_EQ(classified(method).what, request_class::pass) << method;
        EXPECT_EQ(classified(method).why, reason::pass_method);
    }
    for (const std::string_view method : {"POST", "PUT", "PATCH", "DELETE", "M-SEARCH", "get"}) {
        EXPECT_EQ(classified(method).what, request_class::unsafe) << method;
        EXPECT_EQ(classified(method).why, reason::pass_method);
    }
}

TEST(Classify, AFatGetPasses) {  // S195
    http::request_head request = make_request();
    request.body = http::framing::of_length(1);
    EXPECT_EQ(classify(request, policy{}).why, reason::pass_request_body);
    request.body = http::framing::chunked();
    EXPECT_EQ(classify(request, policy{}).why, reason::pass_request_body);
    request.body = http::framing::of_length(0);
    EXPECT_EQ(classify(request, policy{}).what, request_class::cacheable);
}

TEST(Classify, ByRouteAndUpgrade) {
    http::request_head request = make_request();
    EXPECT_EQ(classify(request, policy{.enabled = false}).why, reason::pass_route_off);
    EXPECT_EQ(classify(request, policy{.stream = true}).why, reason::pass_stream);
    request.upgrade = "websocket";
    EXPECT_EQ(classify(request, policy{}).what, request_class::pass);
    EXPECT_EQ(classify(request, policy{}).why, reason::pass_upgrade);
    request.verb = http::method::post;
    EXPECT_EQ(classify(request, policy{}).what, request_class::unsafe);
    EXPECT_EQ(classify(request, policy{}).why, reason::pass_upgrade);
}

TEST(Classify, AnUnsafeRequestInvalidatesAlsoWhereTheRouteKeepsNothing) {
    EXPECT_EQ(classify(make_request({}, "POST"), policy{.enabled = false}).what, request_class::unsafe);
}

TEST(Classify, ClientsNoStoreWhereTheRouteHonoursIt) {
    const auto request = make_request({{"Cache-Control", "no-store"}});
    EXPECT_EQ(classify(request, honours_clients()).why, reason::pass_client_directive);
    EXPECT_EQ(classify(request, policy{}).what, request_class::cacheable);
}

// ---------------------------------------------------------------- with what is stored

struct reuse_case {
    std::string name;
    field_list response;
    milliseconds later;
    reuse_action what;
    reason why;
    std::string client{};  // Cache-Control of the request
    policy rules{};
    int status = 200;
};
class Reuse : public ::testing::TestWithParam<reuse_case> {};

TEST_P(Reuse, DecidesOneThingForOneReason) {
    const reuse_case& c = GetParam();
    const stored_response r = stored(c.response, c.status);
    const auto request = c.client.empty() ? make_request() : make_request({{"Cache-Control", c.client}});
    const reuse_decision d = decide_reuse(&r, false, request, c.rules, t0 + c.later);
    EXPECT_EQ(d.what, c.what);
    EXPECT_EQ(d.why, c.why);
    EXPECT_EQ(d.age, current_age(r, t0 + c.later));
    EXPECT_EQ(d.ttl, freshness_lifetime(r, c.rules) - d.age);
}

field_list with_tag(const std::string& cache_control) {
    return {{"Cache-Control", cache_control}, {"ETag", "\"a\""}};
}

using enum reuse_action;

INSTANTIATE_TEST_SUITE_P(
    Freshness, Reuse,
    ::testing::Values(
        reuse_case{"Fresh", with_tag("max-age=2"), 1999ms, serve, reason::hit_fresh},
        reuse_case{"StaleAtItsLifetime", with_tag("max-age=2"), 2s, validate, reason::revalidated},
        reuse_case{"StaleByDate",
                   {{"Cache-Control", "max-age=2"}, {"Last-Modified", date(t0 - 1h)}},
                   2s,
                   validate,
                   reason::revalidated},
        reuse_case{"StaleWithoutValidator", {{"Cache-Control", "max-age=2"}}, 2s, fetch, reason::revalidated_changed},
        reuse_case{"AskEveryTime", with_tag("public"), 0ms, validate, reason::revalidated},
        reuse_case{"NoCache", with_tag("no-cache, max-age=60"), 1s, validate, reason::revalidated},  // B29
        reuse_case{"NoCacheQualified", with_tag("no-cache=\"x\", max-age=60"), 1s, validate, reason::revalidated},
        reuse_case{"ArrivedStale",
                   {{"Cache-Control", "max-age=60"}, {"Age", "61"}, {"ETag", "\"a\""}},
                   0ms,
                   validate,
                   reason::revalidated},
        reuse_case{"FreshError", {{"Cache-Control", "max-age=60"}}, 1s, serve, reason::hit_fresh, "", {}, 404},
        // B05: a 304 would speak of a 200
        reuse_case{"StaleErrorIsFetched", with_tag("max-age=1"), 2s, fetch, reason::revalidated_changed, "", {}, 404},
        // a 304 may have brought these
        reuse_case{"NoStoreByNow", with_tag("no-store, max-age=60"), 1s, fetch, reason::revalidated_changed},
        reuse_case{"PrivateByNow", with_tag("private, max-age=60"), 1s, fetch, reason::revalidated_changed},
        reuse_case{"PrivateInAPrivateCache", with_tag("private, max-age=60"), 1s, serve, reason::hit_fresh, "",
                   private_cache()}),
    case_name<reuse_case>);

INSTANTIATE_TEST_SUITE_P(
    ClientDirectives, Reuse,
    ::testing::Values(
        reuse_case{"IgnoredByDefault", with_tag("max-age=60"), 1s, serve, reason::hit_fresh,
                   "no-cache, no-store, max-age=0, min-fresh=99, only-if-cached"},
        reuse_case{"NoCache", with_tag("max-age=60"), 1s, validate, reason::revalidated, "no-cache", honours_clients()},
        reuse_case{"NoStore", with_tag("max-age=60"), 1s, validate, reason::revalidated, "no-store", honours_clients()},
        reuse_case{"MaxAgeZeroOnANewOne", with_tag("max-age=60"), 0ms, validate, reason::revalidated, "max-age=0",
                   honours_clients()},
        reuse_case{"MaxAgeExceeded", with_tag("max-age=60"), 6s, validate, reason::revalidated, "max-age=5",
                   honours_clients()},
        reuse_case{"MaxAgeReached", with_tag("max-age=60"), 5s, serve, reason::hit_fresh, "max-age=5",
                   honours_clients()},
        reuse_case{"MinFreshMet", with_tag("max-age=60"), 10s, serve, reason::hit_fresh, "min-fresh=50",
                   honours_clients()},
        reuse_case{"MinFreshMissed", with_tag("max-age=60"), 11s, validate, reason::revalidated, "min-fresh=50",
                   honours_clients()},
        reuse_case{"MaxStale", with_tag("max-age=1"), 6s, serve_revalidate, reason::hit_stale_revalidating,
                   "max-stale=5", honours_clients()},
        reuse_case{"MaxStaleExceeded", with_tag("max-age=1"), 7s, validate, reason::revalidated, "max-stale=5",
                   honours_clients()},
        reuse_case{"MaxStaleForEver", with_tag("max-age=1"), 900h, serve_revalidate, reason::hit_stale_revalidating,
                   "max-stale", honours_clients()},
        // B01
        reuse_case{"MaxStaleIsForbidden", with_tag("max-age=1, must-revalidate"), 2s, validate, reason::revalidated,
                   "max-stale=6", honours_clients()},
        reuse_case{"MaxStaleAndSMaxage", with_tag("s-maxage=1"), 2s, validate, reason::revalidated, "max-stale=6",
                   honours_clients()},
        reuse_case{"MaxStaleDoesNotHelpAgainstMaxAge", with_tag("max-age=1"), 6s, validate, reason::revalidated,
                   "max-stale=99, max-age=3", honours_clients()},
        reuse_case{"OnlyIfCachedFresh", with_tag("max-age=60"), 1s, serve, reason::hit_fresh, "only-if-cached",
                   honours_clients()},
        reuse_case{"OnlyIfCachedStale", with_tag("max-age=1"), 2s, refuse, reason::only_if_cached, "only-if-cached",
                   honours_clients()}),
    case_name<reuse_case>);

policy with_stale_window(seconds window) {
    policy rules;
    rules.stale_while_revalidate = window;
    return rules;
}

INSTANTIATE_TEST_SUITE_P(
    StaleWhileRevalidate, Reuse,
    ::testing::Values(reuse_case{"Inside", with_tag("max-age=1, stale-while-revalidate=5"), 5999ms, serve_revalidate,
                                 reason::hit_stale_revalidating},
                      reuse_case{"Over", with_tag("max-age=1, stale-while-revalidate=5"), 6s, validate,
                                 reason::revalidated},
                      reuse_case{"Route", with_tag("max-age=1"), 5s, serve_revalidate, reason::hit_stale_revalidating,
                                 "", with_stale_window(10s)},
                      reuse_case{"OriginsWordBeatsTheRoutes", with_tag("max-age=1, stale-while-revalidate=0"), 5s,
                                 validate, reason::revalidated, "", with_stale_window(10s)},
                      reuse_case{"Forbidden", with_tag("max-age=1, must-revalidate, stale-while-revalidate=5"), 2s,
                                 validate, reason::revalidated, "", with_stale_window(10s)},
                      reuse_case{"SMaxageForbids", with_tag("s-maxage=1, stale-while-revalidate=5"), 2s, validate,
                                 reason::revalidated},
                      reuse_case{"ClientWantsToAsk", with_tag("max-age=1, stale-while-revalidate=5"), 2s, validate,
                                 reason::revalidated, "no-cache", honours_clients()},
                      // the route's window extends a lifetime, it makes none: public + ETag is asked every time
                      reuse_case{"AskEveryTimeStaysSo", with_tag("public"), 1s, validate, reason::revalidated, "",
                                 with_stale_window(10s)},
                      reuse_case{"OriginGrantsItWithoutALifetime", with_tag("max-age=0, stale-while-revalidate=5"), 1s,
                                 serve_revalidate, reason::hit_stale_revalidating},
                      reuse_case{"WithoutAValidatorToo",
                                 {{"Cache-Control", "max-age=1, stale-while-revalidate=5"}},
                                 2s,
                                 serve_revalidate,
                                 reason::hit_stale_revalidating}),
    case_name<reuse_case>);

TEST(ReuseOfNothing, ColdOrAnotherVariant) {
    const auto request = make_request();
    EXPECT_EQ(decide_reuse(nullptr, false, request, policy{}, t0).what, fetch);
    EXPECT_EQ(decide_reuse(nullptr, false, request, policy{}, t0).why, reason::miss_cold);
    EXPECT_EQ(decide_reuse(nullptr, true, request, policy{}, t0).why, reason::miss_vary);
}

TEST(ReuseOfNothing, OnlyIfCachedIsRefusedWhereHonoured) {
    const auto request = make_request({{"Cache-Control", "only-if-cached"}});
    EXPECT_EQ(decide_reuse(nullptr, false, request, honours_clients(), t0).what, refuse);
    EXPECT_EQ(decide_reuse(nullptr, false, request, honours_clients(), t0).why, reason::only_if_cached);
    EXPECT_EQ(decide_reuse(nullptr, false, request, policy{}, t0).what, fetch);
}

TEST(ReusePragma, CountsAsNoCacheWhereHonoured) {
    const stored_response r = stored(with_tag("max-age=60"));
    const auto request = make_request({{"Pragma", "no-cache"}});
    EXPECT_EQ(decide_reuse(&r, false, request, honours_clients(), t0).what, validate);
    EXPECT_EQ(decide_reuse(&r, false, request, policy{}, t0).what, serve);
}

TEST(ReuseAlwaysValidate, AsksHoweverFresh) {
    stored_response r = stored(with_tag("private, max-age=60"));
    r.always_validate = true;
    EXPECT_EQ(decide_reuse(&r, false, make_request(), keeps_private(), t0 + 1s).what, validate);
}

TEST(ReuseOwnTag, IsNoValidatorForTheOrigin) {
    stored_response r = stored(with_tag("max-age=1"));
    r.own_etag = true;
    EXPECT_EQ(decide_reuse(&r, false, make_request(), policy{}, t0 + 2s).what, fetch);
}

// other-cookie of the public suite: what was kept from a request without a cookie answers one with a cookie.
TEST(ReuseWithCookie, ARequestWithCredentialsIsAnsweredFromTheStore) {
    const stored_response r = stored(with_tag("max-age=60"));
    EXPECT_EQ(decide_reuse(&r, false, make_request({{"Cookie", "a=b"}}), policy{}, t0).what, serve);
}

}  // namespace
}  // namespace etagere::cache::test
