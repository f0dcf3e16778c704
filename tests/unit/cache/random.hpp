// Random requests, responses and policies from a fixed seed: what properties are tried on.
#pragma once

#include "unit/cache/support.hpp"

#include <random>

namespace etagere::cache::test {

class random_source {
public:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_); }
    bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }
    template <class T> const T& one_of(const std::vector<T>& from) { return from[below(from.size())]; }

private:
    std::mt19937 engine_{20261130};  // the same cases every time
};

inline const std::vector<std::string> directive_pool{
    "max-age=60",       "max-age=0",   "max-age=99999999999", "max-age=x",         "s-maxage=5",
    "public",           "private",     "private=\"a",         "no-cache",          "must-revalidate",
    "proxy-revalidate", "immutable",   "no-cache=\"x\"",      "stale-if-error=60", "stale-while-revalidate=60",
    "must-understand",  "no-transform"};
inline const std::vector<std::string> date_pool{date(t0),
                                                date(t0 - 1h),
                                                date(t0 + 1h),
                                                date(t0 + 87600h),
                                                "0",
                                                "-1",
                                                "Sunday, 06-Nov-94 08:49:37 GMT",
                                                "Thu Jan  1 00:00:00 1970"};
inline const std::vector<int> status_pool{200, 200, 200, 203, 204, 206, 301, 302,
                                          304, 400, 404, 410, 500, 501, 503, 599};

inline field_list random_response(random_source& random) {
    field_list list;
    for (std::size_t lines = random.below(3); lines > 0; --lines) {
        std::string line;
        for (std::size_t n = random.below(4); n > 0; --n)
            line += random.one_of(directive_pool) + (random.chance(50) ? ", " : ",");
        list.emplace_back("Cache-Control", line);
    }
    for (const std::string name : {"Date", "Expires", "Last-Modified"}) {
        if (random.chance(50)) list.emplace_back(name, random.one_of(date_pool));
    }
    if (random.chance(50)) list.emplace_back("ETag", random.chance(50) ? "\"a\"" : "W/\"a\"");
    if (random.chance(30)) list.emplace_back("Age", std::to_string(random.below(200)));
    if (random.chance(30)) list.emplace_back("Vary", random.chance(80) ? "Foo" : "*");
    if (random.chance(20)) list.emplace_back("Set-Cookie", "a=b");
    return list;
}

inline field_list random_request(random_source& random) {
    field_list list;
    if (random.chance(20)) list.emplace_back("Authorization", "x");
    if (random.chance(20)) list.emplace_back("Cookie", "a=b");
    if (random.chance(20)) list.emplace_back("Cache-Control", "max-stale");
    if (random.chance(50)) list.emplace_back("Foo", std::to_string(random.below(2)));
    return list;
}

inline policy random_policy(random_source& random) {
    policy rules = random.chance(30) ? private_cache() : random.chance(50) ? keeps_private() : policy{};
    rules.heuristic_freshness = random.chance(30);
    rules.has_default_lifetime = random.chance(30);
    rules.override_lifetime = random.chance(20);
    rules.default_lifetime = seconds(random.below(100));
    rules.max_lifetime = seconds(random.below(2) * 30);
    rules.stale_if_error = seconds(random.below(2) * 600);
    rules.stale_while_revalidate = seconds(random.below(2) * 30);
    if (random.chance(30)) rules.negative = {{404, 10s}, {500, 1s}};
    if (random.chance(50)) rules.client = client_directives::honour;
    return rules;
}

inline wall_time random_time(random_source& random) {
    return t0 + seconds(random.below(100000)) - 30000s + milliseconds(random.below(1000));
}

}  // namespace etagere::cache::test
