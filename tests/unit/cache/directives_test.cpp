// RFC 9111 §5.2: what Cache-Control says, and what it says when it is written badly.
#include "etagere/cache/directives.hpp"

#include "unit/cache/support.hpp"

#include <limits>

namespace etagere::cache::test {
namespace {

constexpr std::int64_t too_large = std::int64_t{1} << 31;

response_directives parse(const std::vector<std::string>& lines) {
    field_list list;
    for (const std::string& line : lines) list.emplace_back("Cache-Control", line);
    return parse_response_directives(make_fields(list));
}

struct delta_case {
    std::string name;
    std::vector<std::string> lines;
    std::int64_t max_age;
};
class MaxAge : public ::testing::TestWithParam<delta_case> {};

TEST_P(MaxAge, IsReadCautiously) {
    EXPECT_EQ(parse(GetParam().lines).max_age, GetParam().max_age);
}

// B56, S205
INSTANTIATE_TEST_SUITE_P(
    Examples, MaxAge,
    ::testing::Values(delta_case{"Absent", {"public"}, absent}, delta_case{"Plain", {"max-age=60"}, 60},
                      delta_case{"AnyCase", {"MaX-aGe=60"}, 60}, delta_case{"LeadingZeros", {"max-age=003600"}, 3600},
                      delta_case{"Quoted", {"max-age=\"60\""}, 60}, delta_case{"SingleQuotes", {"max-age='60'"}, 0},
                      delta_case{"Negative", {"max-age=-1"}, 0}, delta_case{"Junk", {"max-age=abc"}, 0},
                      delta_case{"Decimal", {"max-age=3600.5"}, 0}, delta_case{"TrailingAlpha", {"max-age=100a"}, 0},
                      delta_case{"NoArgument", {"max-age"}, 0}, delta_case{"EmptyArgument", {"max-age="}, 0},
                      delta_case{"SpaceBeforeEquals", {"max-age =60"}, 0},
                      delta_case{"SpaceAfterEquals", {"max-age= 60"}, 0},
                      delta_case{"Exactly2To31", {"max-age=2147483648"}, too_large},
                      delta_case{"Overflow", {"max-age=99999999999999999999999"}, too_large},
                      delta_case{"TwiceTheSmaller", {"max-age=1800, max-age=1"}, 1},
                      delta_case{"TwiceOnTwoLines", {"max-age=1", "max-age=1800"}, 1},
                      delta_case{"TwiceOneIsJunk", {"max-age=1800, max-age=x"}, 0},
                      delta_case{"InsideAQuotedStringBefore", {"extension=\"max-age=3600\", max-age=1"}, 1},
                      delta_case{"InsideAQuotedStringAfter", {"max-age=1, extension=\"max-age=3600\""}, 1},
                      delta_case{"EmptyMembers", {", ,max-age=5,,"}, 5},
                      delta_case{"PrefixIsAnotherName", {"max-age-x=5"}, absent}),
    case_name<delta_case>);

TEST(ResponseDirectives, EachNameFillsItsOwnPlace) {
    const auto d = parse({"s-maxage=1, stale-while-revalidate=2", "stale-if-error=3"});
    EXPECT_EQ(d.s_maxage, 1);
    EXPECT_EQ(d.stale_while_revalidate, 2);
    EXPECT_EQ(d.stale_if_error, 3);
    EXPECT_EQ(d.max_age, absent);
    const auto flags = parse({"NO-STORE, no-cache, private, public, must-revalidate",
                              "proxy-revalidate, must-understand, "
                              "no-transform, immutable"});
    EXPECT_TRUE(flags.no_store && flags.no_cache && flags.private_ && flags.public_ && flags.must_revalidate);
    EXPECT_TRUE(flags.proxy_revalidate && flags.must_understand && flags.no_transform && flags.immutable);
}

TEST(ResponseDirectives, SeenMeansThatTheFieldIsThere) {
    EXPECT_FALSE(parse({}).seen);
    EXPECT_TRUE(parse({""}).seen);
    EXPECT_TRUE(parse({"nothing-to-see-here"}).seen);
}

TEST(ResponseDirectives, PragmaSaysNothingInAResponse) {
    EXPECT_FALSE(parse_response_directives(make_fields({{"Pragma", "no-cache"}})).no_cache);
}

struct flag_case {
    std::string name;
    std::string line;
    bool response_directives::* flag;
    bool expected;
};
class Flags : public ::testing::TestWithParam<flag_case> {};

TEST_P(Flags, RestrictInEveryFormAndPermitInOneOnly) {
    EXPECT_EQ(parse({GetParam().line}).*GetParam().flag, GetParam().expected);
}

// B54, S204
INSTANTIATE_TEST_SUITE_P(
    Examples, Flags,
    ::testing::Values(flag_case{"PrivateQualified", "private=\" authorization\"", &response_directives::private_, true},
                      flag_case{"PrivateEmpty", "private=\"\"", &response_directives::private_, true},
                      flag_case{"PrivateTwice", "private, private=\"x\"", &response_directives::private_, true},
                      flag_case{"PrivateNeverClosed", "private=\"a", &response_directives::private_, true},
                      flag_case{"PrivateToken", "private=x-foo", &response_directives::private_, true},
                      flag_case{"NoCacheQualified", "no-cache=\"set-cookie\"", &response_directives::no_cache, true},
                      flag_case{"NoCacheEmpty", "no-cache=", &response_directives::no_cache, true},
                      flag_case{"NoStoreWithArgument", "no-store=1", &response_directives::no_store, true},
                      flag_case{"NoStoreWithSpace", "no-store =1", &response_directives::no_store, true},
                      flag_case{"NoStoreAfterQuotedComma", "x=\"a, b\", no-store", &response_directives::no_store,
                                true},
                      flag_case{"NoStoreOnlyInAString", "x=\"no-store\"", &response_directives::no_store, false},
                      flag_case{"PublicWithArgument", "public=1", &response_directives::public_, false},
                      flag_case{"ImmutableWithArgument", "immutable=x", &response_directives::immutable, false},
                      flag_case{"LongerName", "no-stored", &response_directives::no_store, false}),
    case_name<flag_case>);

request_directives ask(const field_list& list) {
    return parse_request_directives(make_fields(list));
}

TEST(RequestDirectives, EachNameFillsItsOwnPlace) {
    const auto d = ask({{"Cache-Control", "nothing-to-see-here, max-age=1, MIN-FRESH=2, max-stale=3"},
                        {"Cache-Control", "no-store, no-cache, only-if-cached"}});
    EXPECT_EQ(d.max_age, 1);
    EXPECT_EQ(d.min_fresh, 2);
    EXPECT_EQ(d.max_stale, 3);
    EXPECT_TRUE(d.no_store && d.no_cache && d.only_if_cached);
}

TEST(RequestDirectives, TwiceIsTheMoreCautiousOne) {
    const auto d = ask({{"Cache-Control", "max-age=9, max-age=1, min-fresh=1, min-fresh=9, max-stale, max-stale=5"}});
    EXPECT_EQ(d.max_age, 1);
    EXPECT_EQ(d.min_fresh, 9);
    EXPECT_EQ(d.max_stale, 5);
}

TEST(RequestDirectives, MaxStaleAloneIsForEver) {
    EXPECT_EQ(ask({{"Cache-Control", "max-stale"}}).max_stale, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(ask({{"Cache-Control", "max-stale=junk"}}).max_stale, 0);
}

// RFC 9111 §5.4
TEST(RequestDirectives, PragmaCountsWhereThereIsNoCacheControl) {
    EXPECT_TRUE(ask({{"Pragma", "foo, No-Cache"}}).no_cache);
    EXPECT_FALSE(ask({{"Pragma", "foo"}}).no_cache);
    EXPECT_FALSE(ask({{"Pragma", "no-cache"}, {"Cache-Control", "max-age=5"}}).no_cache);
}

}  // namespace
}  // namespace etagere::cache::test
