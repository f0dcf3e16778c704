// A match is on the way of every request: it must not allocate. Left out under ThreadSanitizer, which brings an
// operator new of its own (tests/CMakeLists.txt).
#include "etagere/routing/table.hpp"

#include "make.hpp"

#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

namespace {
std::size_t allocations = 0;
}

void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) {
        return p;
    }
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
    std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
    std::free(p);
}

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
    const std::size_t before = allocations;
    const route* a = t->match(http::method::get, "GET", "x", "/api/service7/items/1");
    const route* b =
        t->match(http::method::other, "PURGE", "a-rather-long-label.example.com", "/a/rather/long/path/to/it");
    const std::size_t after = allocations;
    EXPECT_NE(a, nullptr);
    EXPECT_NE(b, nullptr);
    EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace etagere::routing
