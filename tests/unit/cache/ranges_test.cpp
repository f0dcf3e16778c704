// RFC 9110 §14, §13.1.5; RFC 9111 §3.3, §3.4.
#include "etagere/cache/ranges.hpp"

#include "unit/cache/support.hpp"

#include <algorithm>
#include <random>

namespace etagere::cache {

inline void PrintTo(range_answer::kind v, std::ostream* to) {
    *to << "range_answer " << static_cast<int>(v);
}

namespace test {
namespace {

using enum range_answer::kind;

std::string content_range(http::byte_range r, std::uint64_t length) {
    std::string out;
    http::append_content_range(out, r, length);
    return out;
}

http::response_head part_head(http::byte_range r, std::uint64_t length, field_list more = {{"ETag", "\"v1\""}}) {
    more.emplace_back("Content-Range", content_range(r, length));
    more.emplace_back("Cache-Control", "max-age=60");
    http::response_head head = make_response(more, 206);
    head.body = http::framing::of_length(r.size());
    return head;
}

stored_response part(http::byte_range r, std::uint64_t length, const field_list& more = {{"ETag", "\"v1\""}},
                     const field_list& request = {}) {
    const http::response_head head = part_head(r, length, more);
    const part_judgement judged = judge_part(make_request(request), head, {}, t0);
    EXPECT_TRUE(judged.may.store) << name(judged.may.why);
    return make_part(make_request(request), head, judged, {}, t0, t0, test_digest);
}

stored_response complete(const field_list& more = {{"ETag", "\"v1\""}}, int status = 200, std::uint64_t size = 1000) {
    stored_response r = stored(more, status);
    r.body_size = size;
    return r;
}

range_answer::kind answer(const stored_response& r, const field_list& request, std::string_view method = "GET") {
    return answer_range(make_request(request, method), r).what;
}

TEST(AnswerRange, OfAWhole) {
    EXPECT_EQ(answer(complete(), {}), range_answer::kind::whole);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=0-4"}}), single);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=0-4,500-504"}}), several);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=1000-"}}), unsatisfiable);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=4-0"}}), range_answer::kind::whole);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=0-4"}}, "HEAD"), range_answer::kind::whole);
    EXPECT_EQ(answer(complete(), {{"Range", "bytes=0-300,400-650,750-999"}}), range_answer::kind::whole);  // costs more
    for (const int status : {203, 204, 301, 404, 410, 500}) {                                              // B76
        EXPECT_EQ(answer(complete({}, status), {{"Range", "bytes=0-4"}}), range_answer::kind::whole) << status;
    }
    EXPECT_EQ(answer(complete({{"Content-Range", "bytes 0-9/10"}}), {{"Range", "bytes=0-4"}}),
              range_answer::kind::whole);
}

TEST(AnswerRange, OfAPart) {
    const stored_response r = part({100, 199}, 1000);
    EXPECT_TRUE(r.is_partial());
    EXPECT_EQ(r.status, 206);
    EXPECT_FALSE(r.header.has(http::field_id::content_range));
    for (const auto& [asked, want] :
         std::vector<std::pair<std::string, range_answer::kind>>{{"bytes=100-199", single},
                                                                 {"bytes=150-150", single},
                                                                 {"bytes=99-199", not_held},
                                                                 {"bytes=100-200", not_held},
                                                                 {"bytes=100-", not_held},
                                                                 {"bytes=-900", not_held},
                                                                 {"bytes=1000-", not_held},
                                                                 {"bytes=0-0,150-151", not_held},
                                                                 {"bytes=100-101,190-191", several},
                                                                 {"bytes=4-0", range_answer::kind::whole},
                                                                 {"items=0-4", range_answer::kind::whole}}) {
        SCOPED_TRACE(asked);
        const range_answer got = answer_range(make_request({{"Range", asked}}), r);
        EXPECT_EQ(got.what, want);
        EXPECT_EQ(can_answer(r, got), want == single || want == several);
    }
    EXPECT_FALSE(can_answer(r, answer_range(make_request(), r)));
    EXPECT_FALSE(can_answer(r, answer_range(make_request({{"Range", "bytes=100-199"}}, "HEAD"), r)));
    EXPECT_FALSE(can_answer(r, answer_range(make_request({{"Range", "bytes=100-199"}, {"If-Range", "\"v2\""}}), r)));
    EXPECT_TRUE(can_answer(complete(), answer_range(make_request(), complete())));
}

TEST(AnswerRange, OctetsOfParts) {
    stored_response r = part({100, 199}, 1000);
    r.rest.edit().parts = {{100, 199}, {300, 302}};
    const std::string body = std::string(100, 'a') + "xyz";
    EXPECT_EQ(octets(r, body, {300, 302}), "xyz");
    EXPECT_EQ(octets(r, body, {301, 301}), "y");
    EXPECT_EQ(octets(r, body, {198, 199}), "aa");
    EXPECT_EQ(octets(complete(), "0123456789", {3, 5}), "345");
}

// §3.3: nothing but a range that it holds is answered by a part.
TEST(DecideReuse, WithAPart) {
    const stored_response r = part({0, 399}, 1000);
    const auto decide = [&](const field_list& request, std::string_view method = "GET", wall_time now = t0,
                            const policy& rules = {}) {
        return decide_reuse(&r, true, make_request(request, method), rules, now);
    };
    EXPECT_EQ(decide({{"Range", "bytes=0-9"}}).what, reuse_action::serve);
    EXPECT_EQ(decide({{"Range", "bytes=0-9"}}, "GET", t0 + 2min).what, reuse_action::validate);
    for (const wall_time now : {t0, t0 + 2min}) {
        EXPECT_EQ(decide({{"Range", "bytes=0-400"}}, "GET", now).what, reuse_action::fetch);
        EXPECT_EQ(decide({{"Range", "bytes=0-400"}}, "GET", now).why, reason::miss_partial);
        EXPECT_EQ(decide({}, "GET", now).what, reuse_action::complete);
        EXPECT_EQ(decide({}, "HEAD", now).what, reuse_action::complete);
        EXPECT_EQ(decide({{"Range", "bytes=0-9"}, {"If-Range", "\"v2\""}}, "GET", now).what, reuse_action::complete);
    }
    EXPECT_EQ(decide({{"Cache-Control", "only-if-cached"}}, "GET", t0, honours_clients()).what, reuse_action::refuse);
    // Nothing would be saved by asking for the rest.
    const stored_response middle = part({100, 199}, 1000);
    EXPECT_EQ(decide_reuse(&middle, true, make_request(), {}, t0).what, reuse_action::fetch);
}

struct if_range_case {
    std::string name;
    field_list response;
    field_list request;
    bool holds;
};
class IfRange : public ::testing::TestWithParam<if_range_case> {};

// RFC 9110 §13.1.5
TEST_P(IfRange, Holds) {
    const auto& p = GetParam();
    field_list response = p.response;
    response.emplace_back("Date", date(t0));
    EXPECT_EQ(if_range_holds(make_fields(p.request), validators_of(complete(response))), p.holds);
    EXPECT_EQ(if_range_holds(make_fields(p.request), validators_of(make_fields(response), t0)), p.holds);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, IfRange,
    ::testing::Values(
        if_range_case{"Absent", {{"ETag", "\"a\""}}, {}, true},
        if_range_case{"Same", {{"ETag", "\"a\""}}, {{"If-Range", "\"a\""}}, true},
        if_range_case{"Other", {{"ETag", "\"a\""}}, {{"If-Range", "\"b\""}}, false},
        if_range_case{"WeakAsked", {{"ETag", "\"a\""}}, {{"If-Range", "W/\"a\""}}, false},
        if_range_case{"WeakStored", {{"ETag", "W/\"a\""}}, {{"If-Range", "\"a\""}}, false},
        if_range_case{"BothWeak", {{"ETag", "W/\"a\""}}, {{"If-Range", "W/\"a\""}}, false},
        if_range_case{"QuotesLost", {{"ETag", "\"a\""}}, {{"If-Range", "a"}}, false},
        if_range_case{"List", {{"ETag", "\"a\""}}, {{"If-Range", "\"a\", \"b\""}}, false},
        if_range_case{"Twice", {{"ETag", "\"a\""}}, {{"If-Range", "\"a\""}, {"If-Range", "\"a\""}}, false},
        if_range_case{"Star", {{"ETag", "\"a\""}}, {{"If-Range", "*"}}, false},
        if_range_case{"NoTag", {}, {{"If-Range", "\"a\""}}, false},
        if_range_case{"Date", {{"Last-Modified", date(t0 - 1h)}}, {{"If-Range", date(t0 - 1h)}}, true},
        if_range_case{"DateInAnotherFormat",
                      {{"Last-Modified", "Mon, 30 Nov 2026 11:00:00 GMT"}},
                      {{"If-Range", "Monday, 30-Nov-26 11:00:00 GMT"}},
                      true},
        if_range_case{"Later", {{"Last-Modified", date(t0 - 1h)}}, {{"If-Range", date(t0)}}, false},
        if_range_case{"Earlier", {{"Last-Modified", date(t0 - 1h)}}, {{"If-Range", date(t0 - 2h)}}, false},
        if_range_case{"DateAMinuteOld", {{"Last-Modified", date(t0 - 60s)}}, {{"If-Range", date(t0 - 60s)}}, true},
        if_range_case{"WeakDate", {{"Last-Modified", date(t0 - 59s)}}, {{"If-Range", date(t0 - 59s)}}, false},
        if_range_case{"DateBesideAnotherTag",
                      {{"ETag", "\"a\""}, {"Last-Modified", date(t0 - 1h)}},
                      {{"If-Range", date(t0 - 1h)}},
                      true}),
    case_name<if_range_case>);

struct part_case {
    std::string name;
    field_list fields;
    std::uint64_t body = 100;
    int status = 206;
    reason why = reason::pass_range;
};
class PartsNotKept : public ::testing::TestWithParam<part_case> {};

TEST_P(PartsNotKept, Judged) {
    const part_case& p = GetParam();
    http::response_head head = make_response(p.fields, p.status);
    head.body = http::framing::of_length(p.body);
    const part_judgement judged = judge_part(make_request(), head, {}, t0);
    EXPECT_FALSE(judged.may.store);
    EXPECT_EQ(judged.may.why, p.why);
    EXPECT_FALSE(judge_storability(make_request(), head, {}, t0).store && p.status == 206);
}
INSTANTIATE_TEST_SUITE_P(
    Cases, PartsNotKept,
    ::testing::Values(
        part_case{"WeakTag",
                  {{"Cache-Control", "max-age=60"}, {"ETag", "W/\"a\""}, {"Content-Range", "bytes 0-99/1000"}}},
        part_case{"NoValidator", {{"Cache-Control", "max-age=60"}, {"Content-Range", "bytes 0-99/1000"}}},
        part_case{"WeakDate",
                  {{"Cache-Control", "max-age=60"},
                   {"Last-Modified", date(t0 - 1s)},
                   {"Date", date(t0)},
                   {"Content-Range", "bytes 0-99/1000"}}},
        part_case{"WeakTagStrongDate",
                  {{"ETag", "W/\"a\""},
                   {"Last-Modified", date(t0 - 1h)},
                   {"Date", date(t0)},
                   {"Content-Range", "bytes 0-99/1000"}}},
        part_case{"BodyShorter", {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}}, 99},
        part_case{"BodyLonger", {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}}, 101},
        part_case{"NoBody", {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}}, 0},
        part_case{"NoContentRange", {{"ETag", "\"a\""}}},
        part_case{"UnknownLength", {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/*"}}},
        part_case{"Unsatisfied", {{"ETag", "\"a\""}, {"Content-Range", "bytes */1000"}}},
        part_case{"Two",
                  {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}, {"Content-Range", "bytes 0-99/1000"}}},
        part_case{"Multipart",
                  {{"ETag", "\"a\""},
                   {"Content-Range", "bytes 0-99/1000"},
                   {"Content-Type", "Multipart/ByteRanges; boundary=x"}}},
        part_case{"NoStore",
                  {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}, {"Cache-Control", "no-store"}},
                  100,
                  206,
                  reason::nostore_no_store},
        part_case{"TooLargeAWhole",
                  {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/99999999"}},
                  100,
                  206,
                  reason::nostore_too_large},
        part_case{"Status200", {{"ETag", "\"a\""}, {"Content-Range", "bytes 0-99/1000"}}, 100, 200}),
    case_name<part_case>);

TEST(JudgePart, AllOfItIsNoPart) {
    const stored_response r = part({0, 999}, 1000, {{"ETag", "W/\"a\""}});
    EXPECT_FALSE(r.is_partial());
    EXPECT_EQ(r.status, 200);
    EXPECT_FALSE(r.header.has(http::field_id::content_range));
}

TEST(MayCombine, OnlyTheSame) {
    const stored_response held = part({0, 99}, 1000);
    EXPECT_TRUE(may_combine(held, part({500, 599}, 1000)));
    EXPECT_FALSE(may_combine(held, part({500, 599}, 1001)));
    EXPECT_FALSE(may_combine(held, part({500, 599}, 1000, {{"ETag", "\"v2\""}})));
    EXPECT_FALSE(may_combine(held, part({500, 599}, 1000, {{"ETag", "\"v1\""}, {"Content-Encoding", "br"}})));
    EXPECT_FALSE(may_combine(held, part({500, 599}, 1000, {{"ETag", "\"v1\""}, {"Vary", "Accept"}})));
    EXPECT_FALSE(may_combine(held, complete()));
    EXPECT_FALSE(may_combine(complete(), held));
    stored_response weak = held;  // it cannot be stored so; a record may say anything
    weak.header.set(http::field_id::etag, "W/\"v1\"");
    weak.index();
    EXPECT_FALSE(may_combine(weak, part({500, 599}, 1000)));
    EXPECT_FALSE(may_combine(weak, weak));
    const field_list dated{{"Last-Modified", date(t0 - 1h)}, {"Date", date(t0)}};
    EXPECT_TRUE(may_combine(part({0, 99}, 1000, dated), part({500, 599}, 1000, dated)));
    EXPECT_FALSE(may_combine(held, part({500, 599}, 1000, dated)));
}

// RFC 9111 §3.4
TEST(Combine, NewFieldsWinAndOldOnesStay) {
    const stored_response held = part({0, 4}, 10, {{"ETag", "\"v1\""}, {"X-A", "1"}, {"X-A", "2"}, {"X-B", "b"}});
    const stored_response fresh = part({5, 9}, 10, {{"ETag", "\"v1\""}, {"X-A", "3"}, {"X-C", "c"}});
    const combined both = combine(held, "01234", fresh, "56789");
    EXPECT_EQ(both.body, "0123456789");
    EXPECT_FALSE(both.response.is_partial());
    EXPECT_EQ(both.response.status, 200);
    EXPECT_EQ(both.response.header.combined("X-A"), "3");
    EXPECT_EQ(both.response.header.combined("X-B"), "b");
    EXPECT_EQ(both.response.header.combined("X-C"), "c");
    EXPECT_FALSE(both.response.header.has(http::field_id::content_range));
}

// Property: whatever parts come in whatever order, what is held are octets of the original, and when all of them have
// come it is the original.
TEST(Combine, RandomCoversGiveTheOriginalBack) {
    std::mt19937 random(11);
    const auto below = [&](std::uint64_t n) { return std::uint64_t{random()} % n; };
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t length = 2 + below(300);
        std::string original(length, ' ');
        for (char& c : original) c = static_cast<char>(below(256));
        std::optional<combined> held;
        std::vector<bool> have(length, false);
        for (int step = 0; step < 200 && (!held || held->response.is_partial()); ++step) {
            const std::uint64_t first = below(length);
            http::byte_range r{first, std::min(length - 1, first + below(length / 3 + 1))};
            if (held && step > 150) r = missing_range(held->response);
            if (r.size() == length) continue;
            const stored_response fresh = part(r, length);
            const std::string_view bytes = std::string_view(original).substr(r.first, r.size());
            held = held ? combine(held->response, held->body, fresh, bytes) : combined{fresh, std::string(bytes)};
            for (std::uint64_t at = r.first; at <= r.last; ++at) have[at] = true;

            const stored_response& now = held->response;
            ASSERT_EQ(now.is_partial(), now.status == 206);
            std::uint64_t size = 0;
            for (std::size_t i = 0; i < now.rest->parts.size(); ++i) {
                const http::byte_range& p = now.rest->parts[i];
                size += p.size();
                ASSERT_EQ(octets(now, held->body, p), std::string_view(original).substr(p.first, p.size()));
                if (i > 0) ASSERT_GT(p.first, now.rest->parts[i - 1].last + 1);
                for (std::uint64_t at = p.first; at <= p.last; ++at) ASSERT_TRUE(have[at]);
            }
            if (now.is_partial()) ASSERT_EQ(size, held->body.size());
        }
        ASSERT_TRUE(held);
        ASSERT_FALSE(held->response.is_partial());
        ASSERT_EQ(held->body, original);
    }
}

TEST(Combine, KeepsTheLargestOfManyParts) {
    combined held{part({0, 0}, 10'000), "x"};
    for (std::uint64_t i = 1; i < 100; ++i) {
        held = combine(held.response, held.body, part({i * 50, i * 50 + 9}, 10'000), std::string(10, 'y'));
        EXPECT_LE(held.response.rest->parts.size(), most_parts);
    }
    EXPECT_NE(held.response.rest->parts.front(), (http::byte_range{0, 0}));
    EXPECT_EQ(held.body, std::string(most_parts * 10, 'y'));
}

TEST(Completion, AsksForWhatIsMissing) {
    EXPECT_EQ(missing_range(part({0, 4}, 10)), (http::byte_range{5, 9}));
    EXPECT_EQ(missing_range(part({5, 9}, 10)), (http::byte_range{0, 4}));
    EXPECT_EQ(missing_range(part({5, 6}, 10)), (http::byte_range{0, 9}));
    const combined ends = combine(part({0, 1}, 10), "01", part({8, 9}, 10), "89");
    EXPECT_EQ(missing_range(ends.response), (http::byte_range{2, 7}));
    http::fields request = make_fields({{"Range", "bytes=0-1"}, {"If-None-Match", "\"x\""}, {"If-Range", "\"x\""}});
    add_completion(request, ends.response);
    EXPECT_EQ(request.combined("Range"), "bytes=2-7");
    EXPECT_EQ(request.combined("If-Range"), "\"v1\"");
    EXPECT_FALSE(request.find("If-None-Match"));
}

TEST(Completion, AFreshenedPartIsStillOne) {
    const stored_response held = part({0, 4}, 10);
    ASSERT_TRUE(can_validate(held));
    const http::response_head not_modified =
        make_response({{"ETag", "\"v1\""}, {"Content-Range", "bytes 0-9/10"}}, 304);
    ASSERT_EQ(judge_validation(held, not_modified), validation::freshened);
    const stored_response fresh = freshen(held, not_modified, {}, t0 + 2min, t0 + 2min);
    EXPECT_EQ(fresh.rest->parts, held.rest->parts);
    EXPECT_EQ(fresh.rest->complete_length, 10U);
    EXPECT_EQ(fresh.status, 206);
    EXPECT_FALSE(fresh.header.has(http::field_id::content_range));
}

// 412 and 416 answer one request's condition or range; a lifetime does not make them anybody else's.
TEST(Storability, NotOfOneRequest) {
    for (const int status : {206, 304, 412, 416}) {
        const auto head = make_response({{"Cache-Control", "public, max-age=60"}, {"ETag", "\"a\""}}, status);
        EXPECT_EQ(judge_storability(make_request(), head, {}, t0).why, reason::nostore_status) << status;
    }
}

/// Reads a multipart as RFC 2046 §5.1.1 says: by its boundary alone.
std::vector<std::pair<std::string, std::string>> read_multipart(std::string_view body, std::string_view boundary) {
    std::vector<std::pair<std::string, std::string>> out;
    const std::string mark = "\r\n--" + std::string(boundary);
    EXPECT_TRUE(body.starts_with(mark));
    body.remove_prefix(mark.size());
    while (!body.starts_with("--\r\n")) {
        EXPECT_TRUE(body.starts_with("\r\n"));
        const auto head = body.find("\r\n\r\n");
        const auto end = body.find(mark, head);
        if (head == std::string_view::npos || end == std::string_view::npos) {
            ADD_FAILURE() << "not a multipart";
            return out;
        }
        out.emplace_back(body.substr(2, head - 2), body.substr(head + 4, end - head - 4));
        body.remove_prefix(end + mark.size());
    }
    EXPECT_EQ(body, "--\r\n");
    return out;
}

// Property: a multipart parses back into exactly the octets that were asked for.
TEST(Multipart, ParsesBack) {
    std::mt19937 random(3);
    for (int round = 0; round < 500; ++round) {
        std::string original(400 + random() % 1000, ' ');
        for (char& c : original) c = "\r\n-ab"[random() % 5];
        std::string value = "bytes=";
        for (std::uint32_t i = 2 + random() % 9; i > 0; --i) {
            const auto first = random() % original.size();
            value += std::to_string(first) + '-' + std::to_string(first + random() % 40) + ',';
        }
        stored_response r = complete({}, 200, original.size());
        const range_answer got = answer_range(make_request({{"Range", value}}), r);
        if (got.what != several) continue;
        std::vector<std::string_view> wanted;
        for (const http::byte_range& range : got.ranges.all()) wanted.push_back(octets(r, original, range));
        const std::string type = random() % 2 == 0 ? "" : "text/plain; charset=utf-8";
        const std::string body = multipart_body(got, wanted, type, "bab");
        // The content is made of what boundaries are made of; one that occurs in it is the caller's to avoid.
        if (original.find("--bab") != std::string::npos) continue;
        ASSERT_LE(body.size(), original.size() + got.ranges.size() * 200);
        const auto parts = read_multipart(body, "bab");
        ASSERT_EQ(parts.size(), wanted.size());
        for (std::size_t i = 0; i < parts.size(); ++i) {
            ASSERT_EQ(parts[i].second, wanted[i]);
            const std::string line = "Content-Range: " + content_range(got.ranges[i], original.size());
            ASSERT_EQ(parts[i].first, type.empty() ? line : "Content-Type: " + type + "\r\n" + line);
        }
    }
    EXPECT_EQ(multipart_type("abc"), "multipart/byteranges; boundary=abc");
}

TEST(PartialHeader, LeavesOutWhatSpeaksOfTheWholeContent) {
    const http::fields header = make_fields({{"Content-Type", "text/plain"},
                                             {"Content-Digest", "sha-256=:AA:"},
                                             {"Repr-Digest", "sha-256=:BB:"},
                                             {"content-md5", "AA"},
                                             {"ETag", "\"a\""}});
    EXPECT_FALSE(is_partial_header(header));
    const http::fields one = partial_header(header, {});
    EXPECT_TRUE(is_partial_header(one));
    EXPECT_EQ(one.size(), 3U);
    EXPECT_EQ(one.combined("Content-Type"), "text/plain");
    EXPECT_EQ(partial_header(header, "multipart/byteranges; boundary=x").combined("Content-Type"),
              "multipart/byteranges; boundary=x");
}

}  // namespace
}  // namespace test
}  // namespace etagere::cache
