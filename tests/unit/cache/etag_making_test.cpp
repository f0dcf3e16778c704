// Tags of our own, and the answers that must stay as they come.
#include "unit/cache/support.hpp"

namespace etagere::cache::test {
namespace {

http::response_head of_type(const std::string& type) {
    return make_response({{"Content-Type", type}});
}

// B104
TEST(Streams, AreKnownByTheirMediaType) {
    for (const std::string type : {"text/event-stream", "Text/Event-Stream; charset=utf-8", "application/x-ndjson",
                                   "application/json-seq", "multipart/x-mixed-replace;boundary=x", "application/grpc",
                                   "application/grpc+proto", "application/grpc-web+json"}) {
        EXPECT_TRUE(is_stream(of_type(type))) << type;
    }
    for (const std::string type : {"application/json", "text/html", "text/event-streams", "application/grpcx", ""}) {
        EXPECT_FALSE(is_stream(of_type(type))) << type;
    }
    EXPECT_FALSE(is_stream(make_response()));
}

TEST(Streams, AreKnownByTheirMarker) {
    EXPECT_TRUE(is_stream(make_response({{"X-Accel-Buffering", "No"}})));
    EXPECT_FALSE(is_stream(make_response({{"X-Accel-Buffering", "yes"}})));
}

TEST(OwnTag, OnlyWhereOneIsMissingAndOfUse) {
    const auto wanted = [](const http::response_head& response, const policy& rules = {},
                           std::string_view method = "GET") {
        return wants_own_etag(make_request({}, method), response, rules);
    };
    EXPECT_TRUE(wanted(make_response()));
    EXPECT_TRUE(wanted(make_response(), {}, "HEAD"));
    EXPECT_TRUE(wanted(make_response({{"Cache-Control", "no-transform"}})));
    EXPECT_FALSE(wanted(make_response({{"ETag", "\"a\""}})));
    EXPECT_FALSE(wanted(make_response({}, 404)));
    EXPECT_FALSE(wanted(make_response(), {}, "POST"));
    EXPECT_FALSE(wanted(of_type("text/event-stream")));
    EXPECT_FALSE(wanted(make_response(), policy{.stream = true}));
    EXPECT_FALSE(wanted(make_response(), policy{.etag_when_missing = etag_making::off}));
}

TEST(OwnTag, NotForALargeBodyAndForAnUnknownOneItIsUpToTheReader) {
    http::response_head response = make_response();
    response.body = http::framing::of_length(101);
    EXPECT_FALSE(wants_own_etag(make_request(), response, policy{.etag_max_body = 100}));
    response.body = http::framing::chunked();
    EXPECT_TRUE(wants_own_etag(make_request(), response, policy{.etag_max_body = 100}));
}

TEST(OwnTag, Text) {
    EXPECT_EQ(make_etag("0123ab", etag_making::weak), "W/\"0123ab\"");
    EXPECT_EQ(make_etag("0123ab", etag_making::strong), "\"0123ab\"");
    EXPECT_EQ(make_etag("0123ab", etag_making::off), "");
}

}  // namespace
}  // namespace etagere::cache::test
