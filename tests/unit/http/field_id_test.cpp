#include "etagere/http/field_id.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace etagere::http {
namespace {

constexpr int all = static_cast<int>(field_id::count_);

std::string with_case(std::string_view text, int (*fold)(int)) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [fold](char c) { return static_cast<char>(fold(c)); });
    return out;
}

TEST(FieldId, EveryNameIsFoundInAnyCase) {
    std::set<std::string> names;
    for (int i = 1; i < all; ++i) {
        const auto id = static_cast<field_id>(i);
        const std::string_view name = canonical_name(id);
        ASSERT_FALSE(name.empty()) << i;
        EXPECT_TRUE(names.insert(with_case(name, std::tolower)).second) << name;
        EXPECT_EQ(find_field_id(name), id) << name;
        EXPECT_EQ(find_field_id(with_case(name, std::tolower)), id) << name;
        EXPECT_EQ(find_field_id(with_case(name, std::toupper)), id) << name;
    }
}

TEST(FieldId, NamesStandAtTheirEnumerator) {
    EXPECT_EQ(canonical_name(field_id::accept), "Accept");
    EXPECT_EQ(canonical_name(field_id::content_length), "Content-Length");
    EXPECT_EQ(canonical_name(field_id::etag), "ETag");
    EXPECT_EQ(canonical_name(field_id::if_none_match), "If-None-Match");
    EXPECT_EQ(canonical_name(field_id::te), "TE");
    EXPECT_EQ(canonical_name(field_id::x_forwarded_proto), "X-Forwarded-Proto");
    EXPECT_EQ(canonical_name(field_id::sec_websocket_key), "Sec-WebSocket-Key");
    EXPECT_EQ(canonical_name(field_id::other), "");
    EXPECT_EQ(canonical_name(field_id::count_), "");
}

TEST(FieldId, ANameWithOneOctetChangedIsAnotherName) {
    for (int i = 1; i < all; ++i) {
        const std::string name(canonical_name(static_cast<field_id>(i)));
        for (std::size_t at = 0; at < name.size(); ++at) {
            std::string other = name;
            other[at] = '_';
            EXPECT_EQ(find_field_id(other), field_id::other) << other;
        }
        EXPECT_EQ(find_field_id(name + "x"), field_id::other);
        EXPECT_NE(find_field_id(name.substr(0, name.size() - 1)), static_cast<field_id>(i));
    }
    EXPECT_EQ(find_field_id(""), field_id::other);
    EXPECT_EQ(find_field_id(std::string(10'000, 'a')), field_id::other);
}

// Folding by `| 0x20` alone would take CR for '-' and 0x01 for '!'.
TEST(FieldId, ControlsAreNotFoldedIntoLetters) {
    EXPECT_EQ(find_field_id(std::string("Content\rLength")), field_id::other);
    EXPECT_EQ(find_field_id("content\x0dlength"), field_id::other);
    EXPECT_EQ(find_field_id(std::string("\x08ost")), field_id::other);
}

}  // namespace
}  // namespace etagere::http
