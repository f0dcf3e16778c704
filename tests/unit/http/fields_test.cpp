#include "etagere/http/fields.hpp"

#include <random>
#include <utility>

#include <gmock/gmock.h>

namespace etagere::http {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing::Pair;

std::vector<std::pair<std::string, std::string>> list(const fields& all) {
    std::vector<std::pair<std::string, std::string>> out;
    for (const fields::entry f : all) out.emplace_back(f.name, f.value);
    return out;
}

TEST(Token, IsWhatRfc9110Section5_6_2Says) {
    for (int c = 0; c < 256; ++c) {
        const char octet = static_cast<char>(c);
        const bool expected = c < 128 && (std::isalnum(c) != 0 || std::string_view("!#$%&'*+-.^_`|~").contains(octet));
        EXPECT_EQ(is_token(std::string_view(&octet, 1)), expected && c != 0) << c;
    }
    EXPECT_FALSE(is_token(""));
    EXPECT_FALSE(is_token("a b"));
}

TEST(FieldValue, RefusesEveryControlButTabAtEveryPlaceAndLength) {
    for (std::size_t length = 1; length <= 40; ++length) {
        for (std::size_t at = 0; at < length; ++at) {
            for (int c = 0; c < 256; ++c) {
                std::string text(length, 'x');
                text[at] = static_cast<char>(c);
                const bool expected = c == '\t' || (c >= 0x20 && c != 0x7F);
                ASSERT_EQ(is_field_value(text), expected) << "octet " << c << " at " << at << " of " << length;
            }
        }
    }
    EXPECT_TRUE(is_field_value(""));
}

TEST(Iequals, FoldsLettersAndNothingElse) {
    EXPECT_TRUE(iequals("", ""));
    EXPECT_FALSE(iequals("a", "ab"));
    for (const std::size_t length : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 31U}) {
        for (std::size_t at = 0; at < length; ++at) {
            for (int a = 0; a < 256; ++a) {
                for (const int b : {a, a ^ 0x20, a ^ 0x80, (a + 1) & 0xFF}) {
                    std::string left(length, 'q');
                    std::string right(length, 'Q');
                    left[at] = static_cast<char>(a);
                    right[at] = static_cast<char>(b);
                    const auto fold = [](int c) { return c >= 'A' && c <= 'Z' ? c + 0x20 : c; };
                    ASSERT_EQ(iequals(left, right), fold(a) == fold(b)) << a << ' ' << b << ' ' << length;
                }
            }
        }
    }
}

TEST(Fields, KeepOrderRepetitionsAndTheNameAsReceived) {
    fields f;
    EXPECT_TRUE(f.add("accept", "a"));
    EXPECT_TRUE(f.add("X-One", "1"));
    EXPECT_TRUE(f.add("ACCEPT", "b"));
    EXPECT_THAT(list(f), ElementsAre(Pair("accept", "a"), Pair("X-One", "1"), Pair("ACCEPT", "b")));
    EXPECT_EQ(f.size(), 3U);
    EXPECT_EQ(f[2].id, field_id::accept);
    EXPECT_EQ(f[1].id, field_id::other);
    EXPECT_EQ(f.count(field_id::accept), 2U);
    EXPECT_EQ(f.count(field_id::age), 0U);
    EXPECT_TRUE(f.has(field_id::accept));
    EXPECT_FALSE(f.has(field_id::other));
}

TEST(Fields, FindGivesTheFirstAndCombinedAllOfThem) {
    fields f;
    EXPECT_TRUE(f.add("Vary", "A"));
    EXPECT_TRUE(f.add("X-a", ""));
    EXPECT_TRUE(f.add("vary", "B"));
    EXPECT_TRUE(f.add("x-A", "2"));
    EXPECT_THAT(f.find(field_id::vary), Optional(std::string_view("A")));
    EXPECT_THAT(f.find("VARY"), Optional(std::string_view("A")));
    EXPECT_THAT(f.find("X-A"), Optional(std::string_view("")));
    EXPECT_EQ(f.find("x-b"), std::nullopt);
    EXPECT_EQ(f.find(field_id::age), std::nullopt);
    EXPECT_EQ(f.get(field_id::age), "");
    EXPECT_THAT(f.combined(field_id::vary), Optional(std::string("A, B")));
    EXPECT_THAT(f.combined("x-a"), Optional(std::string(", 2")));
    EXPECT_EQ(f.combined(field_id::age), std::nullopt);
    EXPECT_EQ(f.combined("x-b"), std::nullopt);
}

// Security catalogue §1a: whatever came in, no CR, LF or NUL can go out.
TEST(Fields, AddRefusesWhatWouldSplitAMessage) {
    fields f;
    EXPECT_FALSE(f.add("X", "a\r\nInjected: 1"));
    EXPECT_FALSE(f.add("X", std::string_view("a\0b", 3)));
    EXPECT_FALSE(f.add("X\r\nY", "1"));
    EXPECT_FALSE(f.add("X:", "1"));
    EXPECT_FALSE(f.add("", "1"));
    EXPECT_FALSE(f.add(std::string(70'000, 'n'), "1"));
    EXPECT_TRUE(f.empty());
}

TEST(Fields, SetReplacesAllAndEraseCounts) {
    fields f;
    EXPECT_TRUE(f.add("Age", "1"));
    EXPECT_TRUE(f.add("X-y", "keep"));
    EXPECT_TRUE(f.add("age", "2"));
    f.set(field_id::age, "3");
    EXPECT_THAT(list(f), ElementsAre(Pair("X-y", "keep"), Pair("Age", "3")));
    EXPECT_EQ(f.erase(field_id::age), 1U);
    EXPECT_EQ(f.erase(field_id::age), 0U);
    EXPECT_FALSE(f.has(field_id::age));
    EXPECT_EQ(f.erase("x-Y"), 1U);
    EXPECT_EQ(f.erase("x-y"), 0U);
    f.append(field_id::via, "1.1 a");
    f.append(field_id::via, "1.1 b");
    EXPECT_EQ(f.erase("VIA"), 2U);
    EXPECT_TRUE(f.empty());
}

// A value that is a view into the very fields it is put into survives the move of the arena.
TEST(Fields, OverwriteChangesOctetsInPlace) {
    fields f;
    ASSERT_TRUE(f.add("ETag", "\"a\""));
    ASSERT_TRUE(f.add("X-A", "1"));
    f.live_in("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nX-A: 1\r\nVia: x\r\n", 17);
    EXPECT_TRUE(f.lives_in_text());
    EXPECT_TRUE(f.overwrite(field_id::etag, "\"b\""));
    EXPECT_TRUE(f.lives_in_text());
    EXPECT_EQ(f.octets(), "HTTP/1.1 200 OK\r\nETag: \"b\"\r\nX-A: 1\r\nVia: x\r\n");
    EXPECT_EQ(f.get(field_id::etag), "\"b\"");

    EXPECT_FALSE(f.overwrite(field_id::etag, "\"bc\""));  // of another size
    EXPECT_FALSE(f.overwrite(field_id::vary, "a"));       // none
    const fields copy = f;
    EXPECT_TRUE(copy.lives_in_text());
    f.append(field_id::etag, "\"c\"");
    EXPECT_FALSE(f.lives_in_text());
    EXPECT_FALSE(f.overwrite(field_id::etag, "\"d\""));  // several
    EXPECT_EQ(f.combined(field_id::etag), "\"b\", \"c\"");

    for (const auto change : {+[](fields& x) { x.erase("x-a"); }, +[](fields& x) { x.erase(field_id::etag); },
                              +[](fields& x) { x.shrink(); }, +[](fields& x) { x.clear(); }}) {
        fields changed = copy;
        change(changed);
        EXPECT_FALSE(changed.lives_in_text());
    }
}

TEST(Fields, MayBeFedFromThemselves) {
    fields f;
    const std::string long_value(400, 'v');
    EXPECT_TRUE(f.add("ETag", long_value));
    for (int i = 0; i < 20; ++i) f.append(field_id::via, f.get(field_id::etag));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(f.add(f[0].name, f[0].value));
    for (const fields::entry e : f) EXPECT_EQ(e.value, long_value);
    f.set(field_id::age, f.get(field_id::etag));
    EXPECT_EQ(f.get(field_id::age), long_value);
}

TEST(Fields, ClearKeepsTheRoomAndShrinkGivesItBack) {
    fields f;
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(f.add("X-Name", std::string(100, 'v')));
    const std::size_t full = f.memory();
    f.clear();
    EXPECT_TRUE(f.empty());
    EXPECT_FALSE(f.has(field_id::via));
    EXPECT_EQ(f.memory(), full);
    EXPECT_TRUE(f.add("Via", "1.1 a"));
    EXPECT_TRUE(f.add("X-gone", std::string(1000, 'v')));
    f.erase("x-gone");
    f.shrink();
    EXPECT_LT(f.memory(), 200U);
    EXPECT_THAT(list(f), ElementsAre(Pair("Via", "1.1 a")));
    EXPECT_TRUE(f.has(field_id::via));
}

TEST(Fields, KeepTheirLinesAsTheyAreSent) {
    fields f;
    EXPECT_TRUE(f.add("x-name", "value"));
    f.append(field_id::etag, "");
    EXPECT_EQ(f.line(0), "x-name: value\r\n");
    EXPECT_EQ(f.line(1), "ETag: \r\n");
    EXPECT_EQ(f.octets(), "x-name: value\r\nETag: \r\n");
    EXPECT_TRUE(f.in_one_piece());
    f.erase("x-name");
    EXPECT_FALSE(f.in_one_piece());
    EXPECT_FALSE(fields(f).in_one_piece());
    f.clear();
    EXPECT_TRUE(f.in_one_piece());
}

TEST(Fields, LiveInAText) {
    fields f;
    EXPECT_TRUE(f.add("X-Gone", "soon"));
    EXPECT_TRUE(f.add("ETag", "\"1\""));
    EXPECT_TRUE(f.add("X-Name", std::string(70'000, 'v')));
    f.erase("x-gone");
    const std::string text = "HTTP/1.1 200 OK\r\n" + std::string(f.line(0)) + std::string(f.line(1)) + "Via: 1.1 a\r\n";
    const auto before = list(f);
    f.live_in(text, 17);
    EXPECT_EQ(f.octets(), text);
    EXPECT_EQ(list(f), before);
    EXPECT_EQ(f.get(field_id::etag).data(), f.octets().data() + 17 + 6);
    fields copy = f;
    EXPECT_EQ(copy.octets(), text);
    copy.append(field_id::age, "1");
    EXPECT_EQ(copy.get(field_id::age), "1");
    EXPECT_FALSE(f.has(field_id::age));
    EXPECT_FALSE(f.in_one_piece());
    EXPECT_FALSE(copy.in_one_piece()) << "the status line is still there";
    EXPECT_LE(f.memory(), text.size() + 2 * 8 + 7);
}

TEST(Fields, HaveABound) {
    fields f;
    const std::string longest(fields::most_octets - 3, 'v');
    EXPECT_FALSE(f.add("X-Long", longest));
    EXPECT_TRUE(f.add("X-L", longest));
    EXPECT_FALSE(f.add("X", "y")) << "there is no room";
    f.append(field_id::via, "1.1 a");
    EXPECT_EQ(f.get(field_id::via), "1.1 a") << "but for our own";
    EXPECT_EQ(f[0].value, longest);
    EXPECT_FALSE(f.add(std::string(70'000, 'n'), "v"));
    EXPECT_EQ(f.size(), 2U);
}

TEST(Fields, AreCopiedIntoTheRoomThereIs) {
    fields small, large;
    EXPECT_TRUE(small.add("Via", "1.1 a"));
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(large.add("X-Name", std::to_string(i)));
    fields to = large;
    const std::size_t room = to.memory();
    to = small;
    EXPECT_EQ(list(to), list(small));
    EXPECT_FALSE(to.has(field_id::etag));
    EXPECT_EQ(to.memory(), room);
    to = large;
    EXPECT_EQ(list(to), list(large));
    const fields taken = std::move(to);
    EXPECT_EQ(list(taken), list(large));
    EXPECT_TRUE(to.empty());
    to = taken;
    EXPECT_EQ(list(to), list(large));
    const fields none;
    to = none;
    EXPECT_TRUE(to.empty());
    EXPECT_TRUE(fields(none).empty());
}

// Against the plainest possible model, over random operations.
TEST(Fields, BehaveLikeAListOfPairs) {
    std::mt19937 random(20'261'130);
    const std::vector<std::string> names{"Age", "age", "Vary", "X-A", "x-a", "X-B"};
    for (int round = 0; round < 200; ++round) {
        fields f;
        std::vector<std::pair<std::string, std::string>> model;
        const auto erase = [&](std::string_view name) {
            return std::erase_if(model, [&](const auto& m) { return iequals(m.first, name); });
        };
        for (int step = 0; step < 60; ++step) {
            const std::string& name = names[random() % names.size()];
            const std::string value = std::to_string(random());
            switch (random() % 3) {
                case 0: ASSERT_EQ(f.erase(name), erase(name)); break;
                case 1:
                    f.set(field_id::vary, value);
                    erase("vary");
                    model.emplace_back("Vary", value);
                    break;
                default: ASSERT_TRUE(f.add(name, value)); model.emplace_back(name, value);
            }
            ASSERT_EQ(list(f), model);
            const fields copy = f;
            ASSERT_EQ(list(copy), model);
            fields line_by_line;
            for (std::size_t i = 0; i < f.size(); ++i) line_by_line.append(f, i);
            ASSERT_EQ(list(line_by_line), model);
            ASSERT_EQ(line_by_line.has(field_id::vary), f.has(field_id::vary));
            ASSERT_TRUE(line_by_line.in_one_piece());
            if (f.in_one_piece()) ASSERT_EQ(f.octets(), line_by_line.octets());
            const auto first = std::ranges::find_if(model, [&](const auto& m) { return iequals(m.first, name); });
            ASSERT_EQ(f.find(name).has_value(), first != model.end());
            if (first != model.end()) ASSERT_EQ(*f.find(name), first->second);
        }
    }
}

}  // namespace
}  // namespace etagere::http
