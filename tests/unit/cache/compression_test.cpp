#include "etagere/cache/compression.hpp"

#include "support.hpp"

namespace etagere::cache {
namespace {

using namespace test;
using http::coding;

const std::vector<coding> all{coding::zstd, coding::br, coding::gzip};

policy coding_route() {
    policy rules;
    rules.compress = all;
    rules.compress_above = 100;
    return rules;
}

const field_list json{{"Content-Type", "application/json"}};

field_list with(field_list list, const field_list& more) {
    list.insert(list.end(), more.begin(), more.end());
    return list;
}

http::response_head answer(const field_list& list, int status = 200, std::uint64_t size = 1000) {
    http::response_head made = make_response(list, status);
    made.body = http::framing::of_length(size);
    return made;
}

// ---------------------------------------------------------------- RFC 9110 §12.5.3

struct negotiation_case {
    std::string name;
    std::vector<std::string> lines;
    coding wanted;
    std::vector<coding> offered = all;
};
class Negotiation : public testing::TestWithParam<negotiation_case> {};

TEST_P(Negotiation, PicksWhatTheClientWeighsMost) {
    http::fields request;
    for (const std::string& line : GetParam().lines) ASSERT_TRUE(request.add("Accept-Encoding", line));
    EXPECT_EQ(http::name(negotiate_coding(request, GetParam().offered)), http::name(GetParam().wanted));
}

INSTANTIATE_TEST_SUITE_P(
    Examples, Negotiation,
    testing::Values(
        negotiation_case{"NoField", {}, coding::identity}, negotiation_case{"EmptyField", {""}, coding::identity},
        negotiation_case{"Gzip", {"gzip"}, coding::gzip}, negotiation_case{"AnyCase", {"GZip"}, coding::gzip},
        negotiation_case{"XGzipIsGzip", {"x-gzip"}, coding::gzip},
        negotiation_case{"NameInsideAName", {"gzip2, xgzip, brotli"}, coding::identity},
        negotiation_case{"EqualWeightsGoByTheRoute", {"gzip, deflate, br, zstd"}, coding::zstd},
        negotiation_case{"TheRoutesOrder", {"zstd, gzip"}, coding::gzip, {coding::gzip, coding::zstd}},
        negotiation_case{"OnlyWhatIsOffered", {"zstd, br"}, coding::identity, {coding::gzip}},
        negotiation_case{"WeightBeatsTheRoute", {"zstd;q=0.5, gzip"}, coding::gzip},
        negotiation_case{"AThousandth", {"zstd;q=0.998, br;q=0.999"}, coding::br},
        negotiation_case{"ZeroRefuses", {"zstd;q=0, br;q=0.0, gzip;q=0.000"}, coding::identity},
        negotiation_case{"StarIsWhateverIsNotNamed", {"zstd;q=0, *"}, coding::br},
        negotiation_case{"StarAlone", {"*"}, coding::zstd},
        negotiation_case{"StarRefusesTheRest", {"gzip;q=0.1, *;q=0"}, coding::gzip},
        negotiation_case{"StarIsIdentityToo", {"*;q=0.8, gzip;q=0.5, br;q=0.4, zstd;q=0.1"}, coding::identity},
        negotiation_case{"IdentityWeighsMore", {"gzip;q=0.5, identity"}, coding::identity},
        negotiation_case{"IdentityWeighsTheSame", {"gzip, identity"}, coding::gzip},
        negotiation_case{"IdentityWeighsLess", {"gzip;q=1.0, deflate;q=0.6, identity;q=0.3"}, coding::gzip},
        negotiation_case{"IdentityAlone", {"identity"}, coding::identity},
        negotiation_case{"IdentityRefused", {"identity;q=0, gzip;q=0.2"}, coding::gzip},
        negotiation_case{"NothingAcceptable", {"identity;q=0"}, coding::identity},
        negotiation_case{"NothingAcceptableByStar", {"*;q=0"}, coding::identity},
        negotiation_case{"UnknownOnly", {"compress, deflate, aes128gcm"}, coding::identity},
        // B36: every line counts
        negotiation_case{"SecondLine", {"gzip", "br"}, coding::br},
        negotiation_case{"SecondLineRefuses", {"gzip", "gzip;q=0"}, coding::identity},
        negotiation_case{"TheLeastWordCounts", {"gzip;q=0, gzip, br;q=0.5"}, coding::br},
        negotiation_case{"BadMembersAskForNothing", {"gzip;q=2, br;level=3, zstd;q=x, ;q=1,,"}, coding::identity},
        negotiation_case{"BadMembersDoNotHurtOthers", {"gzip;q=2, br"}, coding::br},
        negotiation_case{"NothingOffered", {"gzip, br, zstd"}, coding::identity, {}}),
    case_name<negotiation_case>);

// Whatever is sent, the answer is one that the client did not refuse, or identity.
TEST(NegotiationProperty, NothingRefusedIsSent) {
    const std::vector<std::string> weights{"", ";q=0", ";q=0.3", ";q=1"};
    for (const std::string& z : weights) {
        for (const std::string& b : weights) {
            for (const std::string& g : weights) {
                for (const std::string star : {"", ", *;q=0", ", *"}) {
                    const auto text = "zstd" + z + ", br" + b + ", gzip" + g + star;
                    const coding got = negotiate_coding(make_fields({{"Accept-Encoding", text}}), all);
                    EXPECT_FALSE(got == coding::zstd && z == ";q=0") << text;
                    EXPECT_FALSE(got == coding::br && b == ";q=0") << text;
                    EXPECT_FALSE(got == coding::gzip && g == ";q=0") << text;
                }
            }
        }
    }
}

// ---------------------------------------------------------------- which answers

struct codable_case {
    std::string name;
    bool codable;
    field_list header;
    int status = 200;
};
class Codable : public testing::TestWithParam<codable_case> {};

TEST_P(Codable, ByWhatTheAnswerSays) {
    EXPECT_EQ(is_codable(GetParam().status, make_fields(GetParam().header)), GetParam().codable);
}

codable_case typed(std::string name, bool codable, std::string type) {
    return {std::move(name), codable, {{"Content-Type", std::move(type)}}};
}

INSTANTIATE_TEST_SUITE_P(
    MediaTypes, Codable,
    testing::Values(typed("Json", true, "application/json"),
                    typed("JsonWithCharset", true, "Application/JSON ; charset=utf-8"),
                    typed("JsonSuffix", true, "application/vnd.api+json"), typed("Html", true, "text/html"),
                    typed("Svg", true, "image/svg+xml"), typed("Javascript", true, "application/javascript"),
                    typed("Atom", true, "application/atom+xml"), typed("Wasm", true, "application/wasm"),
                    typed("Png", false, "image/png"), typed("Jpeg", false, "image/jpeg"),
                    typed("Zip", false, "application/zip"), typed("Gzip", false, "application/gzip"),
                    typed("Woff2", false, "font/woff2"), typed("Video", false, "video/mp4"),
                    typed("Octets", false, "application/octet-stream"), typed("Events", false, "text/event-stream"),
                    typed("NdJson", false, "application/x-ndjson"), typed("Grpc", false, "application/grpc+json"),
                    typed("JsonInAName", false, "application/notjson"), typed("Text", false, "text/"),
                    typed("Empty", false, ""), codable_case{"NoType", false, {}}),
    case_name<codable_case>);

INSTANTIATE_TEST_SUITE_P(
    Fields, Codable,
    testing::Values(
        codable_case{"HasACoding", false, with(json, {{"Content-Encoding", "gzip"}})},
        codable_case{"HasAnyCoding", false, with(json, {{"Content-Encoding", "aes128gcm"}})},
        codable_case{"IsAPart", false, with(json, {{"Content-Range", "bytes 0-9/100"}}), 200},
        codable_case{"NoTransform", false, with(json, {{"Cache-Control", "max-age=60, no-transform"}})},
        codable_case{"NoTransformOnASecondLine", false,
                     with(json, {{"Cache-Control", "max-age=60"}, {"cache-control", "No-Transform"}})},
        codable_case{"NoTransformForUs", false, with(json, {{"Etagere-Cache-Control", "max-age=9, no-transform"}})},
        codable_case{"NoTransformForOthers", false,
                     with(json, {{"CDN-Cache-Control", "max-age=9"}, {"Cache-Control", "no-transform"}})},
        codable_case{"Private", false, with(json, {{"Cache-Control", "private, max-age=60"}})},
        codable_case{"PrivateByName", false, with(json, {{"Cache-Control", "private=\"x-user\""}})},
        codable_case{"SetsACookie", false, with(json, {{"Cache-Control", "public"}, {"Set-Cookie", "a=b"}})},
        codable_case{"DependsOnTheCookie", false, with(json, {{"Vary", "Accept, Cookie"}})},
        codable_case{"DependsOnTheUser", false, with(json, {{"Vary", "authorization"}})},
        codable_case{"Unbuffered", false, with(json, {{"X-Accel-Buffering", "no"}})},
        codable_case{"Public", true, with(json, {{"Cache-Control", "public, max-age=60"}})},
        codable_case{"NoStore", true, with(json, {{"Cache-Control", "no-store"}})},
        codable_case{"VariesOnAll", true, with(json, {{"Vary", "*"}})}),
    case_name<codable_case>);

INSTANTIATE_TEST_SUITE_P(
    Statuses, Codable,
    testing::Values(codable_case{"Status201", true, json, 201}, codable_case{"Status203", true, json, 203},
                    codable_case{"Status404", true, json, 404}, codable_case{"Status422", true, json, 422},
                    codable_case{"Status500", true, json, 500}, codable_case{"Status204", false, json, 204},
                    codable_case{"Status205", false, json, 205}, codable_case{"Status206", false, json, 206},
                    codable_case{"Status226", false, json, 226}, codable_case{"Status301", false, json, 301},
                    codable_case{"Status304", false, json, 304}, codable_case{"Status416", false, json, 416},
                    codable_case{"Status101", false, json, 101}),
    case_name<codable_case>);

TEST(MayCode, GoesByTheLength) {
    const policy rules = coding_route();
    EXPECT_FALSE(may_code(answer(json, 200, 99), rules));
    EXPECT_TRUE(may_code(answer(json, 200, 100), rules));
    EXPECT_TRUE(may_code(answer(json, 200, largest_coded), rules));
    EXPECT_FALSE(may_code(answer(json, 200, largest_coded + 1), rules));
    http::response_head unknown = answer(json);
    unknown.body = http::framing::chunked();
    EXPECT_TRUE(may_code(unknown, rules));
}

// RFC 9110 §9.3.2: HEAD says what GET would.
TEST(MayCode, GoesByTheDeclaredLengthOfAHead) {
    http::response_head head = answer(json);
    head.body = http::framing::none();
    head.declared_length = 99;
    EXPECT_FALSE(may_code(head, coding_route()));
    head.declared_length = 100;
    EXPECT_TRUE(may_code(head, coding_route()));
}

TEST(MayCode, NeverAnEmptyBody) {
    policy rules = coding_route();
    rules.compress_above = 0;
    EXPECT_FALSE(may_code(answer(json, 200, 0), rules));
    EXPECT_TRUE(may_code(answer(json, 200, 1), rules));
}

TEST(MayCode, OnlyOnRoutesThatCode) {
    EXPECT_FALSE(may_code(answer(json), policy{}));
    policy stream = coding_route();
    stream.stream = true;
    EXPECT_FALSE(may_code(answer(json), stream));
}

// ---------------------------------------------------------------- which clients

coding asked(const field_list& more, const field_list& response = {}, http::version protocol = http::version::http11) {
    http::request_head request = make_request(with({{"Accept-Encoding", "gzip"}}, more));
    request.protocol = protocol;
    return coding_for(request, parse_response_directives(make_fields(response)), coding_route());
}

TEST(CodingFor, ConditionsOfBytesGetIdentity) {
    EXPECT_EQ(asked({}), coding::gzip);
    EXPECT_EQ(asked({{"If-None-Match", "\"a\""}}), coding::gzip);
    EXPECT_EQ(asked({{"Range", "bytes=0-1"}}), coding::identity);
    EXPECT_EQ(asked({{"If-Range", "\"a\""}}), coding::identity);
    EXPECT_EQ(asked({{"If-Match", "\"a\""}}), coding::identity);
    EXPECT_EQ(asked({{"Cache-Control", "no-cache, No-Transform"}}), coding::identity);
    EXPECT_EQ(asked({{"Cache-Control", "no-cache"}}), coding::gzip);
    EXPECT_EQ(asked({}, {}, http::version::http10), coding::identity);
}

// BREACH: what a cookie was sent for may be the cookie's.
TEST(CodingFor, ACookieNeedsTheOriginsWord) {
    const field_list cookie{{"Cookie", "session=1"}};
    EXPECT_EQ(asked(cookie), coding::identity);
    EXPECT_EQ(asked(cookie, {{"Cache-Control", "max-age=60"}}), coding::identity);
    EXPECT_EQ(asked(cookie, {{"Cache-Control", "public"}}), coding::gzip);
    EXPECT_EQ(asked(cookie, {{"Cache-Control", "s-maxage=60"}}), coding::gzip);
    EXPECT_EQ(asked({{"Authorization", "Bearer x"}}), coding::gzip);
}

// ---------------------------------------------------------------- fields (B73)

struct tag_case {
    std::string name, strong, weak;
};
class WeakForm : public testing::TestWithParam<tag_case> {};
TEST_P(WeakForm, OfATag) {
    EXPECT_EQ(weak_form(GetParam().strong), GetParam().weak);
    EXPECT_EQ(weak_form(GetParam().weak), GetParam().weak);
}
INSTANTIATE_TEST_SUITE_P(Examples, WeakForm,
                         testing::Values(tag_case{"Strong", "\"a\"", "W/\"a\""}, tag_case{"Weak", "W/\"a\"", "W/\"a\""},
                                         tag_case{"Empty", "\"\"", "W/\"\""}, tag_case{"NoQuotes", "a", "a"},
                                         tag_case{"Nothing", "", ""}),
                         case_name<tag_case>);

TEST(DescribeCoding, ChangesWhatSpeaksOfTheBytes) {
    http::fields header = make_fields({{"Content-Type", "application/json"},
                                       {"ETag", "\"a\""},
                                       {"Content-MD5", "x"},
                                       {"Digest", "md5=x"},
                                       {"Content-Digest", "sha-256=:x:"},
                                       {"Repr-Digest", "sha-256=:x:"},
                                       {"Accept-Ranges", "bytes"},
                                       {"Last-Modified", date(t0)},
                                       {"Content-Language", "de"}});
    describe_coding(header, coding::br);
    EXPECT_EQ(header.get(http::field_id::content_encoding), "br");
    EXPECT_EQ(header.get(http::field_id::etag), "W/\"a\"");
    EXPECT_EQ(header.size(), 5U);  // with Content-Type, Last-Modified and Content-Language
    EXPECT_EQ(header.find("Content-Language"), "de");
}

TEST(DescribeCoding, MakesNoTag) {
    http::fields header;
    describe_coding(header, coding::gzip);
    EXPECT_FALSE(header.has(http::field_id::etag));
}

struct vary_case {
    std::string name;
    std::vector<std::string> lines;
    std::string wanted;  // all lines together
};
class VaryOnAcceptEncoding : public testing::TestWithParam<vary_case> {};
TEST_P(VaryOnAcceptEncoding, IsMergedWithWhatIsThere) {
    http::fields header;
    for (const std::string& line : GetParam().lines) ASSERT_TRUE(header.add("Vary", line));
    vary_on_accept_encoding(header);
    vary_on_accept_encoding(header);
    EXPECT_EQ(header.combined(http::field_id::vary), GetParam().wanted);
}
INSTANTIATE_TEST_SUITE_P(
    Examples, VaryOnAcceptEncoding,
    testing::Values(vary_case{"None", {}, "Accept-Encoding"}, vary_case{"Other", {"Accept"}, "Accept, Accept-Encoding"},
                    vary_case{"SeveralLines", {"Accept", "Origin"}, "Accept, Origin, Accept-Encoding"},
                    vary_case{"There", {"accept-encoding"}, "accept-encoding"},
                    vary_case{"ThereOnASecondLine", {"Accept", "Accept-Encoding"}, "Accept, Accept-Encoding"},
                    vary_case{"Star", {"*"}, "*"}, vary_case{"StarAmongOthers", {"Accept, *"}, "Accept, *"}),
    case_name<vary_case>);

TEST(EchoHeldTag, TellsTheFormThatTheClientHolds) {
    const auto echoed = [](const std::string& etag, const std::string& held) {
        http::fields header = make_fields({{"ETag", etag}});
        echo_held_tag(header, make_fields({{"If-None-Match", held}}));
        return std::string(header.get(http::field_id::etag));
    };
    EXPECT_EQ(echoed("\"a\"", "W/\"a\""), "W/\"a\"");
    EXPECT_EQ(echoed("\"a\"", "\"b\", W/\"a\""), "W/\"a\"");
    EXPECT_EQ(echoed("\"a\"", "\"a\""), "\"a\"");
    EXPECT_EQ(echoed("\"a\"", "W/\"a\", \"a\""), "\"a\"");
    EXPECT_EQ(echoed("W/\"a\"", "\"a\""), "W/\"a\"");
    EXPECT_EQ(echoed("\"a\"", "*"), "\"a\"");
    EXPECT_EQ(echoed("a", "W/\"a\""), "a");
}

// ---------------------------------------------------------------- what is stored

stored_response kept(const field_list& list, const field_list& request = {}, const policy& rules = coding_route()) {
    return make_stored(make_request(request), answer(with(json, list)), rules, t0, t0);
}

TEST(StoredForCoding, IsOneForAllClients) {
    const stored_response r =
        kept({{"Vary", "Accept-Encoding, Accept"}}, {{"Accept-Encoding", "gzip"}, {"Accept", "x"}});
    EXPECT_TRUE(r.codable);
    ASSERT_EQ(r.selecting.size(), 1U);
    EXPECT_EQ(r.selecting[0].name, "accept");
}

TEST(StoredForCoding, SaysThatItVaries) {
    EXPECT_EQ(kept({}).header.get(http::field_id::vary), "Accept-Encoding");
    EXPECT_TRUE(kept({}).codable);
    // A route that codes nothing leaves it alone, and such a copy is not coded after a reload either.
    EXPECT_FALSE(kept({}, {}, {}).header.has(http::field_id::vary));
    EXPECT_FALSE(kept({}, {}, {}).codable);
}

// The origin's own coding stays what it is, for those who asked alike (B46).
TEST(StoredForCoding, AnOriginThatCodesAnywayIsLeftAlone) {
    const stored_response r = kept({{"Content-Encoding", "gzip"}}, {{"Accept-Encoding", "gzip"}});
    EXPECT_FALSE(r.codable);
    ASSERT_EQ(r.selecting.size(), 1U);
    EXPECT_EQ(r.selecting[0].value, "gzip");
}

TEST(StoredForCoding, OneUsersCopyIsNotCoded) {
    stored_response r = kept({});
    r.always_validate = true;
    r.index();
    EXPECT_FALSE(r.codable);
}

TEST(StoredForCoding, AFreshenedCopyObeysTheNewWord) {
    const stored_response r = kept({{"ETag", "\"a\""}});
    const auto freshened = [&](const field_list& list) {
        return freshen(r, make_response(with({{"ETag", "\"a\""}}, list), 304), coding_route(), t0, t0);
    };
    EXPECT_TRUE(freshened({}).codable);
    EXPECT_FALSE(freshened({{"Cache-Control", "no-transform"}}).codable);
    EXPECT_FALSE(freshened({{"Cache-Control", "private"}}).codable);
}

// An origin that varies on Accept-Encoding says so in its 304s: that is no news.
TEST(StoredForCoding, A304WithTheVaryThatWeNameFreshens) {
    const stored_response r = kept({{"ETag", "\"a\""}});
    const auto judged = [&](const std::string& vary) {
        return judge_validation(r, make_response({{"ETag", "\"a\""}, {"Vary", vary}}, 304));
    };
    EXPECT_EQ(judged("Accept-Encoding"), validation::freshened);
    EXPECT_EQ(judged("Accept"), validation::unrelated);
}

// B12: a 304 says nothing about the bytes that are here.
TEST(StoredForCoding, A304DoesNotRelabelTheBytes) {
    const stored_response r = kept({{"ETag", "\"foo\""}});
    const stored_response fresh =
        freshen(r, make_response({{"ETag", "W/\"foo\""}, {"Content-Encoding", "gzip"}}, 304), coding_route(), t0, t0);
    EXPECT_FALSE(fresh.header.has(http::field_id::content_encoding));
    EXPECT_TRUE(fresh.codable);
    EXPECT_EQ(fresh.etag(), "\"foo\"");
}

TEST(StoredForCoding, GoesByTheStoredLength) {
    stored_response r = kept({});
    r.body_size = 99;
    EXPECT_FALSE(may_code(r, coding_route()));
    r.body_size = 100;
    EXPECT_TRUE(may_code(r, coding_route()));
    EXPECT_FALSE(may_code(r, policy{}));
}

}  // namespace
}  // namespace etagere::cache
