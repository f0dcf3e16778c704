// RFC 9110 §13: what the client's own condition makes of a response.
#include "unit/cache/support.hpp"

#include <array>

namespace etagere::cache::test {
namespace {

using enum precondition;

struct condition_case {
    std::string name;
    field_list request;
    precondition expected;
    std::string etag = "\"v2\"";
    bool dated = true;  // Last-Modified: t0
    int status = 200;
    std::string method = "GET";
};
class Preconditions : public ::testing::TestWithParam<condition_case> {};

TEST_P(Preconditions, InTheOrderOfTheRfc) {
    const condition_case& c = GetParam();
    const auto last_modified = c.dated ? std::optional(std::chrono::floor<seconds>(t0)) : std::optional<wall_seconds>{};
    EXPECT_EQ(
        evaluate_preconditions(make_request(c.request, c.method), c.status, c.etag, last_modified, policy{}, t0 + 1h),
        c.expected);
}

const std::string at = date(t0);
const std::string before = date(t0 - 1s);
const std::string after = date(t0 + 1s);

INSTANTIATE_TEST_SUITE_P(
    IfNoneMatch, Preconditions,
    ::testing::Values(condition_case{"None", {}, proceed},
                      condition_case{"Equal", {{"If-None-Match", "\"v2\""}}, not_modified},
                      condition_case{"Other", {{"If-None-Match", "\"v1\""}}, proceed},
                      // B14
                      condition_case{"WeakOfStrong", {{"If-None-Match", "W/\"v2\""}}, not_modified},
                      condition_case{"StrongOfWeak", {{"If-None-Match", "\"v2\""}}, not_modified, "W/\"v2\""},
                      condition_case{"InAList", {{"If-None-Match", "\"v0\", \"v2\", \"v5\""}}, not_modified},
                      condition_case{
                          "OnASecondLine", {{"If-None-Match", "\"v0\""}, {"If-None-Match", "\"v2\""}}, not_modified},
                      condition_case{"Star", {{"If-None-Match", "*"}}, not_modified},
                      condition_case{"StarWithoutATag", {{"If-None-Match", "*"}}, not_modified, ""},
                      condition_case{"NoTag", {{"If-None-Match", "\"v2\""}}, proceed, ""},
                      // the article's consumer, which cuts the quotes off with [1..-2]
                      condition_case{"QuotesLost", {{"If-None-Match", "v2"}}, not_modified},
                      condition_case{"WeakQuotesLost", {{"If-None-Match", "/\"v2"}}, not_modified, "W/\"v2\""},
                      condition_case{"QuotesLostOfAnother", {{"If-None-Match", "v1"}}, proceed},
                      condition_case{"Head", {{"If-None-Match", "\"v2\""}}, not_modified, "\"v2\"", true, 200, "HEAD"},
                      condition_case{"UnsafeMethodFails", {{"If-None-Match", "*"}}, failed, "\"v2\"", true, 200, "PUT"},
                      condition_case{"OnlyA200", {{"If-None-Match", "\"v2\""}}, proceed, "\"v2\"", true, 404}),
    case_name<condition_case>);

INSTANTIATE_TEST_SUITE_P(
    IfModifiedSince, Preconditions,
    ::testing::Values(
        condition_case{"Equal", {{"If-Modified-Since", at}}, not_modified},
        condition_case{"Later", {{"If-Modified-Since", after}}, not_modified},
        condition_case{"Earlier", {{"If-Modified-Since", before}}, proceed},
        condition_case{"OtherFormat", {{"If-Modified-Since", "Monday, 30-Nov-26 12:00:00 GMT"}}, not_modified},
        condition_case{"NoDate", {{"If-Modified-Since", "yesterday"}}, proceed},
        condition_case{"NothingToCompare", {{"If-Modified-Since", at}}, proceed, "\"v2\"", false},
        condition_case{"OnlyGetAndHead", {{"If-Modified-Since", at}}, proceed, "\"v2\"", true, 200, "OPTIONS"},
        condition_case{"Head", {{"If-Modified-Since", at}}, not_modified, "\"v2\"", true, 200, "HEAD"},
        condition_case{"OnlyA200", {{"If-Modified-Since", at}}, proceed, "\"v2\"", true, 410},
        // B16
        condition_case{"TagSaysChanged", {{"If-None-Match", "\"v1\""}, {"If-Modified-Since", at}}, proceed},
        condition_case{
            "TagSaysSame", {{"If-None-Match", "\"v2\""}, {"If-Modified-Since", date(t0 - 1h)}}, not_modified},
        condition_case{"EmptyTagListStillCounts", {{"If-None-Match", ""}, {"If-Modified-Since", at}}, proceed}),
    case_name<condition_case>);

INSTANTIATE_TEST_SUITE_P(
    IfMatchAndIfUnmodifiedSince, Preconditions,
    ::testing::Values(
        condition_case{"Equal", {{"If-Match", "\"v2\""}}, proceed},
        condition_case{"Other", {{"If-Match", "\"v1\""}}, failed}, condition_case{"Star", {{"If-Match", "*"}}, proceed},
        condition_case{"WeakIsNeverStronglyEqual", {{"If-Match", "W/\"v2\""}}, failed, "W/\"v2\""},
        condition_case{"QuotesLostAreNotRepairedHere", {{"If-Match", "v2"}}, failed},
        condition_case{"FailureBeatsNotModified", {{"If-Match", "\"v1\""}, {"If-None-Match", "\"v2\""}}, failed},
        condition_case{"ThenIfNoneMatch", {{"If-Match", "\"v2\""}, {"If-None-Match", "\"v2\""}}, not_modified},
        condition_case{"UnmodifiedSince", {{"If-Unmodified-Since", at}}, proceed},
        condition_case{"ModifiedSince", {{"If-Unmodified-Since", before}}, failed},
        condition_case{"UnmodifiedSinceNoDate", {{"If-Unmodified-Since", "x"}}, proceed},
        condition_case{"UnmodifiedSinceNothingToCompare", {{"If-Unmodified-Since", before}}, proceed, "\"v2\"", false},
        condition_case{
            "IfMatchBeatsUnmodifiedSince", {{"If-Match", "\"v2\""}, {"If-Unmodified-Since", before}}, proceed},
        condition_case{"OnlyA200", {{"If-Match", "\"v1\""}}, proceed, "\"v2\"", true, 500}),
    case_name<condition_case>);

TEST(PreconditionsStrict, WithoutLenienceTheQuotesCount) {
    policy rules;
    rules.if_none_match = http::tag_reading::strict;
    const auto evaluated = [&](const std::string& value) {
        return evaluate_preconditions(make_request({{"If-None-Match", value}}), 200, "\"v2\"", std::nullopt, rules, t0);
    };
    EXPECT_EQ(evaluated("v2"), proceed);
    EXPECT_EQ(evaluated("\"v2\""), not_modified);
}

// RFC 9111 §4.3.2: only where there is no Last-Modified, and only If-Modified-Since.
TEST(PreconditionsStored, DateStandsInForLastModified) {
    const auto evaluated = [&](const field_list& request, std::optional<wall_seconds> modified = {}) {
        return evaluate_preconditions(make_request(request), 200, "\"v2\"", modified, policy{}, t0 + 1h,
                                      {.date = std::chrono::floor<seconds>(t0)});
    };
    EXPECT_EQ(evaluated({{"If-Modified-Since", at}}), not_modified);
    EXPECT_EQ(evaluated({{"If-Modified-Since", after}}), not_modified);
    EXPECT_EQ(evaluated({{"If-Modified-Since", before}}), proceed);
    EXPECT_EQ(evaluated({{"If-Modified-Since", at}, {"If-None-Match", "\"v1\""}}), proceed);
    EXPECT_EQ(evaluated({{"If-Unmodified-Since", before}}), proceed);
    EXPECT_EQ(evaluated({{"If-Modified-Since", before}}, std::chrono::floor<seconds>(t0 - 1h)), not_modified);
    EXPECT_EQ(evaluated({{"If-Modified-Since", at}}, std::chrono::floor<seconds>(t0 + 1h)), proceed);
}

// B24
TEST(PreconditionsSuffix, OnlyWhereTheRouteSaysSo) {
    policy rules;
    const auto evaluated = [&](const stored_hints& hints = {}) {
        return evaluate_preconditions(make_request({{"If-None-Match", "W/\"v2-gzip\""}}), 200, "\"v2\"", std::nullopt,
                                      rules, t0, hints);
    };
    EXPECT_EQ(evaluated(), proceed);
    rules.repair_suffix = true;
    EXPECT_EQ(evaluated(), not_modified);
    EXPECT_EQ(evaluated({.suffix_is_another = true}), proceed);
}

TEST(SuffixNamesAnother, WhereAnotherVariantHasThatTagForItself) {
    const stored_response plain = stored({{"ETag", "\"page\""}});
    const stored_response breton = stored({{"ETag", "\"page-br\""}});
    const stored_response coded = stored({{"ETag", "\"page-br\""}, {"Content-Encoding", "br"}});
    const http::fields asks = make_fields({{"If-None-Match", "W/\"page-br\""}});
    const std::array with_breton{&plain, &breton};
    const std::array with_coded{&plain, &coded};
    EXPECT_TRUE(suffix_names_another(asks, plain, with_breton));
    EXPECT_FALSE(suffix_names_another(asks, breton, with_breton));
    EXPECT_FALSE(suffix_names_another(asks, plain, with_coded));
    EXPECT_FALSE(suffix_names_another(make_fields({{"If-None-Match", "\"page\""}}), plain, with_breton));
    EXPECT_FALSE(suffix_names_another({}, plain, with_breton));
}

// RFC 9110 §15.4.5
TEST(NotModified, CarriesWhatTheRfcNames) {
    using http::field_id;
    for (const auto id : {field_id::etag, field_id::date, field_id::cache_control, field_id::content_location,
                          field_id::expires, field_id::vary}) {
        EXPECT_TRUE(belongs_in_not_modified({id, http::canonical_name(id), ""}, true)) << http::canonical_name(id);
    }
    for (const auto id : {field_id::content_type, field_id::content_encoding, field_id::server}) {
        EXPECT_FALSE(belongs_in_not_modified({id, http::canonical_name(id), ""}, true)) << http::canonical_name(id);
    }
    EXPECT_FALSE(belongs_in_not_modified({field_id::last_modified, "Last-Modified", ""}, true));
    EXPECT_TRUE(belongs_in_not_modified({field_id::last_modified, "Last-Modified", ""}, false));
    EXPECT_TRUE(belongs_in_not_modified({field_id::cdn_cache_control, "CDN-Cache-Control", ""}, true));
    EXPECT_TRUE(belongs_in_not_modified({field_id::other, "Etagere-Cache-Control", ""}, true));
    EXPECT_FALSE(belongs_in_not_modified({field_id::other, "Etagere-Cache", ""}, true));
}

}  // namespace
}  // namespace etagere::cache::test
