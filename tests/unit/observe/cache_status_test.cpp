#include "etagere/observe/record.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

std::string cache_status(const record& r) {
    std::string out;
    append_cache_status(out, r);
    return out;
}

struct status_case {
    reason why;
    std::string_view value;
};
void PrintTo(const status_case& c, std::ostream* out) {
    *out << name(c.why);
}

class CacheStatus : public testing::TestWithParam<status_case> {};

TEST_P(CacheStatus, SaysHitOrForwardAndTheReason) {
    record r;
    r.why = GetParam().why;
    EXPECT_EQ(cache_status(r), GetParam().value);
}

// RFC 9211 §2.1 and §2.2.
INSTANTIATE_TEST_SUITE_P(
    EveryReason, CacheStatus,
    testing::Values(status_case{reason::none, "etagere"},  //
                    status_case{reason::hit_fresh, "etagere; hit; detail=hit_fresh"},
                    status_case{reason::hit_not_modified, "etagere; hit; detail=hit_not_modified"},
                    status_case{reason::hit_precondition_failed, "etagere; hit; detail=hit_precondition_failed"},
                    status_case{reason::hit_stale_revalidating, "etagere; hit; detail=hit_stale_revalidating"},
                    status_case{reason::hit_stale_error, "etagere; hit; detail=hit_stale_error"},
                    status_case{reason::revalidated, "etagere; fwd=stale; detail=revalidated"},
                    status_case{reason::revalidated_changed, "etagere; fwd=stale; detail=revalidated_changed"},
                    status_case{reason::miss_cold, "etagere; fwd=uri-miss; detail=miss_cold"},
                    status_case{reason::miss_vary, "etagere; fwd=vary-miss; detail=miss_vary"},
                    status_case{reason::miss_partial, "etagere; fwd=partial; detail=miss_partial"},
                    status_case{reason::miss_evicted_body, "etagere; fwd=miss; detail=miss_evicted_body"},
                    status_case{reason::collapsed_local, "etagere; fwd=miss; detail=collapsed_local"},
                    status_case{reason::pass_method, "etagere; fwd=method; detail=pass_method"},
                    status_case{reason::pass_upgrade, "etagere; fwd=bypass; detail=pass_upgrade"},
                    status_case{reason::pass_stream, "etagere; fwd=bypass; detail=pass_stream"},
                    status_case{reason::pass_route_off, "etagere; fwd=bypass; detail=pass_route_off"},
                    status_case{reason::pass_store_down, "etagere; fwd=bypass; detail=pass_store_down"},
                    status_case{reason::pass_client_directive, "etagere; fwd=request; detail=pass_client_directive"},
                    status_case{reason::pass_range, "etagere; fwd=miss; detail=pass_range"},
                    status_case{reason::pass_request_body, "etagere; fwd=bypass; detail=pass_request_body"},
                    status_case{reason::nostore_private, "etagere; fwd=uri-miss; detail=nostore_private"},
                    status_case{reason::nostore_no_store, "etagere; fwd=uri-miss; detail=nostore_no_store"},
                    status_case{reason::nostore_authorization, "etagere; fwd=uri-miss; detail=nostore_authorization"},
                    status_case{reason::nostore_set_cookie, "etagere; fwd=uri-miss; detail=nostore_set_cookie"},
                    status_case{reason::nostore_cookie, "etagere; fwd=uri-miss; detail=nostore_cookie"},
                    status_case{reason::nostore_vary_star, "etagere; fwd=uri-miss; detail=nostore_vary_star"},
                    status_case{reason::nostore_no_lifetime_no_validator,
                                "etagere; fwd=uri-miss; detail=nostore_no_lifetime_no_validator"},
                    status_case{reason::nostore_status, "etagere; fwd=uri-miss; detail=nostore_status"},
                    status_case{reason::nostore_too_large, "etagere; fwd=uri-miss; detail=nostore_too_large"},
                    status_case{reason::nostore_incomplete, "etagere; fwd=uri-miss; detail=nostore_incomplete"},
                    status_case{reason::nostore_policy, "etagere; fwd=uri-miss; detail=nostore_policy"},
                    status_case{reason::nostore_sendfile, "etagere; fwd=uri-miss; detail=nostore_sendfile"},
                    status_case{reason::nostore_hit_for_miss, "etagere; fwd=uri-miss; detail=nostore_hit_for_miss"},
                    status_case{reason::invalidated, "etagere; fwd=method; detail=invalidated"},
                    status_case{reason::only_if_cached, "etagere; detail=only_if_cached"},
                    status_case{reason::refused, "etagere; detail=refused"},  //
                    status_case{reason::failed, "etagere; detail=failed"}),
    [](const auto& test) { return std::string(name(test.param.why)); });

TEST(CacheStatusParameters, TimeToLiveMayBeNegative) {
    record r;
    r.why = reason::hit_fresh;
    r.has_ttl = true;
    r.ttl_s = 42;
    EXPECT_EQ(cache_status(r), "etagere; hit; ttl=42; detail=hit_fresh");
    r.why = reason::hit_stale_error;
    r.ttl_s = -7;
    EXPECT_EQ(cache_status(r), "etagere; hit; ttl=-7; detail=hit_stale_error");
}

TEST(CacheStatusParameters, ForwardedRequestsSayWhatCameBackAndWhatBecameOfIt) {
    record r;
    r.why = reason::revalidated;
    r.upstream_status = 304;
    r.stored = true;
    r.collapsed = true;
    EXPECT_EQ(cache_status(r), "etagere; fwd=stale; fwd-status=304; stored; collapsed; detail=revalidated");
    r = {};
    r.why = reason::miss_cold;
    r.upstream_status = 200;
    r.stored = true;
    r.has_ttl = true;
    r.ttl_s = 60;
    EXPECT_EQ(cache_status(r), "etagere; fwd=uri-miss; fwd-status=200; stored; ttl=60; detail=miss_cold");
}

// RFC 9211 §2: hit and fwd exclude each other, and the rest describes forwarding.
TEST(CacheStatusParameters, HitsHaveNoForwardingParameters) {
    record r;
    r.why = reason::hit_stale_error;
    r.upstream_status = 503;  // the failure that the stale answer stands in for
    r.stored = true;
    r.collapsed = true;
    EXPECT_EQ(cache_status(r), "etagere; hit; detail=hit_stale_error");
}

TEST(CacheStatusParameters, IsAppended) {
    std::string out = "Cache-Status: ";
    record r;
    r.why = reason::hit_fresh;
    append_cache_status(out, r);
    EXPECT_EQ(out, "Cache-Status: etagere; hit; detail=hit_fresh");
}

}  // namespace
}  // namespace etagere::observe
