// Short ways to say a request, a response and a stored response, with a time that stands still.
#pragma once

#include "etagere/cache/decisions.hpp"
#include "etagere/http/date.hpp"

#include <chrono>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

// policy{.shared = false}: a test names what it is about, and leaves the rest as it is by default.
#pragma clang diagnostic ignored "-Wmissing-designated-field-initializers"

namespace etagere::cache {

// GoogleTest finds these by argument-dependent look-up: a failure then says "nostore_private", not "<2D>".
inline void PrintTo(request_class v, std::ostream* to) {
    *to << "request_class " << static_cast<int>(v);
}
inline void PrintTo(reuse_action v, std::ostream* to) {
    *to << "reuse_action " << static_cast<int>(v);
}
inline void PrintTo(precondition v, std::ostream* to) {
    *to << "precondition " << static_cast<int>(v);
}
inline void PrintTo(validation v, std::ostream* to) {
    *to << "validation " << static_cast<int>(v);
}

namespace test {

using namespace std::chrono_literals;
using namespace std::string_literals;

using field_list = std::vector<std::pair<std::string, std::string>>;

// Mon, 30 Nov 2026 12:00:00 GMT
inline constexpr wall_time t0 = std::chrono::sys_days{std::chrono::November / 30 / 2026} + 12h;

inline std::string date(wall_time t) {
    return http::format_date(std::chrono::floor<seconds>(t));
}

inline http::fields make_fields(const field_list& list) {
    http::fields made;
    for (const auto& [name, value] : list) EXPECT_TRUE(made.add(name, value)) << name << ": " << value;
    return made;
}

inline http::request_head make_request(const field_list& list = {}, std::string_view method = "GET",
                                       std::string_view target = "/r") {
    http::request_head made;
    made.verb = http::find_method(method);
    made.method_name = method;
    made.target = target;
    made.host = "api.test";
    made.port = 80;
    made.header = make_fields(list);
    return made;
}

inline http::response_head make_response(const field_list& list = {}, int status = 200) {
    http::response_head made;
    made.status = status;
    made.header = make_fields(list);
    made.body = http::framing::of_length(10);
    return made;
}

/// Readable in a failure; the tests of digests have others.
inline std::string test_digest(std::string_view value) {
    return "<" + std::string(value) + ">";
}
inline int select_variant(std::span<const stored_response* const> variants, const http::request_head& request,
                          const policy& rules) {
    return cache::select_variant(variants, request, rules, test_digest);
}
inline stored_response make_stored(const http::request_head& request, const http::response_head& response,
                                   const policy& rules, wall_time request_time, wall_time response_time) {
    return cache::make_stored(request, response, rules, request_time, response_time, test_digest);
}

/// Asked and answered at t0, without delay.
inline stored_response stored(const field_list& list, int status = 200, const field_list& request = {},
                              const policy& rules = {}) {
    return make_stored(make_request(request), make_response(list, status), rules, t0, t0);
}

inline policy private_cache() {
    policy rules;
    rules.shared = false;
    rules.per_credential = {"Authorization", "Cookie"};
    return rules;
}

/// `private: revalidate`, as routing compiles it.
inline policy keeps_private() {
    policy rules;
    rules.on_private = private_rule::revalidate;
    rules.per_credential = {"Authorization", "Cookie"};
    return rules;
}

inline policy honours_clients() {
    policy rules;
    rules.client = client_directives::honour;
    return rules;
}

/// Test parameters name themselves.
template <class T> std::string case_name(const ::testing::TestParamInfo<T>& info) {
    return info.param.name;
}

}  // namespace test
}  // namespace etagere::cache

namespace etagere {
inline void PrintTo(reason r, std::ostream* to) {
    *to << name(r);
}
}  // namespace etagere
