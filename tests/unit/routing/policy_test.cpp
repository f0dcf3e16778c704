// What the operator wrote → what the cache obeys.
#include "make.hpp"

#include <gmock/gmock.h>

namespace etagere::routing {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

cache::policy policy_of(const settings::route& r, settings::settings s = with({})) {
    return compile_route(r, s)->policy;
}

TEST(Policy, OfTheDefaultsIsASharedCacheThatObeysTheOrigin) {
    const cache::policy p = policy_of(a_route("r", "/**"));
    EXPECT_TRUE(p.enabled);
    EXPECT_TRUE(p.shared);
    EXPECT_FALSE(p.stream);
    EXPECT_THAT(p.per_credential, IsEmpty());
    EXPECT_EQ(p.on_private, cache::private_rule::leave);
    EXPECT_FALSE(p.heuristic_freshness);
    EXPECT_FALSE(p.override_lifetime);
    EXPECT_FALSE(p.has_default_lifetime);
    EXPECT_EQ(p.max_lifetime, 0s);
    EXPECT_EQ(p.max_object, 1024U * 1024U);  // the memory store's
    EXPECT_TRUE(p.normalize_accept_encoding);
    EXPECT_TRUE(p.normalize_accept_language);
    EXPECT_EQ(p.client, cache::client_directives::ignore);
    EXPECT_EQ(p.stale_while_revalidate, 0s);
    EXPECT_EQ(p.stale_if_error, 0s);
    EXPECT_EQ(p.validate_for, 24h);
    EXPECT_TRUE(p.collapse);
    EXPECT_EQ(p.collapse_wait, 5s);
    EXPECT_EQ(p.etag_when_missing, cache::etag_making::weak);
    EXPECT_EQ(p.digest, cache::etag_digest::xxh3_128);
}

TEST(Policy, CarriesEverySetting) {
    settings::route r = a_route("r", "/**");
    r.stream = true;
    r.headers.cache_status = false;
    r.cache.enabled = false;
    r.cache.lifetime = {.default_ = 90s, .max = 1h, .override = true};
    r.cache.negative = {{404, 10s}, {410, 1min}};
    r.cache.stale = {.while_revalidate = 30s, .if_error = 10min};
    r.cache.validate_for = 2h;
    r.cache.client_directives = settings::client_directives::honour;
    r.cache.key = {.query_sort = true, .query_ignore = {"utm_*"}, .headers = {"X-Tenant"}, .cookies = {"locale"}};
    r.cache.vary = {.max_variants = 4, .normalize = {"accept-language"}};
    r.cache.collapse = {.enabled = false, .wait = 100ms};
    r.cache.heuristic = true;
    r.cache.max_object = 1000;
    r.etag = {.when_missing = settings::etag_when_missing::strong,
              .digest = settings::etag_digest::sha_256,
              .max_body = 7,
              .max_hold = 9ms};
    const route compiled = *compile_route(r, with({}));
    EXPECT_FALSE(compiled.cache_status);
    const cache::policy& p = compiled.policy;
    EXPECT_TRUE(p.stream);
    EXPECT_FALSE(p.enabled);
    EXPECT_TRUE(p.has_default_lifetime);
    EXPECT_EQ(p.default_lifetime, 90s);
    EXPECT_EQ(p.max_lifetime, 1h);
    EXPECT_TRUE(p.override_lifetime);
    EXPECT_THAT(p.negative, ElementsAre(Pair(404, 10s), Pair(410, 60s)));
    EXPECT_EQ(p.stale_while_revalidate, 30s);
    EXPECT_EQ(p.stale_if_error, 10min);
    EXPECT_EQ(p.validate_for, 2h);
    EXPECT_EQ(p.client, cache::client_directives::honour);
    EXPECT_TRUE(p.query.sort);
    EXPECT_THAT(p.query.ignore, ElementsAre("utm_*"));
    EXPECT_THAT(p.key_headers, ElementsAre("X-Tenant"));
    EXPECT_THAT(p.key_cookies, ElementsAre("locale"));
    EXPECT_EQ(p.max_variants, 4U);
    EXPECT_FALSE(p.normalize_accept_encoding);
    EXPECT_TRUE(p.normalize_accept_language);
    EXPECT_FALSE(p.collapse);
    EXPECT_EQ(p.collapse_wait, 100ms);
    EXPECT_TRUE(p.heuristic_freshness);
    EXPECT_EQ(p.max_object, 1000U);
    EXPECT_EQ(p.etag_when_missing, cache::etag_making::strong);
    EXPECT_EQ(p.digest, cache::etag_digest::sha_256);
    EXPECT_EQ(p.etag_max_body, 7U);
    EXPECT_EQ(p.etag_max_hold, 9ms);
    r.etag = {.when_missing = settings::etag_when_missing::off, .digest = settings::etag_digest::md5};
    EXPECT_EQ(policy_of(r).etag_when_missing, cache::etag_making::off);
    EXPECT_EQ(policy_of(r).digest, cache::etag_digest::md5);
}

TEST(Policy, ALifetimeOfZeroIsNotASilentOne) {
    settings::route r = a_route("r", "/**");
    r.cache.lifetime.default_ = 0ms;
    EXPECT_TRUE(policy_of(r).has_default_lifetime);
    EXPECT_EQ(policy_of(r).default_lifetime, 0s);
}

TEST(Policy, CredentialsPartTheKeyWherePrivateAnswersMayBeKept) {
    settings::route r = a_route("r", "/**");
    r.cache.origin_private = settings::origin_private::revalidate;
    EXPECT_EQ(policy_of(r).on_private, cache::private_rule::revalidate);
    EXPECT_THAT(policy_of(r).per_credential, ElementsAre("Authorization", "Cookie"));
    r = a_route("r", "/**");
    r.cache.mode = settings::cache_mode::private_;
    EXPECT_FALSE(policy_of(r).shared);
    EXPECT_THAT(policy_of(r).per_credential, ElementsAre("Authorization", "Cookie"));
    r.cache.per_credential.emplace();  // one service token: the operator says that it does not matter
    EXPECT_THAT(policy_of(r).per_credential, IsEmpty());
    r.cache.mode = settings::cache_mode::shared;
    r.cache.per_credential = {"X-User"};
    EXPECT_THAT(policy_of(r).per_credential, ElementsAre("X-User"));
}

TEST(Policy, TheLargestObjectIsTheStores) {
    settings::settings s = with({});
    const settings::route r = a_route("r", "/**");
    s.stores[0].memcached.emplace();
    EXPECT_EQ(policy_of(r, s).max_object, 32 * settings::mib);
    s.stores[0].memcached->max_object = 10;
    EXPECT_EQ(policy_of(r, s).max_object, settings::mib);
    s.stores[0].memory.size = 0;
    EXPECT_EQ(policy_of(r, s).max_object, 10U);
}

TEST(Policy, NamesBecomeIndices) {
    settings::settings s = with({});
    s.upstreams.emplace_back().name = "other";
    s.stores.emplace_back().name = "second";
    settings::route r = a_route("r", "/**");
    r.upstream = "other";
    r.cache.store = "second";
    EXPECT_EQ(compile_route(r, s)->upstream, 1U);
    EXPECT_EQ(compile_route(r, s)->store, 1U);
}

}  // namespace
}  // namespace etagere::routing
