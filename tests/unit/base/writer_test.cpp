#include "etagere/base/writer.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace etagere {
namespace {

TEST(Writer, TextsOfEveryLengthArriveWhole) {
    const std::string from = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~";
    for (std::size_t n = 0; n <= from.size(); ++n) {
        const std::string_view text = std::string_view(from).substr(0, n);
        std::string out = "before ";
        append_at_most(out, n, [&](writer& to) { to += text; });
        EXPECT_EQ(out, "before " + std::string(text)) << n;
    }
}

TEST(Writer, NothingBehindTheTextIsTouched) {
    for (std::size_t n = 0; n <= 40; ++n) {
        std::array<char, 48> room;
        room.fill('#');
        writer to(room.data(), n);
        to.append(std::string(n, 'x'));
        EXPECT_EQ(to.at(), room.data() + n);
        EXPECT_EQ(std::string_view(room.data(), room.size()).find_last_of('x') + 1, n);
        EXPECT_EQ(room.at(n), '#') << n;
    }
}

TEST(Writer, LiteralsCharactersAndNumbers) {
    std::string out;
    append_at_most(out, 100, [](writer& to) {
        to += "max-age=";
        to.number(std::numeric_limits<std::uint64_t>::max());
        to += ',';
        to.number(std::numeric_limits<std::int64_t>::min());
        to += std::string_view(", public");
    });
    EXPECT_EQ(out, "max-age=18446744073709551615,-9223372036854775808, public");
}

TEST(Writer, NumbersOfEveryLength) {
    const auto written = [](auto n) {
        std::string out;
        append_at_most(out, writer::most_digits, [n](writer& to) { to.number(n); });
        return out;
    };
    for (std::int64_t n = -1000; n <= 20'000; ++n) ASSERT_EQ(written(n), std::to_string(n));
    for (std::uint64_t n = 1; n <= std::numeric_limits<std::uint64_t>::max() / 10; n *= 10) {
        for (const std::uint64_t m : {n - 1, n, n + 1}) ASSERT_EQ(written(m), std::to_string(m));
    }
    for (unsigned n = 0; n < 1000; ++n) {
        std::string out;
        append_at_most(out, 3, [n](writer& to) { to.three_digits(n); });
        ASSERT_EQ(out, std::to_string(1000 + n).substr(1));
    }
}

TEST(Writer, WhatIsNotWrittenIsNotThere) {
    std::string out = "a";
    append_at_most(out, 1000, [](writer& to) { to += 'b'; });
    EXPECT_EQ(out, "ab");
    const std::size_t capacity = out.capacity();
    out.clear();
    append_at_most(out, 1000, [](writer&) {});
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(out.capacity(), capacity) << "room is kept";
}

}  // namespace
}  // namespace etagere
