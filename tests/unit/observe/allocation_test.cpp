// Architecture decision 3: a hit allocates nothing in the steady state. Counted here for telling what happened.
#include "etagere/observe/access_log.hpp"
#include "etagere/observe/metrics.hpp"

#include "support/allocations.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::observe {
namespace {

TEST(Allocations, NoneForARecordOnceItsRouteWasUsed) {
    metrics all(1, {"0.1.0", "c0ffee"});
    const std::uint32_t listener = all.listener("ingress");
    all.upstream("rails");
    log_writer writer;
    access_log log(writer, 1, {}, *log_output::open("/dev/null"));
    record r;
    r.listener = "ingress";
    r.listener_index = listener;
    r.route = "products";
    r.route_index = all.route(r.route);
    r.method = "GET";
    r.verb = http::method::get;
    r.path = "/api/products";
    r.user_agent = "caf\xe9 \"quoted\"";
    r.upstream = "rails";
    r.why = reason::revalidated;
    std::string cache_status;
    const auto tell = [&] {
        all.of(0).in_flight(listener, +1);
        all.of(0).observe(r);
        all.of(0).in_flight(listener, -1);
        log.write(0, r);
        cache_status.clear();
        append_cache_status(cache_status, r);
    };
    tell();
    const std::size_t before = test::allocations();
    for (int i = 0; i < 2000; ++i) {  // more than a lane holds
        r.at += milliseconds{100};
        tell();
    }
    EXPECT_EQ(test::allocations(), before);
    EXPECT_GT(before, 0U) << "the counter counts";
}

}  // namespace
}  // namespace etagere::observe
