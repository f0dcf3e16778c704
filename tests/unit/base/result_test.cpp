#include "etagere/base/result.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>

namespace etagere {
namespace {

struct expected_row {
    errc code;
    const char* name;
    side whose;
    int status;
    bool nothing_sent;
};

class Errors : public testing::TestWithParam<expected_row> {};

TEST_P(Errors, SayNameSideStatusAndWhetherARetryIsSafe) {
    const auto& row = GetParam();
    const error_code ec = row.code;
    EXPECT_EQ(error_name(ec), row.name);
    EXPECT_EQ(error_side(ec), row.whose);
    EXPECT_EQ(http_status(ec), row.status);
    EXPECT_EQ(nothing_was_sent(ec), row.nothing_sent);
    EXPECT_EQ(ec.message(), row.name);
}

INSTANTIATE_TEST_SUITE_P(
    All, Errors,
    testing::Values(expected_row{errc::bad_request, "bad_request", side::client, 400, false},
                    expected_row{errc::bad_framing, "bad_framing", side::client, 400, false},
                    expected_row{errc::bad_host, "bad_host", side::client, 400, false},
                    expected_row{errc::request_timeout, "request_timeout", side::client, 408, false},
                    expected_row{errc::content_too_large, "content_too_large", side::client, 413, false},
                    expected_row{errc::uri_too_long, "uri_too_long", side::client, 414, false},
                    expected_row{errc::expectation_failed, "expectation_failed", side::client, 417, false},
                    expected_row{errc::header_fields_too_large, "header_fields_too_large", side::client, 431, false},
                    expected_row{errc::method_not_implemented, "method_not_implemented", side::client, 501, false},
                    expected_row{errc::version_not_supported, "version_not_supported", side::client, 505, false},
                    expected_row{errc::client_closed, "client_closed", side::client, 0, false},
                    expected_row{errc::client_too_slow, "client_too_slow", side::client, 0, false},
                    expected_row{errc::no_endpoint, "no_endpoint", side::upstream, 502, true},
                    expected_row{errc::connect_failed, "connect_failed", side::upstream, 502, true},
                    expected_row{errc::connect_timeout, "connect_timeout", side::upstream, 504, true},
                    expected_row{errc::queue_full, "queue_full", side::upstream, 503, true},
                    expected_row{errc::queue_timeout, "queue_timeout", side::upstream, 503, true},
                    expected_row{errc::upstream_closed_idle, "upstream_closed_idle", side::upstream, 502, false},
                    expected_row{errc::upstream_closed, "upstream_closed", side::upstream, 502, false},
                    expected_row{errc::upstream_truncated, "upstream_truncated", side::upstream, 502, false},
                    expected_row{errc::upstream_bad_response, "upstream_bad_response", side::upstream, 502, false},
                    expected_row{errc::upstream_head_too_large, "upstream_head_too_large", side::upstream, 502, false},
                    expected_row{errc::upstream_first_byte_timeout, "upstream_first_byte_timeout", side::upstream, 504,
                                 false},
                    expected_row{errc::upstream_idle_timeout, "upstream_idle_timeout", side::upstream, 504, false},
                    expected_row{errc::upstream_total_timeout, "upstream_total_timeout", side::upstream, 504, false},
                    expected_row{errc::store_miss, "store_miss", side::store, 500, false},
                    expected_row{errc::store_timeout, "store_timeout", side::store, 500, false},
                    expected_row{errc::store_unavailable, "store_unavailable", side::store, 500, false},
                    expected_row{errc::store_corrupt, "store_corrupt", side::store, 500, false},
                    expected_row{errc::store_too_large, "store_too_large", side::store, 500, false},
                    expected_row{errc::shutting_down, "shutting_down", side::self, 503, false},
                    expected_row{errc::internal, "internal", side::self, 500, false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Error, NamesAreDistinct) {
    std::set<std::string_view> names;
    for (int value = 0; value <= static_cast<int>(errc::internal); ++value) {
        EXPECT_TRUE(names.insert(error_name(error_code(value, etagere_category()))).second) << value;
    }
}

TEST(Error, OfAnotherCategoryIsOursAndNeverRetried) {
    const error_code ec = boost::system::errc::make_error_code(boost::system::errc::connection_reset);
    EXPECT_EQ(error_name(ec), "io");
    EXPECT_EQ(error_side(ec), side::self);
    EXPECT_EQ(http_status(ec), 500);
    EXPECT_FALSE(nothing_was_sent(ec));
}

TEST(Error, OutOfTheTableIsNotRead) {
    EXPECT_EQ(error_name(error_code(-1, etagere_category())), "io");
    EXPECT_EQ(error_name(error_code(1000, etagere_category())), "io");
}

TEST(Error, FailMakesAnUnexpectedResult) {
    const result<int> r = fail(errc::bad_host);
    ASSERT_FALSE(r.has_value());
    EXPECT_EQ(r.error(), errc::bad_host);
    EXPECT_STREQ(r.error().category().name(), "etagere");
}

}  // namespace
}  // namespace etagere
