// draft-ietf-httpbis-no-vary-search: what counts of a query.
#include "etagere/cache/search_variance.hpp"

#include "unit/cache/support.hpp"

#include <algorithm>
#include <random>

namespace etagere::cache::test {
namespace {

std::optional<search_variance> rule_of(const std::vector<std::string>& lines) {
    http::fields response;
    for (const std::string& line : lines) EXPECT_TRUE(response.add("No-Vary-Search", line));
    return find_search_variance(response);
}

// "any" for key-order, then what counts.
std::string show(const std::optional<search_variance>& rule) {
    if (!rule) return "none";
    std::string out = rule->any_order ? "any," : "";
    out += rule->only_named ? "only" : "all but";
    for (const std::string& name : rule->names) out += " [" + name + "]";
    return out;
}

struct rule_case {
    std::string name;
    std::vector<std::string> lines;
    std::string is;
};
class SearchRule : public ::testing::TestWithParam<rule_case> {};

TEST_P(SearchRule, IsReadStrictly) {
    EXPECT_EQ(show(rule_of(GetParam().lines)), GetParam().is);
}

INSTANTIATE_TEST_SUITE_P(
    Valid, SearchRule,
    ::testing::Values(rule_case{"KeyOrder", {"key-order"}, "any,all but"},
                      rule_case{"KeyOrderTrue", {"key-order=?1"}, "any,all but"},
                      rule_case{"Params", {"params"}, "only"}, rule_case{"ParamsTrue", {"params=?1"}, "only"},
                      rule_case{"Named", {"params=(\"b\" \"a\" \"b\")"}, "all but [a] [b]"},
                      rule_case{"Except", {"params, except=(\"x\")"}, "only [x]"},
                      rule_case{"ExceptFirst", {"except=(\"x\"), key-order, params"}, "any,only [x]"},
                      rule_case{"ExceptNothing", {"params, except=()"}, "only"},
                      rule_case{"All", {"key-order, params, except=(\"x\" \"y\")"}, "any,only [x] [y]"},
                      rule_case{"Encoded", {"params=(\"%C3%A9+%E6%B0%97\")"}, "all but [\xc3\xa9 \xe6\xb0\x97]"},
                      rule_case{"TwoLines", {"key-order", "params=(\"a\")"}, "any,all but [a]"},
                      rule_case{"LastOfTwoKeys", {"params=(\"a\"), params=(\"b\")"}, "all but [b]"},
                      rule_case{"UnknownKeysAreIgnored", {"new=1;x, params=(\"a\");later, other=(1 2)"}, "all but [a]"},
                      rule_case{"Parameters", {"params=(\"a\";q=1)"}, "all but [a]"}),
    case_name<rule_case>);

INSTANTIATE_TEST_SUITE_P(
    NoEffect, SearchRule,
    ::testing::Values(
        rule_case{"Absent", {}, "none"}, rule_case{"Empty", {""}, "none"}, rule_case{"Unknown", {"unknown"}, "none"},
        rule_case{"KeyOrderFalse", {"key-order=?0"}, "none"}, rule_case{"ParamsFalse", {"params=?0"}, "none"},
        rule_case{"ParamsEmpty", {"params=()"}, "none"}, rule_case{"OrderIsAString", {"key-order=\"x\""}, "none"},
        rule_case{"OrderIsAToken", {"key-order=yes"}, "none"}, rule_case{"OrderIsOne", {"key-order=1"}, "none"},
        rule_case{"OrderIsAList", {"key-order=(?1)"}, "none"}, rule_case{"ParamsIsAString", {"params=\"a\""}, "none"},
        rule_case{"ParamsIsAToken", {"params=a"}, "none"}, rule_case{"TokenInList", {"params=(a)"}, "none"},
        rule_case{"NumberInList", {"params=(\"a\" 1)"}, "none"}, rule_case{"ExceptAlone", {"except=(\"x\")"}, "none"},
        rule_case{"ExceptEmptyAlone", {"except=()"}, "none"},
        rule_case{"ExceptWithNames", {"params=(\"a\"), except=(\"x\")"}, "none"},
        rule_case{"ExceptWithNone", {"params=(), except=()"}, "none"},
        rule_case{"ExceptWithFalse", {"params=?0, except=(\"x\")"}, "none"},
        rule_case{"ExceptIsAString", {"params, except=\"x\""}, "none"},
        rule_case{"ExceptIsTrue", {"params, except"}, "none"},
        rule_case{"ExceptOfTokens", {"params, except=(x)"}, "none"},
        rule_case{"OneBadKeySpoilsAll", {"key-order, params=a"}, "none"}, rule_case{"UpperCase", {"Key-Order"}, "none"},
        rule_case{"CommaAtTheEnd", {"key-order,"}, "none"}, rule_case{"OpenList", {"params=(\"a\""}, "none"},
        rule_case{"SecondLineBad", {"key-order", "params=("}, "none"},
        rule_case{"BadEscape", {"params=(\"a%zz\")"}, "none"}, rule_case{"CutEscape", {"params=(\"a%4\")"}, "none"},
        rule_case{"BadUtf8", {"params=(\"%ff\")"}, "none"}, rule_case{"Surrogate", {"params=(\"%ed%a0%80\")"}, "none"},
        rule_case{"Null", {"params=(\"a%00\")"}, "none"}),
    case_name<rule_case>);

std::string simplify(std::string_view target, const std::string& field) {
    const auto rule = rule_of({field});
    EXPECT_TRUE(rule) << field;
    std::string out;
    if (rule) append_simplified_target(out, target, *rule);
    return out;
}

struct target_case {
    std::string name;
    std::string field;
    std::string target;
    std::string is;
};
class Simplified : public ::testing::TestWithParam<target_case> {};

TEST_P(Simplified, KeepsWhatMatters) {
    const target_case& c = GetParam();
    EXPECT_EQ(simplify(c.target, c.field), c.is);
    EXPECT_EQ(simplify(c.is, c.field), c.is);
}

INSTANTIATE_TEST_SUITE_P(
    Draft, Simplified,
    ::testing::Values(target_case{"NoQuery", "params", "/p", "/p"}, target_case{"EmptyQuery", "key-order", "/p?", "/p"},
                      target_case{"Everything", "params", "/p?a=1&b&c=", "/p"},
                      target_case{"Named", "params=(\"a\")", "/p?a=1&b=2&a&ab=3", "/p?b=2&ab=3"},
                      target_case{"NamedEncoded", "params=(\"a b\")", "/p?a+b=1&a%20b=2&%61%20b=3&ab=4", "/p?ab=4"},
                      target_case{"NamedBeyondAscii", "params=(\"%C3%A9\")", "/p?%c3%a9=1&e=2", "/p?e=2"},
                      target_case{"Except", "params, except=(\"id\")", "/p?utm=1&id=2&x=3&id=4", "/p?id=2&id=4"},
                      target_case{"Order", "key-order", "/p?b=1&a=2&b=0", "/p?a=2&b=1&b=0"},
                      target_case{"OrderOfPrefixes", "key-order", "/p?ab=1&a=2&abc=3&b=4", "/p?a=2&ab=1&abc=3&b=4"},
                      target_case{"OrderOfDecodedNames", "key-order", "/p?b=1&%61=2", "/p?%61=2&b=1"},
                      target_case{"NoOrder", "params=(\"x\")", "/p?b=1&x=0&a=2", "/p?b=1&a=2"},
                      target_case{"EmptyParameters", "key-order", "/p?&&b=1&&a=2&", "/p?a=2&b=1"},
                      target_case{"ValuesStay", "key-order", "/p?a=%2f&b=+&c=%2F&d=", "/p?a=%2f&b=+&c=%2F&d="},
                      target_case{"SecondQuestionMark", "params=(\"a\")", "/p?b=?a=1&a=?", "/p?b=?a=1"},
                      target_case{"EqualsInValues", "params=(\"a\")", "/p?a=b=c&b=a=1", "/p?b=a=1"}),
    case_name<target_case>);

// An origin may read these otherwise: they are not left out, or nothing is.
INSTANTIATE_TEST_SUITE_P(
    InDoubt, Simplified,
    ::testing::Values(target_case{"Semicolon", "params=(\"a\")", "/p?a=1;id=2", "/p?a=1;id=2"},
                      target_case{"SemicolonElsewhere", "params", "/p?a=1&b=2;c", "/p?a=1&b=2;c"},
                      target_case{"BadEscape", "params", "/p?a=1&b=%zz", "/p?a=1&b=%zz"},
                      target_case{"CutEscape", "params", "/p?a=1&b=%4", "/p?a=1&b=%4"},
                      target_case{"BadUtf8", "params", "/p?a=%ff&b=1", "/p?a=%ff&b=1"},
                      target_case{"Overlong", "params", "/p?a=%c0%80", "/p?a=%c0%80"},
                      target_case{"Null", "params", "/p?a=%00", "/p?a=%00"},
                      target_case{"LineFeedInAName", "params", "/p?a%0a=1", "/p?a%0a=1"},
                      target_case{"Brackets", "params, except=(\"id\")", "/p?id[]=1&x=2", "/p?id[]=1"},
                      target_case{"EncodedBrackets", "params, except=(\"id\")", "/p?id%5B%5D=1&x=2", "/p?id%5B%5D=1"},
                      target_case{"Dots", "params, except=(\"a_b\")", "/p?a.b=1&a+b=2&x=3", "/p?a.b=1&a+b=2"},
                      target_case{"Case", "params, except=(\"id\")", "/p?ID=1&Id=2&x=3", "/p?ID=1&Id=2"},
                      target_case{"EncodedExcept", "params, except=(\"id\")", "/p?%69d=1&x=3", "/p?%69d=1"},
                      target_case{"NoName", "params", "/p?=1&x=3", "/p?=1"},
                      target_case{"NamedInBrackets", "params=(\"id\")", "/p?id[]=1&id=2", "/p?id[]=1"},
                      target_case{"OrderWithinAStructure", "key-order", "/p?b=1&a[y]=1&a[x]=2&a=3",
                                  "/p?a[y]=1&a[x]=2&a=3&b=1"},
                      target_case{"AbsentIsNotEmpty", "key-order", "/p?b&a=", "/p?a=&b"}),
    case_name<target_case>);

TEST(SimplifiedBounds, MoreParametersThanAreReadStayAsTheyAre) {
    std::string many = "/p?a";
    for (int i = 0; i < 64; ++i) many += "&a";
    EXPECT_EQ(simplify(many, "params"), many);
    EXPECT_EQ(simplify(many.substr(0, many.size() - 2), "params"), "/p");
}

TEST(SearchRuleCarried, IsTheSameText) {
    const auto has = [](const std::vector<std::string>& lines, const std::vector<std::string>& rule) {
        http::fields response = make_fields({{"Vary", "key-order"}});
        for (const std::string& line : lines) EXPECT_TRUE(response.add("no-vary-search", line));
        return carries(response, rule_of(rule).value());
    };
    EXPECT_TRUE(has({"key-order"}, {"key-order"}));
    EXPECT_TRUE(has({"key-order", "params"}, {"key-order", "params"}));
    EXPECT_TRUE(has({"key-order, params"}, {"key-order", "params"}));
    EXPECT_FALSE(has({}, {"key-order"}));
    EXPECT_FALSE(has({"key-order"}, {"key-order", "params"}));
    EXPECT_FALSE(has({"key-order", "params"}, {"key-order"}));
    EXPECT_FALSE(has({"key-orderx"}, {"key-order"}));
    EXPECT_FALSE(has({"params"}, {"key-order"}));
}

TEST(SearchKey, IsTheKeyOfTheSimplifiedTarget) {
    const search_variance rule = rule_of({"params=(\"x\")"}).value();
    policy rules;
    rules.key_headers = {"X-Tenant"};
    std::string simplified;
    std::string exact;
    const field_list fields{{"X-Tenant", "a"}};
    make_search_key(simplified, "r", make_request(fields, "GET", "/p?x=1&id=2"), rule, rules, test_digest);
    make_key(exact, "r", make_request(fields, "GET", "/p?id=2"), rules, test_digest);
    EXPECT_EQ(simplified, exact);
    make_search_key(simplified, "r", make_request({}, "GET", "/p?x=1&id=2"), rule, rules, test_digest);
    EXPECT_NE(simplified, exact);
    rules.query.ignore = {"id"};  // on top of what the route says
    make_search_key(simplified, "r", make_request(fields, "GET", "/p?x=1&id=2"), rule, rules, test_digest);
    make_key(exact, "r", make_request(fields, "GET", "/p"), rules, test_digest);
    EXPECT_EQ(simplified, exact);
}

// ---------------------------------------------------------------- against the draft's own words, slowly

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
            std::isxdigit(static_cast<unsigned char>(text[i + 2]))) {
            out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

using pairs = std::vector<std::pair<std::string, std::string>>;

pairs significant(std::string_view target, const search_variance& rule) {
    pairs out;
    const auto question = target.find('?');
    std::string_view rest = question == std::string_view::npos ? "" : target.substr(question + 1);
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        if (one.empty()) continue;
        const auto equals = one.find('=');
        std::string name = decode(one.substr(0, equals));
        const bool named = std::ranges::find(rule.names, name) != rule.names.end();
        if (named != rule.only_named) continue;
        out.emplace_back(std::move(name), equals == std::string_view::npos ? "" : decode(one.substr(equals + 1)));
    }
    if (rule.any_order) std::ranges::stable_sort(out, {}, &pairs::value_type::first);
    return out;
}

class random_urls {
public:
    explicit random_urls(unsigned seed) : random_(seed) {}

    search_variance rule(const std::vector<std::string>& names) {
        search_variance out;
        out.any_order = below(2) == 0;
        out.only_named = below(2) == 0;
        for (const std::string& n : names) {
            if (below(2) == 0) out.names.push_back(n);
        }
        return out;
    }
    std::string target(const std::vector<std::string>& parts) {
        std::string out = "/p";
        const std::size_t count = below(6);
        for (std::size_t i = 0; i < count; ++i) out.append(i == 0 ? "?" : "&").append(parts[below(parts.size())]);
        return out;
    }

private:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
    std::mt19937 random_;
};

std::string simplified(const std::string& target, const search_variance& rule) {
    std::string out;
    append_simplified_target(out, target, rule);
    return out;
}

TEST(SearchVarianceProperties, OrdinaryTargetsAreOneExactlyWhereTheDraftSaysSo) {
    random_urls random(1);
    const std::vector<std::string> names{"a", "b", "ab", "utm_source", "c-d"};
    std::vector<std::string> parts;
    for (const std::string& n : names) {
        for (const char* value : {"=", "=1", "=2"}) parts.push_back(n + value);
    }
    for (int i = 0; i < 50'000; ++i) {
        const search_variance rule = random.rule(names);
        const std::string x = random.target(parts);
        const std::string y = random.target(parts);
        ASSERT_EQ(simplified(x, rule) == simplified(y, rule), significant(x, rule) == significant(y, rule))
            << x << " " << y << " " << show(rule);
    }
}

TEST(SearchVarianceProperties, WhateverTheTargetsTheyAreOneOnlyWhereTheDraftSaysSo) {
    random_urls random(2);
    const std::vector<std::string> names{"a", "b", "\xc3\xa9", "a b", "id", "ID", "a.b"};
    const std::vector<std::string> parts{"a=1",   "a",       "%61=1",    "%61=%31", "a[]=1", "a%5B%5D=1", "A=1",
                                         "b=2",   "",        "=",        "=1",      "a=1;b", "%c3%a9",    "%C3%A9=1",
                                         "%ff=1", "a=%",     "a=%00",    "a+b=1",   "a%20b", "a.b=1",     "id=1",
                                         "ID=2",  "iD[x]=1", "b=%26a=1", "b=2=3",   "%",     "?a=1"};
    for (int i = 0; i < 50'000; ++i) {
        const search_variance rule = random.rule(names);
        const std::string x = random.target(parts);
        const std::string y = random.target(parts);
        const std::string short_x = simplified(x, rule);
        ASSERT_EQ(simplified(short_x, rule), short_x) << x << " " << show(rule);
        ASSERT_EQ(significant(short_x, rule), significant(x, rule)) << x << " " << show(rule);
        if (short_x == simplified(y, rule)) {
            ASSERT_EQ(significant(x, rule), significant(y, rule)) << x << " " << y << " " << show(rule);
        }
    }
}

}  // namespace
}  // namespace etagere::cache::test
