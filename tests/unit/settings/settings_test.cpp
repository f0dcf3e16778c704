#include "etagere/settings/settings.hpp"

#include <gtest/gtest.h>

namespace etagere::settings {
namespace {

TEST(Settings, NeverCanBeAddedToAnyPointInTime) {
    const steady_time latest = steady_time() + std::chrono::hours(24 * 365 * 100);
    EXPECT_GT(latest + never, latest);
    const wall_time now = std::chrono::sys_days(std::chrono::year(2100) / 1 / 1);
    EXPECT_GT(now + never, now);
}

TEST(Settings, DefaultsAreSafe) {
    const settings s;
    EXPECT_TRUE(s.listeners.empty());
    EXPECT_EQ(s.observability.access_log.sample, 1.0);

    const listener l;
    EXPECT_TRUE(l.trusted_proxies.empty());
    EXPECT_FALSE(l.underscore_names);
    EXPECT_LT(l.limits.header_timeout, never);
    EXPECT_LT(l.limits.body_timeout, never);
    EXPECT_LT(l.limits.write_timeout, never);
    EXPECT_LE(l.limits.target, l.limits.header_bytes);

    const cache c;
    EXPECT_EQ(c.mode, cache_mode::shared);
    EXPECT_EQ(c.origin_private, origin_private::leave);
    EXPECT_FALSE(c.lifetime.default_.has_value());
    EXPECT_FALSE(c.lifetime.override);
    EXPECT_FALSE(c.heuristic);
    EXPECT_EQ(c.stale, stale{});
    EXPECT_EQ(c.client_directives, client_directives::ignore);

    const store st;
    EXPECT_LE(st.memory.max_object, st.memory.size);
    const memcached_store m;
    EXPECT_LT(m.chunk, mib);  // memcached's usual item limit
    EXPECT_EQ(m.on_failure, store_failure::bypass);

    EXPECT_EQ(upstream_retries{}.attempts, 2U);
}

TEST(Settings, AreComparedByValue) {
    settings a;
    settings b;
    EXPECT_EQ(a, b);
    b.routes.emplace_back().cache.key.headers.emplace_back("X-Tenant");
    EXPECT_NE(a, b);
    a.routes.emplace_back().cache.key.headers.emplace_back("X-Tenant");
    EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace etagere::settings
