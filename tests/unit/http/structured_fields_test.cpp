// RFC 9651 §4.2, function by function.
#include "etagere/http/structured_fields.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace etagere::http::structured {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string show(const bare_item& v) {
    const std::string number = std::to_string(v.number);
    switch (v.type) {
        case kind::integer: return "int " + number;
        case kind::decimal: return "dec " + number;
        case kind::string: return "str " + v.decoded();
        case kind::token: return "tok " + v.decoded();
        case kind::bytes: return "bin " + v.decoded();
        case kind::boolean: return "bool " + number;
        case kind::date: return "date " + number;
        case kind::display_string: break;
    }
    return "disp " + v.decoded();
}

std::string show(const parameters& with) {
    std::string out;
    with.for_each([&](std::string_view key, const bare_item& v) { out.append(";").append(key).append("=" + show(v)); });
    return out;
}

std::string show(const member& m) {
    std::string out;
    if (!m.key.empty()) out.append(m.key).append(": ");
    if (m.is_inner_list) {
        out += "(";
        m.items.for_each([&](const item& i) { out += "[" + show(i.value) + show(i.with) + "]"; });
        out += ")";
    } else {
        out += show(m.value);
    }
    return out + show(m.with);
}

std::string item_of(std::string_view text) {
    const auto i = parse_item(text);
    return i ? show(i->value) + show(i->with) : "invalid";
}

std::vector<std::string> list_of(std::string_view text) {
    const auto l = parse_list(text);
    if (!l) return {"invalid"};
    std::vector<std::string> out;
    l->for_each([&](const member& m) { out.push_back(show(m)); });
    return out;
}

std::vector<std::string> dictionary_of(std::string_view text) {
    const auto d = parse_dictionary(text);
    if (!d) return {"invalid"};
    std::vector<std::string> out;
    d->for_each([&](const member& m) { out.push_back(show(m)); });
    return out;
}

struct item_case {
    std::string_view text;
    std::string_view is;
};

class StructuredItem : public testing::TestWithParam<item_case> {};

TEST_P(StructuredItem, IsReadAsWritten) {
    EXPECT_EQ(item_of(GetParam().text), GetParam().is) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, StructuredItem,  // §4.2.4
    testing::Values(item_case{"0", "int 0"}, item_case{"-0", "int 0"}, item_case{"042", "int 42"},
                    item_case{"999999999999999", "int 999999999999999"},
                    item_case{"-999999999999999", "int -999999999999999"}, item_case{"1000000000000000", "invalid"},
                    item_case{"0000000000000001", "invalid"}, item_case{"+1", "invalid"}, item_case{"-", "invalid"},
                    item_case{"--1", "invalid"}, item_case{"- 1", "invalid"}, item_case{"1e3", "invalid"},
                    item_case{"0x1", "invalid"}, item_case{"1.5", "dec 1500"}, item_case{"-1.05", "dec -1050"},
                    item_case{"0.001", "dec 1"}, item_case{"123456789012.123", "dec 123456789012123"},
                    item_case{"1.", "invalid"}, item_case{".5", "invalid"}, item_case{"1.1234", "invalid"},
                    item_case{"1234567890123.1", "invalid"}, item_case{"1.2.3", "invalid"}, item_case{"1,2", "invalid"},
                    item_case{"1 2", "invalid"}));

INSTANTIATE_TEST_SUITE_P(Strings, StructuredItem,  // §4.2.5
                         testing::Values(item_case{R"("")", "str "}, item_case{R"("a b")", "str a b"},
                                         item_case{R"("\"\\")", R"(str "\)"}, item_case{R"("a)", "invalid"},
                                         item_case{R"(")", "invalid"}, item_case{R"("\)", "invalid"},
                                         item_case{R"("\")", "invalid"}, item_case{R"("\n")", "invalid"},
                                         item_case{"\"a\tb\"", "invalid"}, item_case{"\"\x7f\"", "invalid"},
                                         item_case{"\"\xc3\xa9\"", "invalid"}, item_case{"\"a\\\x7f\"", "invalid"},
                                         item_case{R"('a')", "invalid"}, item_case{R"("a""b")", "invalid"}));

INSTANTIATE_TEST_SUITE_P(Tokens, StructuredItem,  // §4.2.6
                         testing::Values(item_case{"a", "tok a"}, item_case{"*", "tok *"},
                                         item_case{"A/b:c*!#$%&'+-.^_`|~9", "tok A/b:c*!#$%&'+-.^_`|~9"},
                                         item_case{"_a", "invalid"}, item_case{"/a", "invalid"},
                                         item_case{"a@", "invalid"}, item_case{"a\"b\"", "invalid"},
                                         item_case{"a\xc3", "invalid"}));

INSTANTIATE_TEST_SUITE_P(
    Bytes, StructuredItem,  // §4.2.7
    testing::Values(item_case{"::", "bin "}, item_case{":YQ==:", "bin a"}, item_case{":YQ:", "bin a"},
                    item_case{":YWI=:", "bin ab"}, item_case{":YWJj:", "bin abc"}, item_case{":YR==:", "bin a"},
                    item_case{":YQ=:", "invalid"}, item_case{":YWJj=:", "invalid"}, item_case{":Y:", "invalid"},
                    item_case{":YQ==", "invalid"}, item_case{":", "invalid"}, item_case{":Y Q=:", "invalid"},
                    item_case{":YQ=Q:", "invalid"}, item_case{":_-8=:", "invalid"}, item_case{":=:", "invalid"}));

INSTANTIATE_TEST_SUITE_P(Booleans, StructuredItem,  // §4.2.8
                         testing::Values(item_case{"?1", "bool 1"}, item_case{"?0", "bool 0"},
                                         item_case{"?", "invalid"}, item_case{"?2", "invalid"},
                                         item_case{"?T", "invalid"}, item_case{"?10", "invalid"},
                                         item_case{"? 1", "invalid"}));

INSTANTIATE_TEST_SUITE_P(Dates, StructuredItem,  // §4.2.9
                         testing::Values(item_case{"@1659578233", "date 1659578233"}, item_case{"@-1", "date -1"},
                                         item_case{"@1.5", "invalid"}, item_case{"@", "invalid"},
                                         item_case{"@@1", "invalid"}, item_case{"@ 1", "invalid"}));

INSTANTIATE_TEST_SUITE_P(
    DisplayStrings, StructuredItem,  // §4.2.10
    testing::Values(item_case{R"(%"")", "disp "}, item_case{R"(%"f%c3%bc \")", "disp f\xc3\xbc \\"},
                    item_case{R"(%"%22%25")", R"(disp "%)"}, item_case{R"(%"%f0%9f%98%80")", "disp \xf0\x9f\x98\x80"},
                    item_case{R"(%"%C3%BC")", "invalid"}, item_case{R"(%"%c3")", "invalid"},
                    item_case{R"(%"%c3a")", "invalid"}, item_case{R"(%"%c0%80")", "invalid"},
                    item_case{R"(%"%e0%80%80")", "invalid"}, item_case{R"(%"%ed%a0%80")", "invalid"},
                    item_case{R"(%"%f4%90%80%80")", "invalid"}, item_case{R"(%"%f5%80%80%80")", "invalid"},
                    item_case{R"(%"%80")", "invalid"}, item_case{R"(%"%4")", "invalid"}, item_case{R"(%"a)", "invalid"},
                    item_case{R"(%a)", "invalid"}, item_case{R"(%)", "invalid"}, item_case{"%\"\xc3\xbc\"", "invalid"},
                    item_case{"%\"\t\"", "invalid"}));

INSTANTIATE_TEST_SUITE_P(
    Parameters, StructuredItem,  // §4.2.3.2
    testing::Values(item_case{"a;b", "tok a;b=bool 1"}, item_case{"1;q=0.5;*x=?0", "int 1;q=dec 500;*x=bool 0"},
                    item_case{"a;  b=c", "tok a;b=tok c"}, item_case{"a;b=\"x;y\"", "tok a;b=str x;y"},
                    item_case{"a ;b", "invalid"}, item_case{"a;b =c", "invalid"}, item_case{"a;b= c", "invalid"},
                    item_case{"a;\tb", "invalid"}, item_case{"a;", "invalid"}, item_case{"a;;b", "invalid"},
                    item_case{"a;B", "invalid"}, item_case{"a;1", "invalid"}, item_case{"a;b=", "invalid"},
                    item_case{"a;b=(c)", "invalid"}));

INSTANTIATE_TEST_SUITE_P(Whole, StructuredItem,  // §4.2
                         testing::Values(item_case{"  a  ", "tok a"}, item_case{"\ta", "invalid"},
                                         item_case{"a\t", "invalid"}, item_case{"", "invalid"},
                                         item_case{" ", "invalid"}, item_case{"(a)", "invalid"},
                                         item_case{std::string_view("a\0", 2), "invalid"}));

// §4.2.1
TEST(StructuredList, IsReadMemberByMember) {
    EXPECT_THAT(list_of(""), IsEmpty());
    EXPECT_THAT(list_of("   "), IsEmpty());
    EXPECT_THAT(list_of("a"), ElementsAre("tok a"));
    EXPECT_THAT(list_of("a,b \t,\t \"c,d\";p"), ElementsAre("tok a", "tok b", "str c,d;p=bool 1"));
    EXPECT_THAT(list_of("a, a"), ElementsAre("tok a", "tok a"));
    for (const std::string_view text : {",", "a,", ",a", "a,,b", "a b", "a, ", "a;", "a, \x80", "a=1", "\ta"}) {
        EXPECT_THAT(list_of(text), ElementsAre("invalid")) << text;
    }
}

// §4.2.1.2
TEST(StructuredList, HasInnerLists) {
    EXPECT_THAT(list_of("()"), ElementsAre("()"));
    EXPECT_THAT(list_of("(  )"), ElementsAre("()"));
    EXPECT_THAT(list_of("(a  \"b)\";x=1 );y, (2)"), ElementsAre("([tok a][str b);x=int 1]);y=bool 1", "([int 2])"));
    for (const std::string_view text : {"(", "(a", "(a)b", "(a,b)", "(a\tb)", "((a))", "(a\"b\")", "a)", "(a) ;b"}) {
        EXPECT_THAT(list_of(text), ElementsAre("invalid")) << text;
    }
}

// §4.2.2
TEST(StructuredDictionary, IsReadMemberByMember) {
    EXPECT_THAT(dictionary_of(""), IsEmpty());
    EXPECT_THAT(dictionary_of("a"), ElementsAre("a: bool 1"));
    EXPECT_THAT(dictionary_of("max-age=60 ,\tpublic;x=1, l=(\"a\" b);z"),
                ElementsAre("max-age: int 60", "public: bool 1;x=int 1", "l: ([str a][tok b]);z=bool 1"));
    EXPECT_THAT(dictionary_of("*a_b.c-9=?0"), ElementsAre("*a_b.c-9: bool 0"));
    for (const std::string_view text : {"a=", "A=1", "1=a", "=1", "a =1", "a= 1", "a,", ",", "a b", "a=1,,b", "a=(b",
                                        "a;", "-a", "max-age=60, Public", "a=1; b=2,"}) {
        EXPECT_THAT(dictionary_of(text), ElementsAre("invalid")) << text;
    }
}

// §4.2.2: "all but the last instance are ignored".
TEST(StructuredDictionary, TheLastOfEqualKeysCounts) {
    const auto d = parse_dictionary("a=1, b, a=(2)");
    ASSERT_TRUE(d);
    EXPECT_EQ(show(d->find("a").value()), "a: ([int 2])");
    EXPECT_TRUE(d->find("b").value().value.is_true());
    EXPECT_FALSE(d->find("c"));
    const auto i = parse_item("x;a=1;a=2");
    ASSERT_TRUE(i);
    EXPECT_EQ(show(i->with.find("a").value()), "int 2");
    EXPECT_FALSE(i->with.find("b"));
}

}  // namespace
}  // namespace etagere::http::structured
