// RFC 9111 §4.1: which stored response a request selects.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

struct match_case {
    std::string name;
    std::vector<std::string> vary;
    field_list stored_for;
    field_list asked_with;
    bool matches;
    policy rules{};
};
class Selection : public ::testing::TestWithParam<match_case> {};

TEST_P(Selection, ComparesNominatedFields) {
    const match_case& c = GetParam();
    field_list response{{"Cache-Control", "max-age=60"}};
    for (const std::string& line : c.vary) response.emplace_back("Vary", line);
    const stored_response r = stored(response, 200, c.stored_for, c.rules);
    const stored_response* const variants[] = {&r};
    EXPECT_EQ(select_variant(variants, make_request(c.asked_with), c.rules), c.matches ? 0 : -1);
}

INSTANTIATE_TEST_SUITE_P(
    Any, Selection,
    ::testing::Values(
        match_case{"NoVary", {}, {{"Foo", "1"}}, {{"Foo", "2"}}, true},
        match_case{"Equal", {"Foo"}, {{"Foo", "1"}}, {{"Foo", "1"}}, true},
        match_case{"Differs", {"Foo"}, {{"Foo", "1"}}, {{"Foo", "2"}}, false},
        match_case{"NameInAnyCase", {"FOO"}, {{"foo", "1"}}, {{"fOo", "1"}}, true},
        match_case{"OthersDoNotCount", {"Foo"}, {{"Foo", "1"}, {"Bar", "1"}}, {{"Foo", "1"}, {"Bar", "2"}}, true},
        match_case{"BothAbsent", {"Foo"}, {}, {}, true}, match_case{"AbsentThen", {"Foo"}, {}, {{"Foo", "1"}}, false},
        match_case{"AbsentNow", {"Foo"}, {{"Foo", "1"}}, {}, false},
        match_case{"EmptyIsNotAbsent", {"Foo"}, {{"Foo", ""}}, {}, false},
        match_case{"AbsentIsNotEmpty", {"Foo"}, {}, {{"Foo", ""}}, false},
        match_case{"AllOfSeveral", {"Foo, Bar"}, {{"Foo", "1"}, {"Bar", "2"}}, {{"Bar", "2"}, {"Foo", "1"}}, true},
        match_case{
            "OneOfSeveralDiffers", {"Foo, Bar"}, {{"Foo", "1"}, {"Bar", "2"}}, {{"Foo", "1"}, {"Bar", "3"}}, false},
        // B39: several Vary lines
        match_case{
            "FirstLineCounts", {"X-A", "X-B"}, {{"X-A", "1"}, {"X-B", "1"}}, {{"X-A", "2"}, {"X-B", "1"}}, false},
        match_case{
            "SecondLineCounts", {"X-A", "X-B"}, {{"X-A", "1"}, {"X-B", "1"}}, {{"X-A", "1"}, {"X-B", "2"}}, false},
        match_case{"SpaceAroundCommas", {"Foo"}, {{"Foo", "1,2"}}, {{"Foo", " 1 ,  2 "}}, true},
        match_case{"LinesAreOneList", {"Foo"}, {{"Foo", "1, 2"}}, {{"Foo", "1"}, {"Foo", "2"}}, true},
        match_case{"OrderCounts", {"Foo"}, {{"Foo", "1, 2"}}, {{"Foo", "2, 1"}}, false},
        match_case{"CaseCounts", {"Foo"}, {{"Foo", "a"}}, {{"Foo", "A"}}, false},
        match_case{"SpaceInAQuotedStringCounts", {"Foo"}, {{"Foo", "\"1,2\""}}, {{"Foo", "\"1, 2\""}}, false},
        match_case{"CookieIsNoList", {"Cookie"}, {{"Cookie", "a=1,2"}}, {{"Cookie", "a=1, 2"}}, false},
        match_case{
            "UserAgentIsNoList", {"User-Agent"}, {{"User-Agent", "x (a,b)"}}, {{"User-Agent", "x (a, b)"}}, false},
        match_case{"CookieLinesAreCompared", {"Cookie"}, {{"Cookie", "a"}, {"Cookie", "b"}}, {{"Cookie", "a"}}, false},
        match_case{"NamedTwice", {"Foo, foo", "FOO"}, {{"Foo", "1"}}, {{"Foo", "1"}}, true}),
    case_name<match_case>);

// B46: coded bytes without Vary
TEST(CodedBytes, AreForThoseWhoAskAlike) {
    const stored_response coded =
        stored({{"Cache-Control", "max-age=60"}, {"Content-Encoding", "gzip"}}, 200, {{"Accept-Encoding", "gzip"}});
    const stored_response* const variants[] = {&coded};
    EXPECT_EQ(select_variant(variants, make_request({{"Accept-Encoding", "gzip"}}), {}), 0);
    EXPECT_EQ(select_variant(variants, make_request({{"Accept-Encoding", "identity"}}), {}), -1);
    EXPECT_EQ(select_variant(variants, make_request({}), {}), -1);
}

policy verbatim() {
    policy rules;
    rules.normalize_accept_encoding = rules.normalize_accept_language = false;
    return rules;
}

INSTANTIATE_TEST_SUITE_P(
    Preferences, Selection,
    ::testing::Values(
        match_case{
            "Order", {"Accept-Encoding"}, {{"Accept-Encoding", "gzip, br"}}, {{"Accept-Encoding", "br,gzip"}}, true},
        match_case{"Case", {"Accept-Encoding"}, {{"Accept-Encoding", "GZip"}}, {{"Accept-Encoding", "gzip"}}, true},
        match_case{"SpellingsOfOne",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip;q=1.000, br;q=0.50"}},
                   {{"Accept-Encoding", "br ; q=0.5, gzip"}},
                   true},
        match_case{"SpellingsOfZero",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip, br;q=0.00"}},
                   {{"Accept-Encoding", "gzip, br;Q=0"}},
                   true},
        match_case{"ThousandthsCount",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "br;q=0.501"}},
                   {{"Accept-Encoding", "br;q=0.51"}},
                   false},
        match_case{"WeightCounts",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip, br;q=0.5"}},
                   {{"Accept-Encoding", "gzip;q=0.5, br"}},
                   false},
        match_case{"PrefixIsAnother",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzi, gzip"}},
                   {{"Accept-Encoding", "gzip"}},
                   false},
        // B36: both lines count
        match_case{"SeveralLines",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "br"}},
                   {{"Accept-Encoding", "gzip"}},
                   false},
        match_case{"SeveralLinesAreAList",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip"}, {"Accept-Encoding", "br"}},
                   {{"Accept-Encoding", "br, gzip"}},
                   true},
        match_case{"LanguageOrder",
                   {"Accept-Language"},
                   {{"Accept-Language", "en, de"}},
                   {{"Accept-Language", "de, en"}},
                   true},
        match_case{"LanguageCase",
                   {"Accept-Language"},
                   {{"Accept-Language", "en, de"}},
                   {{"Accept-Language", "eN, De"}},
                   true},
        match_case{"LanguageSpace",
                   {"Accept-Language"},
                   {{"Accept-Language", "en, de"}},
                   {{"Accept-Language", " en ,   de"}},
                   true},
        // Q1 of the public suite: to pick a language from what is stored is the origin's business
        match_case{"LanguageIsNotNegotiatedHere",
                   {"Accept-Language"},
                   {{"Accept-Language", "en, de"}},
                   {{"Accept-Language", "fr;q=0.5, de;q=1.0"}},
                   false},
        match_case{"NotWhereTheRouteSaysNo",
                   {"Accept-Language"},
                   {{"Accept-Language", "en, de"}},
                   {{"Accept-Language", "de, en"}},
                   false,
                   verbatim()},
        match_case{"OtherFieldsKeepTheirOrder", {"Accept"}, {{"Accept", "a/b, c/d"}}, {{"Accept", "c/d, a/b"}}, false},
        // what does not parse in full is compared as it stands
        match_case{"TwiceTheSame",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "gzip, gzip;q=0"}},
                   {{"Accept-Encoding", "gzip;q=0, gzip"}},
                   false},
        match_case{"BadWeight",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=2, b"}},
                   {{"Accept-Encoding", "b, a;q=2"}},
                   false},
        match_case{"BadWeightTooFine",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=0.1234, b"}},
                   {{"Accept-Encoding", "b, a;q=0.1234"}},
                   false},
        match_case{"BadWeightLetters",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=0.x, b"}},
                   {{"Accept-Encoding", "b, a;q=0.x"}},
                   false},
        match_case{"BadWeightAboveOne",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=1.5, b"}},
                   {{"Accept-Encoding", "b, a;q=1.5"}},
                   false},
        match_case{"BadWeightNoDot",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=01, b"}},
                   {{"Accept-Encoding", "b, a;q=01"}},
                   false},
        match_case{"OtherParameter",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;x=1, b"}},
                   {{"Accept-Encoding", "b, a;x=1"}},
                   false},
        match_case{
            "NoToken", {"Accept-Encoding"}, {{"Accept-Encoding", "a b, c"}}, {{"Accept-Encoding", "c, a b"}}, false},
        match_case{"BadButEqual",
                   {"Accept-Encoding"},
                   {{"Accept-Encoding", "a;q=2, b"}},
                   {{"Accept-Encoding", "a;q=2,b"}},
                   true},
        match_case{"EmptyIsNotAbsent", {"Accept-Encoding"}, {{"Accept-Encoding", ""}}, {}, false}),
    case_name<match_case>);

policy with_accept() {
    policy rules;
    rules.normalize_accept = true;
    return rules;
}

match_case accept_case(std::string name, std::string stored_for, std::string asked_with, bool matches) {
    return {std::move(name), {"Accept"},   {{"Accept", std::move(stored_for)}}, {{"Accept", std::move(asked_with)}},
            matches,         with_accept()};
}

// RFC 9110 §12.5.1, §8.3.1
INSTANTIATE_TEST_SUITE_P(
    Accept, Selection,
    ::testing::Values(
        accept_case("CaseOfTypes", "Text/HTML, application/JSON", "text/html,application/json", true),
        accept_case("CaseOfNames", "text/html;Level=1", "text/html; level=1", true),
        accept_case("CaseOfValuesCounts", "text/html;charset=UTF-8", "text/html;charset=utf-8", false),
        accept_case("SpaceAroundParameters", "text/html ;\tlevel=1 ; q=0.5", "text/html;level=1;q=0.5", true),
        accept_case("SpellingsOfWeights", "a/b;q=1.000, c/d;Q=0.50, e/f;q=0.0", "a/b, c/d;q=0.5, e/f;q=0", true),
        accept_case("OrderOfDifferentWeights", "a/b;q=0.5, c/d, */*;q=0", "*/*;q=0, c/d, a/b;q=0.5", true),
        // Rails' respond_to takes the first of equal weight.
        accept_case("OrderOfEqualWeightsCounts", "a/b, c/d", "c/d, a/b", false),
        accept_case("OrderOfRangesCounts", "a/*, a/b", "a/b, a/*", false),
        accept_case("WeightsCount", "a/b;q=0.5, c/d", "a/b, c/d;q=0.5", false),
        accept_case("ZeroIsNotAbsent", "a/b, c/d;q=0", "a/b", false),
        accept_case("ParametersCount", "text/html;level=1", "text/html;level=2", false),
        accept_case("OrderOfParametersCounts", "a/b;x=1;y=2", "a/b;y=2;x=1", false),
        accept_case("QuotesCount", "a/b;x=1", "a/b;x=\"1\"", false),
        accept_case("SpaceInQuotesCounts", "a/b;x=\"; q=0\"", "a/b;x=\";q=0\"", false),
        accept_case("QuotedSeparatorsAreText", "a/b;x=\"\\\";,\" ;q=0.5, c/d", "c/d, a/b;x=\"\\\";,\";q=0.50", true),
        // what is not certain is compared as it stands
        accept_case("TwiceTheSame", "a/b, A/b;q=0", "A/b;q=0, a/b", false),
        accept_case("AfterTheWeight", "a/b;q=0.5;x=1, c/d", "c/d, a/b;q=0.5;x=1", false),
        accept_case("NoSubtype", "a;q=0.5, c/d", "c/d, a;q=0.5", false),
        accept_case("TwoSlashes", "a/b/c;q=0.5, c/d", "c/d, a/b/c;q=0.5", false),
        accept_case("NoType", "/b;q=0.5, c/d", "c/d, /b;q=0.5", false),
        accept_case("BadWeight", "a/b;q=1.5, c/d;q=0.5", "c/d;q=0.5, a/b;q=1.5", false),
        accept_case("NoValue", "a/b;x;q=0.5, c/d", "c/d, a/b;x;q=0.5", false),
        accept_case("EmptyValue", "a/b;x=;q=0.5, c/d", "c/d, a/b;x=;q=0.5", false),
        accept_case("EmptyParameter", "a/b;;q=0.5, c/d", "c/d, a/b;;q=0.5", false),
        accept_case("SemicolonAtTheEnd", "a/b;q=0.5;, c/d", "c/d, a/b;q=0.5;", false),
        accept_case("SpaceAroundEquals", "a/b;x =1;q=0.5, c/d", "c/d, a/b;x =1;q=0.5", false),
        accept_case("OpenQuote", "a/b;q=0.5;x=\"1", "A/b;q=0.5;x=\"1", false),
        match_case{"LinesAreOneList",
                   {"Accept"},
                   {{"Accept", "a/b;q=0.5"}, {"Accept", "c/d"}},
                   {{"Accept", "c/d, a/b;q=0.5"}},
                   true,
                   with_accept()}),
    case_name<match_case>);

// What gives access is compared, but not kept.
TEST(SelectingCredentials, AreKeptAsDigests) {
    const field_list secrets{{"Authorization", "Bearer s3cret"}, {"Cookie", "sid=s3cret"},
                             {"Proxy-Authorization", "s3cret"},  {"X-Api-Key", "s3cret"},
                             {"X-Shop-Access-Token", "s3cret"},  {"X_Auth", "s3cret"},
                             {"X-CSRF-Token", "s3cret"},         {"Session", "s3cret"},
                             {"Tenant-Pass", "s3cret"}};
    policy rules;
    rules.per_credential = {"Tenant-Pass"};
    for (const auto& [name, value] : secrets) {
        SCOPED_TRACE(name);
        const stored_response r =
            cache::make_stored(make_request({{name, value}}), make_response({{"Vary", name}}), rules, t0, t0,
                               [](std::string_view v) { return std::to_string(v.size()); });
        ASSERT_EQ(r.selecting.size(), 1U);
        EXPECT_EQ(r.selecting[0].value, std::to_string(value.size()));
        const stored_response same = stored({{"Vary", name}}, 200, {{name, value}}, rules);
        const stored_response* const variants[] = {&same};
        EXPECT_EQ(select_variant(variants, make_request({{name, value}}), rules), 0);
        EXPECT_EQ(select_variant(variants, make_request({{name, value + "x"}}), rules), -1);
        EXPECT_EQ(select_variant(variants, make_request({{name, ""}}), rules), -1);
        EXPECT_EQ(select_variant(variants, make_request(), rules), -1);
    }
    for (const std::string name : {"Accept", "User-Agent", "X-Requested-With", "X-Monkey", "Origin", "X-Tokens"}) {
        const stored_response r = stored({{"Vary", name}}, 200, {{name, "plain"}}, rules);
        EXPECT_EQ(r.selecting[0].value, "plain") << name;
    }
}

// B42: what is no list of names is compared with nothing, or forbids reuse; it never matches by accident.
TEST(MalformedVary, IsNeverReused) {
    for (const std::string line : {"foo bar", "\"foo\"", "foo;bar", "foo*", "*foo", ", *", "Foo, *", "*, Foo",
                                   "Foo,, * ,", "foo=bar", "(foo)", "f\xe9", "foo:"}) {
        for (const bool second : {false, true}) {
            field_list response{{"Cache-Control", "max-age=60"}};
            if (second) response.emplace_back("Vary", "Accept");
            response.emplace_back("Vary", line);
            EXPECT_FALSE(judge_storability(make_request(), make_response(response), policy{}, t0).store) << line;
        }
    }
}

TEST(MalformedVary, OfEmptyMembersOnlyIsNone) {
    for (const std::string line : {"", ",", " , ,"}) {
        const stored_response r = stored({{"Vary", line}});
        EXPECT_TRUE(r.selecting.empty()) << line;
    }
}

TEST(SelectionBounds, MoreMembersThanAreSortedStillCompare) {
    std::string many;
    for (int i = 0; i < 40; ++i) many += "c" + std::to_string(i) + ", ";
    const stored_response r = stored({{"Vary", "Accept-Encoding"}}, 200, {{"Accept-Encoding", many}});
    const stored_response* const variants[] = {&r};
    EXPECT_EQ(select_variant(variants, make_request({{"Accept-Encoding", many}}), policy{}), 0);
    EXPECT_EQ(select_variant(variants, make_request({{"Accept-Encoding", "x, " + many}}), policy{}), -1);
}

TEST(SelectionBounds, VaryOnManyFieldsComparesEachOfThem) {
    std::string vary;
    field_list asked;
    for (int i = 0; i < 100; ++i) {
        vary += "X-" + std::to_string(i) + ", ";
        asked.emplace_back("X-" + std::to_string(i), std::to_string(i));
    }
    const stored_response r = stored({{"Vary", vary}}, 200, asked);
    const stored_response* const variants[] = {&r};
    EXPECT_EQ(select_variant(variants, make_request(asked), policy{}), 0);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        field_list other = asked;
        other[i].second += "x";
        EXPECT_EQ(select_variant(variants, make_request(other), policy{}), -1) << i;
        other.erase(other.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(select_variant(variants, make_request(other), policy{}), -1) << i;
    }
}

TEST(SelectionAmongSeveral, TakesTheOneThatMatches) {
    const field_list response{{"Vary", "Foo"}};
    const stored_response one = stored(response, 200, {{"Foo", "1"}});
    const stored_response two = stored(response, 200, {{"Foo", "2"}});
    const stored_response none = stored(response, 200, {});
    const stored_response* const variants[] = {&one, &two, &none};
    EXPECT_EQ(select_variant(variants, make_request({{"Foo", "1"}}), policy{}), 0);
    EXPECT_EQ(select_variant(variants, make_request({{"Foo", "2"}}), policy{}), 1);
    EXPECT_EQ(select_variant(variants, make_request(), policy{}), 2);
    EXPECT_EQ(select_variant(variants, make_request({{"Foo", "3"}}), policy{}), -1);
    EXPECT_EQ(select_variant({}, make_request(), policy{}), -1);
}

// RFC 9111 §4: "the most recent one"
TEST(SelectionAmongSeveral, TakesTheMostRecentByDateThenByArrival) {
    const stored_response old = stored({{"Date", date(t0 - 60s)}});
    const stored_response newer = stored({{"Date", date(t0 - 5s)}, {"Vary", "Foo"}});
    const stored_response* const by_date[] = {&old, &newer, &old};
    EXPECT_EQ(select_variant(by_date, make_request(), policy{}), 1);
    stored_response later = old;
    later.response_time += 1ms;
    const stored_response* const by_arrival[] = {&old, &later, &old};
    EXPECT_EQ(select_variant(by_arrival, make_request(), policy{}), 1);
}

// B46: an origin that compresses without Vary
TEST(Selecting, ACodedAnswerIsForThoseWhoAskTheSameWay) {
    const stored_response gzip = stored({{"Content-Encoding", "gzip"}}, 200, {{"Accept-Encoding", "gzip, br"}});
    const stored_response* const variants[] = {&gzip};
    const auto selected = [&](const field_list& list) {
        return select_variant(variants, make_request(list), policy{});
    };
    EXPECT_EQ(selected({{"Accept-Encoding", "br, gzip"}}), 0);
    EXPECT_EQ(selected({}), -1);
    EXPECT_EQ(selected({{"Accept-Encoding", "identity"}}), -1);
    const stored_response plain = stored({}, 200, {});
    const stored_response* const identity[] = {&plain};
    EXPECT_EQ(select_variant(identity, make_request({{"Accept-Encoding", "gzip"}}), policy{}), 0);
}

TEST(Selecting, IsSortedLowerCaseAndWithoutRepetition) {
    const stored_response r = stored({{"Vary", "Foo, BAR"}, {"Vary", "foo"}}, 200, {{"Foo", "1"}});
    const selection expected{{"bar", std::nullopt}, {"foo", "1"}};
    EXPECT_EQ(r.selecting, expected);
}

}  // namespace
}  // namespace etagere::cache::test
