// RFC 9213: fields that stand above Cache-Control.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

const std::vector<std::string> both{"Etagere-Cache-Control", "CDN-Cache-Control"};

struct governing_case {
    std::string name;
    field_list header;
    std::string governs;
};
class Governing : public ::testing::TestWithParam<governing_case> {};

TEST_P(Governing, IsTheFirstThatIsADictionaryWithAMember) {
    EXPECT_EQ(governing_field(make_fields(GetParam().header), both), GetParam().governs);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, Governing,
    ::testing::Values(
        governing_case{"None", {{"Cache-Control", "max-age=1"}}, ""},
        governing_case{"Cdn", {{"Cache-Control", "max-age=1"}, {"CDN-Cache-Control", "max-age=2"}}, both[1]},
        governing_case{"OwnFirst", {{"CDN-Cache-Control", "max-age=1"}, {"etagere-cache-control", "a"}}, both[0]},
        governing_case{"Empty", {{"Etagere-Cache-Control", ""}, {"CDN-Cache-Control", "no-store"}}, both[1]},
        governing_case{"UnknownDirectivesOnly", {{"CDN-Cache-Control", "foobar"}}, both[1]},
        governing_case{"NoDictionary", {{"CDN-Cache-Control", "max-age=10000, &&&&&"}}, ""},
        governing_case{"UpperCaseKey", {{"CDN-Cache-Control", "MaX-aGe=1"}}, ""},
        governing_case{"SpaceBeforeEquals", {{"CDN-Cache-Control", "max-age =1"}}, ""},
        governing_case{"SpaceAfterEquals", {{"CDN-Cache-Control", "max-age= 1"}}, ""},
        governing_case{"TrailingComma", {{"CDN-Cache-Control", "max-age=1,"}}, ""},
        governing_case{"QuotedNumber", {{"CDN-Cache-Control", "max-age=\"10000\""}}, ""},
        governing_case{"Decimal", {{"CDN-Cache-Control", "max-age=1.5"}}, ""},
        governing_case{"ListOfNumbers", {{"CDN-Cache-Control", "max-age=(1 2)"}}, ""},
        governing_case{"NoNumber", {{"CDN-Cache-Control", "max-age"}}, ""},
        governing_case{"WrongInTheFirstGoesToTheSecond",
                       {{"Etagere-Cache-Control", "max-age=x"}, {"CDN-Cache-Control", "max-age=1"}},
                       both[1]},
        governing_case{"TwoLinesAreOne", {{"CDN-Cache-Control", "a"}, {"CDN-Cache-Control", "max-age=x"}}, ""}),
    case_name<governing_case>);

TEST(Governing, NothingWhereTheRouteNamesNone) {
    EXPECT_EQ(governing_field(make_fields({{"CDN-Cache-Control", "max-age=2"}}), {}), "");
}

response_directives targeted(const std::string& value) {
    return parse_response_directives(make_fields({{"Cache-Control", "no-store"}, {"CDN-Cache-Control", value}}),
                                     "CDN-Cache-Control");
}

TEST(TargetedDirectives, AreReadFromTheirFieldAlone) {
    const auto d = targeted("max-age=60, s-maxage=70, stale-while-revalidate=1, stale-if-error=2, must-revalidate");
    EXPECT_TRUE(d.seen && d.must_revalidate);
    EXPECT_FALSE(d.no_store);
    EXPECT_EQ(d.max_age, 60);
    EXPECT_EQ(d.s_maxage, 70);
    EXPECT_EQ(d.stale_while_revalidate, 1);
    EXPECT_EQ(d.stale_if_error, 2);
}

TEST(TargetedDirectives, OfOneNameTheLastCounts) {
    EXPECT_EQ(targeted("max-age=60, max-age=1").max_age, 1);
    EXPECT_FALSE(targeted("no-store, no-store=?0").no_store);
}

TEST(TargetedDirectives, RestrictWithWhateverValueAndPermitOnlyAsTrue) {
    EXPECT_TRUE(targeted("private=\"x\"").private_);
    EXPECT_TRUE(targeted("no-cache=(\"a\" \"b\")").no_cache);
    EXPECT_TRUE(targeted("no-store;x=1").no_store);
    EXPECT_FALSE(targeted("private=?0").private_);
    EXPECT_TRUE(targeted("public").public_);
    EXPECT_FALSE(targeted("public=1").public_);
}

TEST(TargetedDirectives, NegativeIsStaleAndLargeIsLarge) {
    EXPECT_EQ(targeted("max-age=-5").max_age, 0);
    EXPECT_EQ(targeted("max-age=99999999999").max_age, 99999999999);
}

// ---------------------------------------------------------------- what follows from it

TEST(Targeted, NeitherCacheControlNorExpiresCounts) {
    const policy rules;
    const auto lifetime = [&](const field_list& header) { return freshness_lifetime(stored(header), rules); };
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=3600"}, {"Cache-Control", "max-age=1"}}), 3600s);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=1"}, {"Cache-Control", "s-maxage=3600"}}), 1s);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "foo"}, {"Expires", date(t0 + 1h)}}), 0s);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "max-age=5"}, {"Expires", "0"}}), 5s);
    EXPECT_EQ(lifetime({{"CDN-Cache-Control", "&"}, {"Expires", date(t0 + 1h)}}), 3600s);
}

TEST(Targeted, DecidesWhetherItIsKept) {
    const policy rules;
    const auto why = [&](const field_list& header) {
        return judge_storability(make_request({}), make_response(header), rules, t0).why;
    };
    EXPECT_EQ(why({{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=10"}}), reason::none);
    EXPECT_EQ(why({{"Cache-Control", "max-age=10"}, {"CDN-Cache-Control", "no-store"}}), reason::nostore_no_store);
    EXPECT_EQ(why({{"Cache-Control", "max-age=10"}, {"CDN-Cache-Control", "private"}}), reason::nostore_private);
    EXPECT_EQ(why({{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=\"10\""}}), reason::nostore_no_store);
}

TEST(Targeted, A304MovesTheGovernmentAlong) {
    const policy rules;
    const stored_response before =
        stored({{"ETag", "\"a\""}, {"CDN-Cache-Control", "max-age=60"}, {"Cache-Control", "no-cache"}});
    EXPECT_EQ(before.rest->control, "CDN-Cache-Control");
    const stored_response longer =
        freshen(before, make_response({{"CDN-Cache-Control", "max-age=90"}}, 304), rules, t0, t0);
    EXPECT_EQ(freshness_lifetime(longer, rules), 90s);
    const stored_response broken = freshen(before, make_response({{"CDN-Cache-Control", "&"}}, 304), rules, t0, t0);
    EXPECT_EQ(broken.rest->control, "");
    EXPECT_TRUE(broken.directives.no_cache);
}

// ---------------------------------------------------------------- RFC 9110 §9.3.3

TEST(AnswersLaterGets, WhereItNamesItselfAndItsLifetime) {
    const policy rules;
    const auto answers = [&](const field_list& header, std::string_view method = "POST") {
        http::request_head request = make_request({}, method);
        request.target = "/a?b=1";
        return answers_later_gets(request, make_response(header), rules, t0);
    };
    EXPECT_TRUE(answers({{"Cache-Control", "max-age=60"}, {"Content-Location", "/a?b=1"}}));
    EXPECT_TRUE(answers({{"Cache-Control", "max-age=60"}, {"Content-Location", ""}}));
    EXPECT_TRUE(answers({{"Expires", date(t0 + 60s)}, {"Content-Location", "?b=1"}}));
    EXPECT_FALSE(answers({{"Cache-Control", "max-age=60"}}));
    EXPECT_FALSE(answers({{"Cache-Control", "max-age=60"}, {"Content-Location", "/a"}}));
    EXPECT_FALSE(answers({{"Cache-Control", "max-age=60"}, {"Content-Location", "http://other.example/a?b=1"}}));
    EXPECT_FALSE(answers({{"ETag", "\"a\""}, {"Content-Location", "/a?b=1"}}));
    EXPECT_FALSE(answers({{"Cache-Control", "max-age=0"}, {"Content-Location", "/a?b=1"}}));
    EXPECT_FALSE(answers({{"Cache-Control", "max-age=60"}, {"Content-Location", "/a?b=1"}}, "PUT"));
}

// ---------------------------------------------------------------- RFC 9111 §4.3.5

TEST(HeadConfirms, WhereValidatorsAndLengthAgree) {
    stored_response r = stored({{"ETag", "\"a\""}, {"Last-Modified", date(t0 - 1h)}});
    r.body_size = 10;
    const auto confirms = [&](const field_list& header, std::int64_t length = 10, int status = 200) {
        http::response_head answer = make_response(header, status);
        answer.declared_length = length;
        return head_confirms(r, answer);
    };
    EXPECT_TRUE(confirms({{"ETag", "\"a\""}}));
    EXPECT_TRUE(confirms({{"ETag", "W/\"a\""}}, -1));
    EXPECT_TRUE(confirms({{"Last-Modified", date(t0 - 1h)}}));
    EXPECT_FALSE(confirms({{"ETag", "\"b\""}}));
    EXPECT_FALSE(confirms({{"ETag", "\"a\""}}, 11));
    EXPECT_FALSE(confirms({{"Last-Modified", date(t0)}}));
    EXPECT_FALSE(confirms({}));
    EXPECT_FALSE(confirms({{"ETag", "\"a\""}}, 10, 404));
}

// ---------------------------------------------------------------- profile rfc

TEST(PlainCookies, AreFieldsLikeOthers) {
    policy rules;
    rules.cookies = cookie_rule::plain;
    const field_list header{{"Cache-Control", "max-age=60"}, {"Set-Cookie", "a=1"}, {"Set-Cookie2", "b=2"}};
    EXPECT_TRUE(judge_storability(make_request({{"Cookie", "x=1"}}), make_response(header), rules, t0).store);
    EXPECT_EQ(
        make_stored(make_request({}), make_response(header), rules, t0, t0).header.get(http::field_id::set_cookie),
        "a=1");
    EXPECT_FALSE(
        make_stored(make_request({}), make_response(header), policy{}, t0, t0).header.has(http::field_id::set_cookie));
}

TEST(StaleIfUnreachable, IsForNoAnswerAtAll) {
    policy rules;
    rules.stale_if_unreachable = 60s;
    const auto may = [&](const char* control, origin_failure how, seconds later) {
        return may_serve_on_error(stored({{"Cache-Control", control}}), rules, how, t0 + later);
    };
    EXPECT_TRUE(may("max-age=1", origin_failure::no_answer, 30s));
    EXPECT_FALSE(may("max-age=1", origin_failure::error_status, 30s));
    EXPECT_FALSE(may("max-age=1", origin_failure::no_answer, 61s));
    EXPECT_FALSE(may("max-age=1, must-revalidate", origin_failure::no_answer, 30s));
    EXPECT_FALSE(may("s-maxage=1", origin_failure::no_answer, 30s));
    EXPECT_GE(keep_until(stored({{"Cache-Control", "max-age=1"}}), rules), t0 + 60s);
}

}  // namespace
}  // namespace etagere::cache::test
