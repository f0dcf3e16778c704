// RFC 9111 §3: which answers are kept, and the one reason why not.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

struct keep_case {
    std::string name;
    int status;
    field_list response;
    reason why;  // none: kept
    field_list request{};
    policy rules{};
};
class Storability : public ::testing::TestWithParam<keep_case> {};

TEST_P(Storability, KeepsOrSaysWhyNot) {
    const keep_case& c = GetParam();
    const storability s = judge_storability(make_request(c.request), make_response(c.response, c.status), c.rules, t0);
    EXPECT_EQ(s.why, c.why);
    EXPECT_EQ(s.store, c.why == reason::none);
    EXPECT_FALSE(s.always_validate);
}

const field_list max_age{{"Cache-Control", "max-age=60"}};
const field_list etag_only{{"ETag", "\"a\""}};

INSTANTIATE_TEST_SUITE_P(
    LifetimeOrValidator, Storability,
    ::testing::Values(
        keep_case{"MaxAge", 200, max_age, reason::none},
        keep_case{"Expires", 200, {{"Expires", date(t0 + 60s)}}, reason::none},
        keep_case{"SMaxage", 200, {{"Cache-Control", "s-maxage=60"}}, reason::none},
        // the article's core: keep, and ask every time
        keep_case{"PublicAndTag", 200, {{"Cache-Control", "public"}, {"ETag", "\"a\""}}, reason::none},
        keep_case{"TagAlone", 200, etag_only, reason::none},
        keep_case{"DateAlone", 200, {{"Last-Modified", date(t0 - 1h)}}, reason::none},
        keep_case{"ExpiredButTagged", 200, {{"Expires", "0"}, {"ETag", "\"a\""}}, reason::none},
        keep_case{"NoCacheAndTag", 200, {{"Cache-Control", "no-cache"}, {"ETag", "\"a\""}}, reason::none},
        keep_case{"NoCacheQualified",
                  200,
                  {{"Cache-Control", "no-cache=\"x\", max-age=5"}},
                  reason::nostore_no_lifetime_no_validator},
        keep_case{"NoCacheWithoutTag",
                  200,
                  {{"Cache-Control", "no-cache, max-age=5"}},
                  reason::nostore_no_lifetime_no_validator},
        keep_case{"Silent", 200, {}, reason::nostore_no_lifetime_no_validator},
        keep_case{"ZeroAndNoTag", 200, {{"Cache-Control", "max-age=0"}}, reason::nostore_no_lifetime_no_validator},
        keep_case{"PublicAndNoTag", 200, {{"Cache-Control", "public"}}, reason::nostore_no_lifetime_no_validator},
        keep_case{
            "ZeroWithGrantedStale", 200, {{"Cache-Control", "max-age=0, stale-while-revalidate=5"}}, reason::none},
        keep_case{"ZeroWithGrantedError", 200, {{"Cache-Control", "max-age=0, stale-if-error=5"}}, reason::none},
        keep_case{"GrantedStaleIsForbiddenToo",
                  200,
                  {{"Cache-Control", "max-age=0, stale-if-error=5, must-revalidate"}},
                  reason::nostore_no_lifetime_no_validator}),
    case_name<keep_case>);

// S210, S204
INSTANTIATE_TEST_SUITE_P(
    NoStore, Storability,
    ::testing::Values(
        keep_case{"NoStore", 200, {{"Cache-Control", "no-store"}}, reason::nostore_no_store},
        keep_case{"NoStoreBeatsMaxAge",
                  200,
                  {{"Cache-Control", "public, max-age=60"}, {"Cache-Control", "No-Store"}},
                  reason::nostore_no_store},
        // RFC 9111 §5.2.2.3: no-store is for caches that do not know the status
        keep_case{
            "MustUnderstandLiftsIt", 200, {{"Cache-Control", "no-store, must-understand, max-age=60"}}, reason::none},
        keep_case{"MustUnderstandAndUnknown",
                  299,
                  {{"Cache-Control", "no-store, must-understand, max-age=60"}},
                  reason::nostore_status},
        keep_case{"ClientsNoStore",
                  200,
                  max_age,
                  reason::nostore_no_store,
                  {{"Cache-Control", "no-store"}},
                  honours_clients()},
        keep_case{"ClientsNoStoreIgnored", 200, max_age, reason::none, {{"Cache-Control", "no-store"}}},
        keep_case{"Private", 200, {{"Cache-Control", "private, max-age=60"}}, reason::nostore_private},
        keep_case{"PrivateQualified", 200, {{"Cache-Control", "private=\"x\", max-age=60"}}, reason::nostore_private},
        keep_case{
            "PrivateEmptyQualified", 200, {{"Cache-Control", "private=\"\", max-age=60"}}, reason::nostore_private},
        keep_case{
            "PrivateBeatsPublic", 200, {{"Cache-Control", "public, private, max-age=60"}}, reason::nostore_private},
        keep_case{"RailsDefault",
                  200,
                  {{"Cache-Control", "max-age=0, private, must-revalidate"}, {"ETag", "W/\"a\""}},
                  reason::nostore_private},
        keep_case{"PrivateInAPrivateCache",
                  200,
                  {{"Cache-Control", "private, max-age=60"}},
                  reason::none,
                  {},
                  private_cache()}),
    case_name<keep_case>);

// §3.5, S208
INSTANTIATE_TEST_SUITE_P(
    Authorization, Storability,
    ::testing::Values(
        keep_case{"MaxAge", 200, max_age, reason::nostore_authorization, {{"Authorization", "Bearer x"}}},
        keep_case{"Public", 200, {{"Cache-Control", "public, max-age=60"}}, reason::none, {{"Authorization", "x"}}},
        keep_case{"MustRevalidate",
                  200,
                  {{"Cache-Control", "must-revalidate, max-age=60"}},
                  reason::none,
                  {{"Authorization", "x"}}},
        keep_case{"SMaxage", 200, {{"Cache-Control", "s-maxage=60"}}, reason::none, {{"Authorization", "x"}}},
        keep_case{"ProxyRevalidateIsNotEnough",
                  200,
                  {{"Cache-Control", "proxy-revalidate, max-age=60"}},
                  reason::nostore_authorization,
                  {{"Authorization", "x"}}},
        keep_case{"PrivateCache", 200, max_age, reason::none, {{"Authorization", "x"}}, private_cache()},
        keep_case{"PrivateCacheWhoseKeyDoesNotHoldIt",
                  200,
                  max_age,
                  reason::nostore_authorization,
                  {{"Authorization", "x"}},
                  policy{.shared = false}},
        keep_case{"PrivateCacheKeyedByAField",
                  200,
                  max_age,
                  reason::none,
                  {{"Authorization", "x"}},
                  policy{.shared = false, .key_headers = {"authorization"}}}),
    case_name<keep_case>);

// §7.3, B51 (CVE-2012-2671), S209
INSTANTIATE_TEST_SUITE_P(
    Cookies, Storability,
    ::testing::Values(
        keep_case{"RequestWithMaxAge", 200, max_age, reason::nostore_cookie, {{"Cookie", "s=1"}}},
        keep_case{"RequestWithTag", 200, etag_only, reason::nostore_cookie, {{"Cookie", "s=1"}}},
        keep_case{"RequestAndPublic",
                  200,
                  {{"Cache-Control", "public"}, {"ETag", "\"a\""}},
                  reason::none,
                  {{"Cookie", "s=1"}}},
        keep_case{"RequestAndSMaxage", 200, {{"Cache-Control", "s-maxage=60"}}, reason::none, {{"Cookie", "s=1"}}},
        keep_case{"RequestAndVaryCookie",
                  200,
                  {{"Cache-Control", "max-age=60"}, {"Vary", "Accept, cookie"}},
                  reason::none,
                  {{"Cookie", "s=1"}}},
        keep_case{"RequestAndKeyHoldsIt",
                  200,
                  max_age,
                  reason::none,
                  {{"Cookie", "s=1"}},
                  policy{.per_credential = {"Cookie"}}},
        keep_case{"OneCookieInTheKeyIsNotAll",
                  200,
                  max_age,
                  reason::nostore_cookie,
                  {{"Cookie", "s=1"}},
                  policy{.key_cookies = {"lang"}}},
        keep_case{"RouteLifetimeChangesNothing",
                  200,
                  {},
                  reason::nostore_cookie,
                  {{"Cookie", "s=1"}},
                  policy{.has_default_lifetime = true, .default_lifetime = 60s}},
        keep_case{
            "SetCookie", 200, {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "sid=A"}}, reason::nostore_set_cookie},
        keep_case{"SetCookie2",
                  200,
                  {{"Cache-Control", "s-maxage=60"}, {"Set-Cookie2", "sid=A"}},
                  reason::nostore_set_cookie},
        keep_case{"SetCookieAndPublic",
                  200,
                  {{"Cache-Control", "public, max-age=60"}, {"Set-Cookie", "sid=A"}},
                  reason::none},
        keep_case{"SetCookieInAPrivateCache",
                  200,
                  {{"Cache-Control", "max-age=60"}, {"Set-Cookie", "sid=A"}},
                  reason::none,
                  {},
                  private_cache()}),
    case_name<keep_case>);

// S211 (CPDoS), S216
INSTANTIATE_TEST_SUITE_P(
    Statuses, Storability,
    ::testing::Values(
        keep_case{"Interim", 103, max_age, reason::nostore_status},
        keep_case{"Partial", 206, max_age, reason::nostore_status},
        keep_case{"NotModified", 304, max_age, reason::nostore_status},  // B02
        keep_case{"Beyond", 600, max_age, reason::nostore_status}, keep_case{"NoContent", 204, max_age, reason::none},
        keep_case{"NotFound", 404, max_age, reason::none},
        keep_case{"BadRequestWithLifetime", 400, max_age, reason::none},
        keep_case{"UnknownWithLifetime", 599, max_age, reason::none},
        keep_case{"FoundWithLifetime", 302, max_age, reason::none},
        keep_case{"FoundSilent", 302, {}, reason::nostore_status},
        keep_case{"FoundPublic", 302, {{"Cache-Control", "public"}}, reason::nostore_status},
        keep_case{"MovedWithTag", 301, etag_only, reason::nostore_status},
        keep_case{"NotFoundSilent", 404, {}, reason::nostore_status},
        keep_case{"NotFoundWithTag", 404, etag_only, reason::nostore_status},  // B05
        keep_case{"NotFoundExpired", 404, {{"Cache-Control", "max-age=0"}}, reason::nostore_no_lifetime_no_validator},
        keep_case{"Silent400", 400, {}, reason::nostore_status},
        keep_case{"Silent403", 403, {}, reason::nostore_status},
        keep_case{"Silent405", 405, {}, reason::nostore_status},
        keep_case{"Silent406", 406, {}, reason::nostore_status},
        keep_case{"Silent413", 413, {}, reason::nostore_status},
        keep_case{"Silent429", 429, {}, reason::nostore_status},
        keep_case{"Silent431", 431, {}, reason::nostore_status},
        keep_case{"Silent501", 501, {}, reason::nostore_status},
        keep_case{"NegativeRule", 404, {}, reason::none, {}, policy{.negative = {{404, 10s}}}},
        keep_case{"NegativeRuleForAnother", 403, {}, reason::nostore_status, {}, policy{.negative = {{404, 10s}}}},
        keep_case{"DefaultLifetimeIsNotForErrors",
                  500,
                  {},
                  reason::nostore_status,
                  {},
                  policy{.has_default_lifetime = true, .default_lifetime = 60s}},
        keep_case{"DefaultLifetime",
                  200,
                  {},
                  reason::none,
                  {},
                  policy{.has_default_lifetime = true, .default_lifetime = 60s}},
        keep_case{"MustUnderstandKnown", 200, {{"Cache-Control", "must-understand, max-age=60"}}, reason::none},
        keep_case{
            "MustUnderstandUnknown", 299, {{"Cache-Control", "must-understand, max-age=60"}}, reason::nostore_status}),
    case_name<keep_case>);

INSTANTIATE_TEST_SUITE_P(
    Forms, Storability,
    ::testing::Values(
        // B35, B42, S200
        keep_case{"VaryStar", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "*"}}, reason::nostore_vary_star},
        keep_case{
            "VaryStarInAList", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "Foo, *"}}, reason::nostore_vary_star},
        keep_case{
            "VaryStarAfterAComma", 200, {{"Cache-Control", "max-age=60"}, {"Vary", ", *"}}, reason::nostore_vary_star},
        keep_case{"VaryStarOnASecondLine",
                  200,
                  {{"Cache-Control", "max-age=60"}, {"Vary", "Foo"}, {"VARY", " * "}},
                  reason::nostore_vary_star},
        keep_case{"VaryStarTwice", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "*, *"}}, reason::nostore_vary_star},
        keep_case{
            "VaryMalformed", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "foo bar"}}, reason::nostore_vary_star},
        keep_case{"VaryColon", 200, {{"Cache-Control", "max-age=60"}, {"Vary", ": foo"}}, reason::nostore_vary_star},
        keep_case{"VaryClientAddress",
                  200,
                  {{"Cache-Control", "max-age=60"}, {"Vary", "x-forwarded-for"}},
                  reason::nostore_vary_star},
        keep_case{"VaryScheme", 200, {{"Cache-Control", "max-age=60"}, {"Vary", "X-Forwarded-Proto"}}, reason::none},
        keep_case{"VaryEmpty", 200, {{"Cache-Control", "max-age=60"}, {"Vary", ""}}, reason::none},
        keep_case{"XSendfile", 200, {{"Cache-Control", "max-age=60"}, {"X-Sendfile", "/f"}}, reason::nostore_sendfile},
        keep_case{"XAccelRedirect",
                  200,
                  {{"Cache-Control", "public, max-age=60"}, {"X-Accel-Redirect", "/f"}},
                  reason::nostore_sendfile},
        keep_case{"EventStream",
                  200,
                  {{"Cache-Control", "max-age=60"}, {"Content-Type", "text/event-stream"}},
                  reason::pass_stream},
        keep_case{"StreamRoute", 200, max_age, reason::pass_stream, {}, policy{.stream = true}},
        keep_case{"RouteOff", 200, max_age, reason::pass_route_off, {}, policy{.enabled = false}},
        keep_case{
            "MethodOverride", 200, max_age, reason::nostore_policy, {{"X-HTTP-Method-Override", "DELETE"}}},  // S194
        keep_case{"TooLarge", 200, max_age, reason::nostore_too_large, {}, policy{.max_object = 9}},
        keep_case{"JustFits", 200, max_age, reason::none, {}, policy{.max_object = 10}}),
    case_name<keep_case>);

TEST(StorabilityByMethod, OnlyAnswersToGetAndHead) {
    for (const std::string_view method : {"GET", "HEAD"}) {
        EXPECT_TRUE(judge_storability(make_request({}, method), make_response(max_age), policy{}, t0).store) << method;
    }
    for (const std::string_view method : {"POST", "PUT", "OPTIONS", "FOO"}) {  // S214
        EXPECT_EQ(judge_storability(make_request({}, method), make_response(max_age), policy{}, t0).why,
                  reason::pass_method);
    }
}

TEST(StorabilityByLength, AnUnknownLengthIsCountedByWhoReadsIt) {
    http::response_head chunked = make_response(max_age);
    chunked.body = http::framing::chunked();
    EXPECT_TRUE(judge_storability(make_request(), chunked, policy{.max_object = 1}, t0).store);
}

// ---------------------------------------------------------------- private: revalidate

TEST(PrivateRevalidate, KeepsForOneUserAndAsksEveryTime) {
    const field_list rails{{"Cache-Control", "max-age=0, private, must-revalidate"}, {"ETag", "W/\"a\""}};
    for (const field_list& request :
         {field_list{}, field_list{{"Cookie", "s=1"}}, field_list{{"Authorization", "x"}}}) {
        const storability s = judge_storability(make_request(request), make_response(rails), keeps_private(), t0);
        EXPECT_TRUE(s.store);
        EXPECT_TRUE(s.always_validate);
        EXPECT_FALSE(s.shareable);
    }
}

TEST(PrivateRevalidate, TheKeyHasToHoldEveryCredentialThatCame) {
    const field_list answer{{"Cache-Control", "private"}, {"ETag", "\"a\""}};
    policy rules = keeps_private();
    rules.per_credential = {"Authorization"};
    const auto judge = [&](const field_list& request) {
        return judge_storability(make_request(request), make_response(answer), rules, t0).why;
    };
    EXPECT_EQ(judge({{"Authorization", "x"}}), reason::none);
    EXPECT_EQ(judge({{"Authorization", "x"}, {"Cookie", "s=1"}}), reason::nostore_private);
    rules.per_credential.clear();
    EXPECT_EQ(judge({}), reason::nostore_private);
}

TEST(PrivateRevalidate, IsNothingWithoutATagOrForAnError) {
    const auto judge = [](const field_list& list, int status) {
        return judge_storability(make_request(), make_response(list, status), keeps_private(), t0).why;
    };
    EXPECT_EQ(judge({{"Cache-Control", "private, max-age=60"}}, 200), reason::nostore_no_lifetime_no_validator);
    EXPECT_EQ(judge({{"Cache-Control", "private"}, {"ETag", "\"a\""}}, 404), reason::nostore_status);
}

TEST(PrivateRevalidate, NeverKeepsWhatSetsACookie) {
    EXPECT_EQ(
        judge_storability(make_request(),
                          make_response({{"Cache-Control", "public, private"}, {"ETag", "\"a\""}, {"Set-Cookie", "s"}}),
                          keeps_private(), t0)
            .why,
        reason::nostore_set_cookie);
}

// §3.5: an answer to a request with Authorization is one user's, as if it said private.
TEST(PrivateRevalidate, HoldsForAuthorizationTheSameWay) {
    const storability s =
        judge_storability(make_request({{"Authorization", "x"}}),
                          make_response({{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}}), keeps_private(), t0);
    EXPECT_TRUE(s.store);
    EXPECT_TRUE(s.always_validate);
    EXPECT_FALSE(s.shareable);
}

// ---------------------------------------------------------------- collapsed forwarding

TEST(Shareable, AsLongAsItNeedNotBeValidatedForEachRequest) {
    const auto judge = [](const std::string& cache_control, const policy& rules = {}) {
        return judge_storability(make_request(), make_response({{"Cache-Control", cache_control}, {"ETag", "\"a\""}}),
                                 rules, t0)
            .shareable;
    };
    EXPECT_TRUE(judge("public"));
    EXPECT_TRUE(judge("max-age=0, must-revalidate"));
    EXPECT_FALSE(judge("no-cache"));  // RFC 9111 §5.2.2.4
    EXPECT_TRUE(judge("private", private_cache()));
}

}  // namespace
}  // namespace etagere::cache::test
