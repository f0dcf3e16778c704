// The stores that the conformance suite runs against, and how a test asks them.
#pragma once

#include "etagere/store/memcached.hpp"
#include "etagere/store/memory.hpp"

#include "make.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::store::testing {

/// Of every backend: enough for several chunks of the remote ones.
inline constexpr std::size_t max_object = 256 << 10U;

struct backend {
    std::string name;
    std::function<std::unique_ptr<store>()> make;
};
std::vector<backend> backends();
/// For tests: a prefix of its own, deadlines that a busy machine keeps, chunks of 40 KiB.
memcached_options options_for(std::vector<memcached_server> servers);

/// Polls until `condition` holds; false after a time in which it should have.
template <class Condition> bool eventually(Condition condition, milliseconds most = seconds(10)) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

/// load() as a call. A failure of the backend counts as "nothing there".
inline result<found> loaded(store& s, const std::string& key, moment when = now()) {
    auto answer = std::make_shared<std::promise<result<found>>>();
    auto future = answer->get_future();
    s.load(key, when, [answer](result<found> f) { answer->set_value(std::move(f)); });
    if (future.wait_for(seconds(20)) != std::future_status::ready) {
        ADD_FAILURE() << "load() never completed";
        return fail(errc::internal);
    }
    return future.get();
}
/// peek(), then load(), as the exchange does.
inline found asked(store& s, const std::string& key, moment when = now()) {
    found f = s.peek(key, when);
    if (f.set || !s.has_remote()) return f;
    return loaded(s, key, when).value_or(found{});
}
inline result<object_ptr> with_body(store& s, const std::string& key, object_ptr o) {
    if (o->body) return o;
    auto answer = std::make_shared<std::promise<result<object_ptr>>>();
    auto future = answer->get_future();
    s.load_body(key, std::move(o), now(), [answer](result<object_ptr> r) { answer->set_value(std::move(r)); });
    if (future.wait_for(seconds(20)) != std::future_status::ready) {
        ADD_FAILURE() << "load_body() never completed";
        return fail(errc::internal);
    }
    return future.get();
}

}  // namespace etagere::store::testing
