// Coded forms beside a stored body: whose they are, what they cost, how long they live.
#include "etagere/store/memory.hpp"

#include "make.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::store {
namespace {

using http::coding;
using testing::at;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::not_modified;

object_ptr codable(std::string body, const std::string& etag = "\"a\"", const std::string& cache_control = "max-age=60",
                   moment when = at()) {
    cache::stored_response s;
    s.request_time = s.response_time = when.wall;
    EXPECT_TRUE(s.header.add("Content-Type", "text/plain"));
    EXPECT_TRUE(s.header.add("Cache-Control", cache_control));
    EXPECT_TRUE(s.header.add("Vary", "Accept-Encoding"));
    EXPECT_TRUE(s.header.add("Content-Digest", "sha-256=:x:"));
    EXPECT_TRUE(s.header.add("ETag", etag));
    s.index();
    return make_object(std::move(s), share(std::move(body)), when.wall + std::chrono::hours(1));
}

object_ptr freshened(const object& o, const std::string& cache_control, moment when) {
    object_ptr head = codable("", std::string(o.response.etag()), cache_control, when);
    boost::intrusive_ptr<object> made(new object(*head));
    made->body = o.body;
    made->response.body_size = o.response.body_size;
    return made;
}

std::unique_ptr<store> memory(std::uint64_t size) {
    return make_memory_store({.size = size, .max_object = size, .hash_seed = 7});
}

object_ptr only(store& s, const std::string& key, moment now = at()) {
    const found f = s.peek(key, now);
    return f.set && f.set.size() == 1 ? f.set[0] : nullptr;
}

TEST(CodedForm, HasAWireHeadOfItsOwn) {
    const object_ptr o = with_form(*codable("body"), coding::br, share("b"));
    const coded_form* const form = o->form(coding::br);
    ASSERT_NE(form, nullptr);
    EXPECT_THAT(form->wire_full, HasSubstr("Content-Encoding: br\r\n"));
    EXPECT_THAT(form->wire_full, HasSubstr("ETag: W/\"a\"\r\n"));
    EXPECT_THAT(form->wire_full, HasSubstr("Vary: Accept-Encoding\r\n"));
    EXPECT_THAT(form->wire_full, HasSubstr("Via: 1.1 etagere\r\n"));
    EXPECT_THAT(form->wire_full, Not(HasSubstr("Digest")));
    EXPECT_THAT(o->wire_full(), HasSubstr("ETag: \"a\"\r\n"));
    EXPECT_THAT(o->wire_full(), HasSubstr("Content-Digest"));
    EXPECT_EQ(o->form(coding::gzip), nullptr);
}

TEST(CodedForm, ItsNotModifiedSaysTheWeakTag) {
    const object_ptr strong = codable("body");
    EXPECT_EQ(strong->rest->coded_etag, "W/\"a\"");
    EXPECT_THAT(not_modified(*strong, true), HasSubstr("304"));
    EXPECT_THAT(not_modified(*strong, true), HasSubstr("ETag: W/\"a\"\r\n"));
    EXPECT_THAT(not_modified(*strong), HasSubstr("ETag: \"a\"\r\n"));
    // One that is weak anyway, or cannot be coded, needs no second one.
    EXPECT_EQ(codable("body", "W/\"a\"")->rest->coded_etag, "");
    EXPECT_EQ(codable("body", "\"a\"", "no-transform")->rest->coded_etag, "");
}

TEST(CodedForm, GoesWithTheBytesUnderANewHead) {
    const object_ptr old = with_form(*codable("body"), coding::gzip, share("b"));
    const object_ptr fresh = with_bytes_of(freshened(*old, "max-age=5", at(milliseconds(1000))), *old);
    const coded_form* const form = fresh->form(coding::gzip);
    ASSERT_NE(form, nullptr);
    EXPECT_EQ(form->body, old->form(coding::gzip)->body);
    EXPECT_THAT(form->wire_full, HasSubstr("max-age=5"));
    const object_ptr forbidden = with_bytes_of(freshened(*old, "no-transform", at(milliseconds(1000))), *old);
    EXPECT_EQ(forbidden->form(coding::gzip), nullptr);
}

TEST(WithBytesOf, IsTheSameObjectWhereNothingIsMissing) {
    const object_ptr o = codable("body");
    EXPECT_EQ(with_bytes_of(o, *codable("body")), o);
}

TEST(MemoryForms, AreKeptAndCounted) {
    const auto s = memory(1 << 20U);
    const object_ptr o = codable(std::string(10'000, 'x'));
    s->put("k", o, 8, at());
    const std::uint64_t before = s->memory_totals().bytes;
    s->keep_forms("k", *with_form(*o, coding::gzip, share(std::string(3000, 'g'))), at());
    s->keep_forms("k", *with_form(*o, coding::br, share(std::string(2000, 'b'))), at());
    const object_ptr kept = only(*s, "k");
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(kept->body, o->body);
    ASSERT_NE(kept->form(coding::gzip), nullptr);
    ASSERT_NE(kept->form(coding::br), nullptr);
    EXPECT_GE(s->memory_totals().bytes, before + 5000);
    EXPECT_LE(s->memory_totals().bytes, before + 7000);
    s->erase("k", at());
    EXPECT_LT(s->memory_totals().bytes, before);
}

TEST(MemoryForms, SurviveAFreshening) {
    const auto s = memory(1 << 20U);
    const object_ptr o = codable("body");
    s->put("k", o, 8, at());
    s->keep_forms("k", *with_form(*o, coding::gzip, share("g")), at());
    // By a request that had looked it up before the form was there.
    s->freshen("k", freshened(*o, "max-age=7", at(milliseconds(1000))), at(milliseconds(1000)));
    const object_ptr kept = only(*s, "k", at(milliseconds(1000)));
    ASSERT_NE(kept, nullptr);
    EXPECT_EQ(kept->response.directives.max_age, 7);
    ASSERT_NE(kept->form(coding::gzip), nullptr);
    EXPECT_THAT(kept->form(coding::gzip)->wire_full, HasSubstr("max-age=7"));
}

TEST(MemoryForms, NeverOverOtherBytes) {
    const auto s = memory(1 << 20U);
    const object_ptr old = codable("old");
    s->put("k", codable("new", "\"b\"", "max-age=60", at(milliseconds(1))), 8, at());
    s->keep_forms("k", *with_form(*old, coding::gzip, share("g")), at());
    s->keep_forms("other", *with_form(*old, coding::gzip, share("g")), at());
    EXPECT_EQ(only(*s, "k")->form(coding::gzip), nullptr);
    EXPECT_EQ(only(*s, "other"), nullptr);
}

TEST(MemoryForms, PushOthersOut) {
    const auto s = memory(60'000);
    const object_ptr o = codable(std::string(20'000, 'x'));
    s->put("first", codable(std::string(20'000, 'y')), 8, at());
    s->put("k", o, 8, at());
    s->keep_forms("k", *with_form(*o, coding::gzip, share(std::string(19'000, 'g'))), at());
    EXPECT_EQ(only(*s, "first"), nullptr);
    ASSERT_NE(only(*s, "k"), nullptr);
    EXPECT_NE(only(*s, "k")->form(coding::gzip), nullptr);
    EXPECT_LE(s->memory_totals().bytes, 60'000U);
}

TEST(MemoryForms, AnObjectIsNotLostToItsForm) {
    const auto s = memory(30'000);
    const object_ptr o = codable(std::string(20'000, 'x'));
    s->put("k", o, 8, at());
    s->keep_forms("k", *with_form(*o, coding::gzip, share(std::string(19'000, 'g'))), at());
    const object_ptr kept = only(*s, "k");
    ASSERT_NE(kept, nullptr);
    ASSERT_NE(kept->form(coding::gzip), nullptr);  // known, so that it is not made again
    EXPECT_EQ(kept->form(coding::gzip)->body, nullptr);
}

}  // namespace
}  // namespace etagere::store
