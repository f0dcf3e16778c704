// Stored responses for the tests of the stores.
#pragma once

#include "etagere/store/store.hpp"

#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace etagere::store::testing {

/// 2023-11-14T22:13:20Z, and a steady clock that starts with it.
inline moment at(milliseconds since_start = milliseconds{0}) {
    return {wall_time(seconds(1'700'000'000)) + since_start, steady_time(std::chrono::hours(1)) + since_start};
}
/// The real time, for stores that wait in it.
inline moment now() {
    return {std::chrono::floor<milliseconds>(std::chrono::system_clock::now()), std::chrono::steady_clock::now()};
}

struct recipe {
    std::string body = "hello";
    std::string etag = {};       // with quotes; "" for none
    std::string vary_name = {};  // "" for none
    std::string vary_value = {};
    moment when = at();
    milliseconds keep{std::chrono::hours(1)};
    std::size_t padding = 0;  // octets of one more field
};

inline object_ptr make(const recipe& r) {
    cache::stored_response s;
    s.request_time = s.response_time = r.when.wall;
    EXPECT_TRUE(s.header.add("Content-Type", "text/plain"));
    EXPECT_TRUE(s.header.add("Cache-Control", "max-age=60"));
    if (!r.etag.empty()) EXPECT_TRUE(s.header.add("ETag", r.etag));
    if (r.padding != 0) EXPECT_TRUE(s.header.add("X-Padding", std::string(r.padding, 'x')));
    if (!r.vary_name.empty()) s.selecting = {{r.vary_name, r.vary_value}};
    s.index();
    return make_object(std::move(s), share(r.body), r.when.wall + r.keep);
}

inline std::string not_modified(const object& o, bool coded = false) {
    std::string out;
    o.append_not_modified(out, coded);
    return out;
}

/// Anything a response may be, from a seed.
inline cache::stored_response random_response(std::mt19937& random) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const auto text = [&](std::size_t longest) {
        std::string out(below(static_cast<std::uint32_t>(longest) + 1), ' ');
        for (char& c : out) c = static_cast<char>('!' + below(94));
        return out;
    };
    cache::stored_response r;
    r.status = static_cast<int>(200 + below(400));
    for (std::uint32_t i = below(20); i > 0; --i) {
        EXPECT_TRUE(r.header.add("X-Field-" + std::to_string(below(9)), text(60)));
    }
    if (below(2) == 0) EXPECT_TRUE(r.header.add("ETag", "\"" + std::to_string(random()) + "\""));
    if (below(2) == 0) EXPECT_TRUE(r.header.add("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT"));
    if (below(2) == 0) EXPECT_TRUE(r.header.add("Cache-Control", "max-age=" + std::to_string(below(1000))));
    std::vector<cache::selector> selecting(below(4));
    for (std::size_t i = selecting.size(); cache::selector & s : selecting) {
        s.name = "name-" + std::to_string(i--);
        if (below(3) != 0) s.value = text(30);
    }
    r.selecting = selecting;
    r.request_time = at(milliseconds(random())).wall;
    r.response_time = r.request_time + milliseconds(below(5000));
    r.body_size = std::uint64_t{random()} * below(3);
    if (r.status == 206 || below(4) == 0) {
        r.status = 206;
        r.body_size = 0;
        cache::particulars& rest = r.rest.edit();
        for (std::uint32_t i = below(5) + 1, at = below(9); i > 0; --i, at += 2 + below(9)) {
            const std::uint32_t first = at;
            at += below(100);
            r.body_size += rest.parts.emplace_back(first, at).size();
        }
        rest.complete_length =
            rest.parts.back().last + 1 + std::max<std::uint64_t>(below(9), rest.parts.front().first == 0);
    }
    r.always_validate = below(2) == 0;
    r.own_etag = below(2) == 0;
    r.age_value = seconds(below(100'000));
    r.known = {.era = random(), .seq = random(), .local = 0};
    for (std::uint32_t i = below(5); i > 0; --i) r.rest.edit().tags.push_back(random());
    r.header.shrink();
    r.index();
    return r;
}

inline std::vector<std::pair<std::string, std::string>> list(const http::fields& header) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto f : header) out.emplace_back(f.name, f.value);
    return out;
}

inline void expect_equal(const cache::stored_response& a, const cache::stored_response& b) {
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(list(a.header), list(b.header));
    EXPECT_EQ(a.selecting, b.selecting);
    EXPECT_EQ(a.request_time, b.request_time);
    EXPECT_EQ(a.response_time, b.response_time);
    EXPECT_EQ(a.body_size, b.body_size);
    EXPECT_EQ(a.always_validate, b.always_validate);
    EXPECT_EQ(a.own_etag, b.own_etag);
    EXPECT_EQ(a.rest->parts, b.rest->parts);
    EXPECT_EQ(a.rest->complete_length, b.rest->complete_length);
    EXPECT_EQ(a.age_value, b.age_value);
    EXPECT_EQ(a.known, b.known);
    EXPECT_EQ(a.rest->tags, b.rest->tags);
    EXPECT_EQ(a.etag(), b.etag());
    EXPECT_EQ(a.date, b.date);
    EXPECT_EQ(a.last_modified, b.last_modified);
    EXPECT_EQ(a.directives.max_age, b.directives.max_age);
}

}  // namespace etagere::store::testing
