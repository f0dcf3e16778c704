// RFC 9111 §4.3: asking the origin, and what its answer changes.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

using http::field_id;

http::response_head not_modified(const field_list& list) {
    http::response_head made = make_response(list, 304);
    made.body = http::framing::none();
    return made;
}

// ---------------------------------------------------------------- §4.3.1

TEST(StripConditions, TakesAllOfThemAndNothingElse) {
    http::fields request = make_fields({{"If-Match", "\"a\""},
                                        {"If-None-Match", "\"a\""},
                                        {"if-none-match", "\"b\""},
                                        {"If-Modified-Since", date(t0)},
                                        {"If-Unmodified-Since", date(t0)},
                                        {"If-Range", "\"a\""},
                                        {"Range", "bytes=0-1"},
                                        {"Accept", "x"}});
    strip_conditions(request);
    EXPECT_EQ(request.size(), 1U);
    EXPECT_EQ(request.get(field_id::accept), "x");
}

const std::string changed = date(t0 - 1h);

// ---------------------------------------------------------------- §4.3.3, §4.3.4

TEST(JudgeValidation, ByStatus) {
    const stored_response r = stored({{"ETag", "\"a\""}});
    EXPECT_EQ(judge_validation(r, make_response({}, 200)), validation::changed);
    EXPECT_EQ(judge_validation(r, make_response({}, 404)), validation::changed);
    for (const int status : {500, 502, 503, 504}) {
        EXPECT_EQ(judge_validation(r, make_response({}, status)), validation::error) << status;
    }
    EXPECT_EQ(judge_validation(r, make_response({}, 501)), validation::changed);
    EXPECT_EQ(judge_validation(r, not_modified({})), validation::freshened);
}

struct relation_case {
    std::string name;
    field_list stored;
    field_list not_modified;
    bool related;
};
class Relation : public ::testing::TestWithParam<relation_case> {};

TEST_P(Relation, OfA304ToWhatIsStored) {
    EXPECT_EQ(judge_validation(stored(GetParam().stored), not_modified(GetParam().not_modified)),
              GetParam().related ? validation::freshened : validation::unrelated);
}

const std::string changed_later = date(t0 - 1min);

INSTANTIATE_TEST_SUITE_P(
    Examples, Relation,
    ::testing::Values(
        relation_case{"SameTag", {{"ETag", "\"a\""}}, {{"ETag", "\"a\""}}, true},
        relation_case{"WeakenedTag", {{"ETag", "\"a\""}}, {{"ETag", "W/\"a\""}}, true},
        relation_case{"StrengthenedTag", {{"ETag", "W/\"a\""}}, {{"ETag", "\"a\""}}, true},
        relation_case{"OtherTag", {{"ETag", "\"v1\""}}, {{"ETag", "\"c9\""}}, false},  // B31
        relation_case{"SameMalformedTag", {{"ETag", "abc"}}, {{"ETag", "abc"}}, true},
        relation_case{"QuotedInTheMeantime", {{"ETag", "abc"}}, {{"ETag", "\"abc\""}}, false},
        relation_case{"NoTagInThe304", {{"ETag", "\"a\""}}, {}, true},
        relation_case{"SameTagOtherDate",
                      {{"ETag", "\"a\""}, {"Last-Modified", changed}},
                      {{"ETag", "\"a\""}, {"Last-Modified", changed_later}},
                      true},
        relation_case{"SameDate", {{"Last-Modified", changed}}, {{"Last-Modified", changed}}, true},
        relation_case{"OtherDate", {{"Last-Modified", changed}}, {{"Last-Modified", changed_later}}, false},
        relation_case{"DateWhereThereWasNone", {{"ETag", "\"a\""}}, {{"Last-Modified", changed}}, false},
        relation_case{
            "NewTagSameDate", {{"Last-Modified", changed}}, {{"ETag", "\"a\""}, {"Last-Modified", changed}}, true},
        relation_case{"NewTagOtherDate",
                      {{"Last-Modified", changed}},
                      {{"ETag", "\"a\""}, {"Last-Modified", changed_later}},
                      false},
        relation_case{"NewTagNoDate", {{"Last-Modified", changed}}, {{"ETag", "\"a\""}}, false},
        relation_case{
            "SameVary", {{"ETag", "\"a\""}, {"Vary", "Accept, Foo"}}, {{"Vary", "foo"}, {"Vary", "accept"}}, true},
        relation_case{"NarrowerVary", {{"ETag", "\"a\""}, {"Vary", "Accept, Foo"}}, {{"Vary", "foo"}}, true},
        relation_case{"WiderVary", {{"ETag", "\"a\""}, {"Vary", "Accept"}}, {{"Vary", "Accept, Foo"}}, false},
        relation_case{"VaryStar", {{"ETag", "\"a\""}, {"Vary", "Accept"}}, {{"Vary", "*"}}, false}),
    case_name<relation_case>);

// B05: whatever an origin answers to a refresh, a 304 revives no stored error.
TEST(ValidationOfAnError, IsNone) {
    const stored_response r = stored({{"ETag", "\"a\""}, {"Cache-Control", "max-age=1"}}, 404);
    EXPECT_FALSE(can_validate(r));
    EXPECT_EQ(judge_validation(r, not_modified({{"ETag", "\"a\""}})), validation::unrelated);
}

// ---------------------------------------------------------------- §3.2

stored_response freshened(const field_list& was, const field_list& with) {
    return freshen(stored(was), not_modified(with), policy{}, t0 + 9s, t0 + 10s);
}

// B07
TEST(Freshen, MakesItYoungAgain) {
    const stored_response r = freshened({{"Cache-Control", "max-age=2"}, {"ETag", "\"a\""}, {"Age", "50"}},
                                        {{"Cache-Control", "max-age=60"}, {"ETag", "\"a\""}, {"Date", date(t0 + 10s)}});
    EXPECT_EQ(r.request_time, t0 + 9s);
    EXPECT_EQ(r.response_time, t0 + 10s);
    EXPECT_EQ(r.age_value, 0s);
    EXPECT_EQ(current_age(r, t0 + 15s), 6s);  // one second of it on the way
    EXPECT_EQ(freshness_lifetime(r, policy{}), 60s);
    EXPECT_EQ(decide_reuse(&r, false, make_request(), policy{}, t0 + 15s).what, reuse_action::serve);
}

TEST(Freshen, TakesTheAgeOfA304FromAnotherCache) {
    EXPECT_EQ(freshened({{"ETag", "\"a\""}}, {{"Age", "30"}}).age_value, 30s);
}

TEST(Freshen, StatusBodyAndSelectionStay) {
    stored_response r = stored({{"ETag", "\"a\""}, {"Vary", "Foo"}}, 200, {{"Foo", "1"}});
    r.always_validate = true;
    r.body_size = 77;
    const stored_response fresh = freshen(r, not_modified({{"ETag", "\"a\""}}), policy{}, t0, t0);
    EXPECT_EQ(fresh.status, 200);
    EXPECT_EQ(fresh.body_size, 77U);
    EXPECT_EQ(fresh.selecting, r.selecting);
    EXPECT_TRUE(fresh.always_validate);
}

struct field_case {
    std::string name;
    std::string field;
    std::vector<std::string> was;
    std::vector<std::string> with;
    std::optional<std::string> becomes;
};
class FreshenField : public ::testing::TestWithParam<field_case> {};

TEST_P(FreshenField, IsReplacedOrStays) {
    const field_case& c = GetParam();
    field_list was;
    field_list with;
    for (const std::string& v : c.was) was.emplace_back(c.field, v);
    for (const std::string& v : c.with) with.emplace_back(c.field, v);
    EXPECT_EQ(freshened(was, with).header.combined(c.field), c.becomes);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, FreshenField,
    ::testing::Values(field_case{"Plain", "Test-Header", {"A"}, {"B"}, "B"},
                      field_case{"New", "Test-Header", {}, {"B"}, "B"},
                      field_case{"Kept", "Test-Header", {"A"}, {}, "A"},
                      field_case{"Repeated", "Foo", {"a", "b"}, {"c", "d"}, "c, d"},  // B20
                      field_case{"RepeatedKept", "Foo", {"a", "b"}, {}, "a, b"},
                      field_case{"UnknownContentField", "Content-Foo", {"A"}, {"B"}, "B"},
                      field_case{"CacheControl", "Cache-Control", {"max-age=1"}, {"max-age=3600"}, "max-age=3600"},
                      field_case{"Expires", "Expires", {"0"}, {"1"}, "1"},
                      field_case{"LastModified", "Last-Modified", {changed}, {changed_later}, changed_later},
                      field_case{"ContentLocation", "Content-Location", {"/foo"}, {"/bar"}, "/bar"},
                      field_case{"ContentLength", "Content-Length", {}, {"0"}, std::nullopt},         // B09
                      field_case{"ContentEncoding", "Content-Encoding", {}, {"gzip"}, std::nullopt},  // B12
                      field_case{"ContentType", "Content-Type", {"text/plain"}, {"text/html"}, "text/plain"},
                      field_case{"ContentRange", "Content-Range", {}, {"bytes 0-1/2"}, std::nullopt},
                      field_case{"ContentMd5", "Content-MD5", {"a"}, {"b"}, "a"},
                      field_case{"TransferEncoding", "Transfer-Encoding", {}, {"chunked"}, std::nullopt},
                      field_case{"SetCookie", "Set-Cookie", {}, {"a=b"}, std::nullopt},  // S209
                      field_case{"RequestId", "X-Request-Id", {}, {"1"}, std::nullopt},
                      field_case{"TagWeakened", "ETag", {"\"a\""}, {"W/\"a\""}, "\"a\""},
                      field_case{"TagStrengthened", "ETag", {"W/\"a\""}, {"\"a\""}, "W/\"a\""},
                      field_case{"TagNew", "ETag", {}, {"\"a\""}, "\"a\""},
                      field_case{"TagKept", "ETag", {"\"a\""}, {}, "\"a\""},
                      field_case{"VaryMissing", "Vary", {"Accept"}, {}, "Accept"},
                      field_case{"VaryNarrower", "Vary", {"Accept, Foo"}, {"Foo"}, "Accept, Foo"},
                      field_case{"DateNew", "Date", {date(t0)}, {date(t0 + 8s)}, date(t0 + 8s)},
                      field_case{"DateMissing", "Date", {date(t0)}, {}, date(t0 + 10s)},
                      field_case{"DateJunk", "Date", {date(t0)}, {"now"}, date(t0 + 10s)}),
    case_name<field_case>);

TEST(Freshen, ATagOfTheOriginTakesThePlaceOfOurs) {
    stored_response r = stored({{"ETag", "W/\"ours\""}, {"Last-Modified", changed}});
    r.own_etag = true;
    const stored_response kept = freshen(r, not_modified({{"Last-Modified", changed}}), policy{}, t0, t0);
    EXPECT_EQ(kept.etag(), "W/\"ours\"");
    EXPECT_TRUE(kept.own_etag);
    const stored_response theirs =
        freshen(r, not_modified({{"ETag", "\"theirs\""}, {"Last-Modified", changed}}), policy{}, t0, t0);
    EXPECT_EQ(theirs.etag(), "\"theirs\"");
    EXPECT_FALSE(theirs.own_etag);
}

// Whether a 304 repeats what is stored or not: what is derived is what the fields say.
TEST(Freshen, WhatIsDerivedFollowsTheFields) {
    const std::string young = date(t0 + 8s);
    const field_list was{{"Date", date(t0)}, {"Cache-Control", "max-age=2"},
                         {"ETag", "\"a\""},  {"Last-Modified", changed},
                         {"Link", "<1>"},    {"Link", "<2>"},
                         {"X-One", "1"}};
    const std::vector<field_list> answers{
        {},
        {{"Date", young}},
        {{"Date", young}, {"Cache-Control", "max-age=2"}, {"ETag", "\"a\""}, {"X-One", "1"}},
        {{"Date", young}, {"ETag", "W/\"a\""}},
        {{"Date", young}, {"Cache-Control", "max-age=3"}},
        {{"Date", young}, {"Cache-Control", "max-age=2"}, {"Cache-Control", "no-cache"}},
        {{"Date", young}, {"Link", "<1>"}},
        {{"Date", young}, {"x-one", "1"}},
        {{"Date", young}, {"X-Two", "2"}},
        {{"Date", "Monday, 30-Nov-26 12:00:08 GMT"}},
        {{"Date", "now"}, {"ETag", "\"a\""}},
        {{"Date", young}, {"Expires", date(t0 + 1h)}},
        {{"Date", young}, {"Content-Type", "text/html"}, {"Set-Cookie", "a=b"}},
    };
    for (const field_list& with : answers) {
        SCOPED_TRACE(testing::PrintToString(with));
        const stored_response fresh = freshened(was, with);
        const std::string dated = fresh.header.combined(field_id::date).value_or("");
        EXPECT_TRUE(with.empty() || with[0].second == "now" ? dated == date(t0 + 10s) : dated == with[0].second)
            << dated;
        stored_response again = fresh;
        again.index();
        EXPECT_EQ(fresh.date, again.date);
        EXPECT_EQ(fresh.expires, again.expires);
        EXPECT_EQ(fresh.last_modified, again.last_modified);
        EXPECT_EQ(fresh.etag(), again.etag());
        EXPECT_EQ(fresh.directives.max_age, again.directives.max_age);
        EXPECT_EQ(fresh.directives.no_cache, again.directives.no_cache);
        EXPECT_EQ(fresh.response_time, t0 + 10s);
    }
    EXPECT_EQ(freshened(was, {{"Date", young}, {"Link", "<1>"}}).header.combined("Link"), "<1>");
    EXPECT_EQ(freshened(was, {{"Date", young}, {"Cache-Control", "max-age=3"}}).directives.max_age, 3);
}

// What is not made anew has to be what would have been made.
TEST(SaysNothingNew, OnlyWhereFresheningWouldChangeNothing) {
    const std::string same = date(t0);
    const field_list was{{"Date", same}, {"Cache-Control", "no-cache"}, {"ETag", "\"a\""}, {"X-One", "1"}};
    const stored_response r = stored(was);
    const auto nothing_new = [](const stored_response& of, const field_list& with, milliseconds after) {
        return says_nothing_new(of, not_modified(with), policy{}, of.response_time + after);
    };
    for (const field_list& with : std::vector<field_list>{
             {{"Date", same}},
             {{"Date", same}, {"ETag", "\"a\""}},
             {{"X-One", "1"}, {"Cache-Control", "no-cache"}, {"Date", same}, {"ETag", "\"a\""}},
             {{"Date", same}, {"Content-Type", "text/html"}},  // describes the bytes, and stays
             {{"Date", same}, {"ETag", "W/\"a\""}, {"Vary", "X"}},
         }) {
        SCOPED_TRACE(testing::PrintToString(with));
        EXPECT_TRUE(nothing_new(r, with, 0ms));
        EXPECT_TRUE(nothing_new(r, with, 999ms));
        EXPECT_FALSE(nothing_new(r, with, 1s)) << "it has to be kept on";
        EXPECT_FALSE(nothing_new(r, with, -1ms)) << "the clock was put back";
        const wall_time then = r.response_time + 999ms;
        const stored_response fresh = freshen(r, not_modified(with), policy{}, then, then);
        EXPECT_EQ(fresh.header.octets(), r.header.octets());
        EXPECT_EQ(current_age(fresh, then + 5s), current_age(r, then + 5s));
        EXPECT_EQ(fresh.date, r.date);
    }
    for (const field_list& with : std::vector<field_list>{
             {},  // dated by us, now
             {{"Date", date(t0 + 1s)}},
             {{"Date", same}, {"Date", same}},
             {{"Date", same}, {"Cache-Control", "max-age=1"}},
             {{"Date", same}, {"X-One", "2"}},
             {{"Date", same}, {"X-Two", "1"}},
             {{"Date", same}, {"Age", "0"}},
         }) {
        EXPECT_FALSE(nothing_new(r, with, 0ms)) << testing::PrintToString(with);
    }
    const field_list no_date{{"ETag", "\"a\""}, {"Date", "never"}};
    EXPECT_FALSE(nothing_new(stored(no_date), no_date, 0ms));
    EXPECT_FALSE(nothing_new(stored({{"Date", same}, {"Age", "9"}}), {{"Date", same}}, 0ms)) << "it is younger now";
    stored_response tagged_by_us = stored(was);
    tagged_by_us.own_etag = true;
    EXPECT_TRUE(nothing_new(tagged_by_us, {{"Date", same}}, 0ms));
    EXPECT_FALSE(nothing_new(tagged_by_us, {{"Date", same}, {"ETag", "\"a\""}}, 0ms));
}

// A 304 may withdraw the permission: then nothing serves it any more and the store lets it go.
TEST(Freshen, NoStoreInA304EndsIt) {
    const stored_response r = freshened({{"Cache-Control", "max-age=2"}, {"ETag", "\"a\""}},
                                        {{"Cache-Control", "no-store"}, {"ETag", "\"a\""}});
    EXPECT_EQ(keep_until(r, policy{}), r.response_time);
    EXPECT_EQ(decide_reuse(&r, false, make_request(), policy{}, t0 + 10s).what, reuse_action::fetch);
    EXPECT_FALSE(may_answer_others(r, policy{}));
    EXPECT_FALSE(may_serve_on_error(r, policy{.stale_if_error = 60s}, origin_failure::error_status, t0 + 10s));
}

}  // namespace
}  // namespace etagere::cache::test
