#include "etagere/http/entity_tag.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace etagere::http {
namespace {

entity_tag tag(std::string_view text) {
    return parse_entity_tag(text).value();
}

tag_match none_match(std::initializer_list<const char*> lines, std::optional<entity_tag> current,
                     tag_reading reading = tag_reading::strict) {
    fields f;
    EXPECT_TRUE(f.add("Accept", "*"));
    for (const char* line : lines) EXPECT_TRUE(f.add("If-None-Match", line));
    return match_if_none_match(f, current, reading);
}

tag_match if_match(std::initializer_list<const char*> lines, std::optional<entity_tag> current) {
    fields f;
    for (const char* line : lines) EXPECT_TRUE(f.add("If-Match", line));
    return match_if_match(f, current);
}

TEST(EntityTag, IsReadByTheGrammar) {
    EXPECT_EQ(tag("\"abc\"").opaque, "abc");
    EXPECT_FALSE(tag("\"abc\"").weak);
    EXPECT_TRUE(tag("W/\"abc\"").weak);
    EXPECT_EQ(tag("W/\"abc\"").opaque, "abc");
    EXPECT_EQ(tag("\"\"").opaque, "");
    EXPECT_EQ(tag(" \t\"a\" ").opaque, "a");
    EXPECT_EQ(tag("\"a,b\\\"").opaque, "a,b\\");  // no escapes in an opaque-tag
    EXPECT_EQ(tag("\"caf\xC3\xA9\"").opaque, "caf\xC3\xA9");
    for (const char* bad : {"", "abc", "\"abc", "abc\"", "\"", "W/abc", "w/\"abc\"", "W/ \"abc\"", "W/", "\"a b\"",
                            "\"a\"b\"", "\"a\"\"", "\"a\x7F\"", "*"}) {
        EXPECT_EQ(parse_entity_tag(bad), std::nullopt) << bad;
    }
}

TEST(EntityTag, GoesOutByteForByte) {
    for (const char* text : {"\"abc\"", "W/\"abc\"", "\"\"", "W/\"\""}) EXPECT_EQ(tag(text).to_string(), text);
}

// The table of RFC 9110 §8.8.3.2.
TEST(EntityTag, ComparesStrongAndWeak) {
    EXPECT_FALSE(strong_equal(tag("W/\"1\""), tag("W/\"1\"")));
    EXPECT_TRUE(weak_equal(tag("W/\"1\""), tag("W/\"1\"")));
    EXPECT_FALSE(weak_equal(tag("W/\"1\""), tag("W/\"2\"")));
    EXPECT_FALSE(strong_equal(tag("W/\"1\""), tag("\"1\"")));
    EXPECT_TRUE(weak_equal(tag("W/\"1\""), tag("\"1\"")));
    EXPECT_TRUE(strong_equal(tag("\"1\""), tag("\"1\"")));
    EXPECT_TRUE(weak_equal(tag("\"1\""), tag("\"1\"")));
    EXPECT_FALSE(strong_equal(tag("\"1\""), tag("\"2\"")));
}

TEST(IfNoneMatch, ReadsAllLinesAsOneList) {
    const auto v1 = parse_entity_tag("\"v1\"");
    EXPECT_EQ(none_match({}, v1), tag_match::absent);
    EXPECT_EQ(none_match({"\"v1\""}, v1), tag_match::matches);
    EXPECT_EQ(none_match({"\"v2\""}, v1), tag_match::differs);
    EXPECT_EQ(none_match({"\"v2\", \"v1\""}, v1), tag_match::matches);
    EXPECT_EQ(none_match({"\"v2\"", "\"v3\",\"v1\""}, v1), tag_match::matches);
    EXPECT_EQ(none_match({",, \"v1\" ,"}, v1), tag_match::matches);
    EXPECT_EQ(none_match({"\"v1\""}, std::nullopt), tag_match::differs);
    EXPECT_EQ(none_match({""}, v1), tag_match::differs);
    EXPECT_EQ(none_match({"v1"}, v1), tag_match::differs);
}

// Bug case B14.
TEST(IfNoneMatch, ComparesWeakly) {
    EXPECT_EQ(none_match({"W/\"v1\""}, parse_entity_tag("\"v1\"")), tag_match::matches);
    EXPECT_EQ(none_match({"\"v1\""}, parse_entity_tag("W/\"v1\"")), tag_match::matches);
}

TEST(IfNoneMatch, KnowsTheStarOnlyAlone) {
    const auto v1 = parse_entity_tag("\"v1\"");
    EXPECT_EQ(none_match({"*"}, v1), tag_match::any);
    EXPECT_EQ(none_match({" * "}, std::nullopt), tag_match::any);
    EXPECT_EQ(none_match({"\"v2\", *"}, v1), tag_match::differs);
    EXPECT_EQ(none_match({"*, \"v1\""}, v1), tag_match::matches);
    EXPECT_EQ(none_match({"\"*\""}, v1), tag_match::differs);
}

TEST(IfNoneMatch, TagsMayHoldCommasAndBackslashes) {
    EXPECT_EQ(none_match({"\"x\", \"a,b\\\", \"y\""}, parse_entity_tag("\"a,b\\\"")), tag_match::matches);
    EXPECT_EQ(none_match({"\"a\", \"b\""}, parse_entity_tag("\"a\\\", \\\"b\"")), tag_match::differs);
    EXPECT_EQ(none_match({"\"a, \"b\""}, parse_entity_tag("\"b\"")), tag_match::differs);  // what follows is junk
}

// The consumer of the article cuts the quotes off with etag[1..-2].
TEST(IfNoneMatch, LenientReadingTakesCutTags) {
    const auto strong = parse_entity_tag("\"abc\"");
    const auto weak = parse_entity_tag("W/\"abc\"");
    for (const char* cut : {"abc", "/\"abc", "\"zz\", abc", "xyz, /\"abc"}) {
        EXPECT_EQ(none_match({cut}, strong, tag_reading::lenient), tag_match::matches) << cut;
        EXPECT_EQ(none_match({cut}, weak, tag_reading::lenient), tag_match::matches) << cut;
        EXPECT_EQ(none_match({cut}, strong, tag_reading::strict), tag_match::differs) << cut;
    }
    for (const char* other : {"ab", "abcd", "/\"ab", "/abc", "\"abc", "abc\"", "a bc", "/\""}) {
        EXPECT_EQ(none_match({other}, strong, tag_reading::lenient), tag_match::differs) << other;
    }
    EXPECT_EQ(none_match({"*"}, parse_entity_tag("\"*\""), tag_reading::lenient), tag_match::any);
}

TEST(IfMatch, ComparesStrongly) {
    const auto v1 = parse_entity_tag("\"v1\"");
    EXPECT_EQ(if_match({}, v1), tag_match::absent);
    EXPECT_EQ(if_match({"\"v2\", \"v1\""}, v1), tag_match::matches);
    EXPECT_EQ(if_match({"W/\"v1\""}, v1), tag_match::differs);
    EXPECT_EQ(if_match({"\"v1\""}, parse_entity_tag("W/\"v1\"")), tag_match::differs);
    EXPECT_EQ(if_match({"*"}, v1), tag_match::any);
    EXPECT_EQ(if_match({"v1"}, v1), tag_match::differs);
}

// B24: what compressing hops leave behind
TEST(CodingSuffix, KnownOnesOnly) {
    struct row {
        const char *opaque, *coding, *rest;
    };
    for (const row& r : {row{"v1-gzip", "gzip", "v1"}, row{"v1--gzip", "gzip", "v1"}, row{"v1;gzip", "gzip", "v1"},
                         row{"v1-br", "br", "v1"}, row{"v1-zstd", "zstd", "v1"}, row{"v1-deflate", "deflate", "v1"},
                         row{"v1---gzip", "gzip", "v1-"}, row{"a-gzip-br", "br", "a-gzip"}, row{"v1", "", "v1"},
                         row{"v1-zip", "", "v1-zip"}, row{"v1gzip", "", "v1gzip"}, row{"-gzip", "", "-gzip"},
                         row{"gzip", "", "gzip"}, row{"v1-GZIP", "", "v1-GZIP"}, row{"v1-gzip2", "", "v1-gzip2"},
                         row{"v1_gzip", "", "v1_gzip"}, row{"", "", ""}}) {
        EXPECT_EQ(suffix_coding(r.opaque), r.coding) << r.opaque;
        EXPECT_EQ(without_suffix(r.opaque), r.rest) << r.opaque;
    }
}

TEST(CodingSuffix, IsTakenOffWhereTheRestIsEqual) {
    const auto current = parse_entity_tag("\"v1\"");
    const auto matches = [&](const char* value, suffix_reading suffixes) {
        fields request;
        EXPECT_TRUE(request.add("If-None-Match", value));
        return match_if_none_match(request, current, tag_reading::lenient, suffixes) == tag_match::matches;
    };
    for (const char* sent : {"\"v1-gzip\"", "\"v1;gzip\"", "\"v1--gzip\"", "W/\"v1-gzip\"", "\"v1-br\"", "\"v1-zstd\"",
                             "\"v1-deflate\"", "v1-gzip", "/\"v1-gzip", "\"a\", \"v1-gzip\""}) {
        EXPECT_TRUE(matches(sent, suffix_reading::removed)) << sent;
        EXPECT_FALSE(matches(sent, suffix_reading::kept)) << sent;
    }
    for (const char* sent : {"\"v2-gzip\"", "\"v1-gzip-gzip\"", "\"v1-zip\"", "\"v1-\"", "\"v11-gzip\"", "\"v-gzip\"",
                             "\"v1 -gzip\"", "\"v1gzip\""}) {
        EXPECT_FALSE(matches(sent, suffix_reading::removed)) << sent;
    }
    // The other way round it is another tag.
    fields request;
    EXPECT_TRUE(request.add("If-None-Match", "\"v1\""));
    EXPECT_EQ(
        match_if_none_match(request, parse_entity_tag("\"v1-gzip\""), tag_reading::lenient, suffix_reading::removed),
        tag_match::differs);
    // An empty tag is nobody's rest.
    fields suffix;
    EXPECT_TRUE(suffix.add("If-None-Match", "\"-gzip\""));
    EXPECT_EQ(match_if_none_match(suffix, parse_entity_tag("\"\""), tag_reading::lenient, suffix_reading::removed),
              tag_match::differs);
}

}  // namespace
}  // namespace etagere::http
