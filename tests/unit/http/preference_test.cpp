#include "etagere/http/preference.hpp"

#include <string>

#include <gtest/gtest.h>

namespace etagere::http {
namespace {

struct preference_case {
    std::string name;
    std::string_view member;
    std::string_view value;
    unsigned weight = 1000;
};
class Preference : public testing::TestWithParam<preference_case> {};

// RFC 9110 §12.4.2
TEST_P(Preference, IsRead) {
    const auto p = parse_preference(GetParam().member);
    ASSERT_TRUE(p);
    EXPECT_EQ(p->name, GetParam().value);
    EXPECT_EQ(p->weight, GetParam().weight);
}
INSTANTIATE_TEST_SUITE_P(Examples, Preference,
                         testing::Values(preference_case{"Bare", "gzip", "gzip"}, preference_case{"Star", "*", "*"},
                                         preference_case{"Half", "gzip;q=0.5", "gzip", 500},
                                         preference_case{"Spaces", "gzip ; q=0.5 ", "gzip", 500},
                                         preference_case{"UpperCaseQ", "gzip;Q=0.25", "gzip", 250},
                                         preference_case{"ThreeDigits", "br;q=0.001", "br", 1},
                                         preference_case{"Zero", "br;q=0", "br", 0},
                                         preference_case{"ZeroWithDigits", "br;q=0.000", "br", 0},
                                         preference_case{"PointAlone", "br;q=1.", "br", 1000},
                                         preference_case{"One", "br;q=1.000", "br", 1000}),
                         [](const auto& info) { return info.param.name; });

class NoPreference : public testing::TestWithParam<std::string_view> {};
TEST_P(NoPreference, IsRefused) {
    EXPECT_FALSE(parse_preference(GetParam()));
}
INSTANTIATE_TEST_SUITE_P(Examples, NoPreference,
                         testing::Values("", ";q=1", "gz ip", "gzip;", "gzip;q", "gzip;q=", "gzip;q=2", "gzip;q=1.001",
                                         "gzip;q=0.5555", "gzip;q=.5", "gzip;q=-1", "gzip;q=1;x=y", "gzip;level=9",
                                         "gzip;q=0,5", "gzip;q =0.5"));

}  // namespace
}  // namespace etagere::http
