// A match is on the way of every request: it must not allocate.
#include "etagere/routing/table.hpp"

#include "make.hpp"
#include "support/allocations.hpp"

#include <gtest/gtest.h>

namespace etagere::routing {
namespace {

TEST(Table, MatchesWithoutAllocating) {
    std::vector<settings::route> routes;
    for (int i = 0; i < 10; ++i) {
        routes.push_back(a_route("r" + std::to_string(i), "/api/service" + std::to_string(i) + "/**"));
    }
    routes.push_back(a_route("host", "/**", {}, "*.example.com"));
    const auto t = table::compile(routes, with(routes));
    ASSERT_TRUE(t);
    const std::size_t before = test::allocations();
    const route* a = t->match(http::method::get, "GET", "x", "/api/service7/items/1");
    const route* b =
        t->match(http::method::other, "PURGE", "a-rather-long-label.example.com", "/a/rather/long/path/to/it");
    const std::size_t after = test::allocations();
    EXPECT_NE(a, nullptr);
    EXPECT_NE(b, nullptr);
    EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace etagere::routing
