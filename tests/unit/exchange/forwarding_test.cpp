// The fields a proxy is responsible for (RFC 9110 §7.6, RFC 7239).
#include "../../../src/exchange/forwarding.hpp"

#include "etagere/http/date.hpp"

#include <gtest/gtest.h>

namespace etagere::exchange {
namespace {

using http::field_id;

http::request_head request(std::initializer_list<std::pair<std::string_view, std::string_view>> header) {
    http::request_head r;
    r.host = "api.test";
    r.port = 8080;
    for (const auto& [name, value] : header) EXPECT_TRUE(r.header.add(name, value)) << name;
    return r;
}

net::peer_info peer(std::string address, bool trusted) {
    net::peer_info p;
    p.address = std::move(address);
    p.trusted = trusted;
    return p;
}

TEST(Forwarding, AStrangersFieldsAreOverwritten) {
    const auto in = request({{"X-Forwarded-For", "10.0.0.1"},
                             {"X-Forwarded-Host", "evil.test"},
                             {"X-Forwarded-Proto", "https"},
                             {"X-Forwarded-Port", "1"},
                             {"X-Forwarded-Prefix", "/x"},
                             {"X-Forwarded-Server", "evil"},
                             {"X-Forwarded-Ssl", "on"},
                             {"X-Real-IP", "10.0.0.1"},
                             {"Client-IP", "10.0.0.1"},
                             {"Front-End-Https", "on"},
                             {"Forwarded", "for=10.0.0.1"}});
    const auto out = upstream_request(in, peer("192.0.2.1", false), role::ingress, "id");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_for), "192.0.2.1");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_host), "api.test:8080");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_proto), "http");
    EXPECT_EQ(out.header.get(field_id::forwarded), "for=192.0.2.1;host=\"api.test:8080\";proto=http");
    for (const std::string_view gone : {"Client-IP", "Front-End-Https", "X-Forwarded-Port", "X-Forwarded-Prefix",
                                        "X-Forwarded-Server", "X-Forwarded-Ssl", "X-Real-IP"}) {
        EXPECT_FALSE(out.header.find(gone)) << gone;
    }
}

TEST(Forwarding, ATrustedPeersFieldsAreExtended) {
    const auto in = request({{"X-Forwarded-For", "203.0.113.9"},
                             {"X-Forwarded-Proto", "https"},
                             {"X-Forwarded-Host", "shop.test"},
                             {"Forwarded", "for=203.0.113.9"}});
    const auto out = upstream_request(in, peer("2001:db8::1", true), role::ingress, "id");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_for), "203.0.113.9, 2001:db8::1");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_proto), "https");
    EXPECT_EQ(out.header.get(field_id::x_forwarded_host), "shop.test");
    EXPECT_EQ(out.header.get(field_id::forwarded),
              "for=203.0.113.9, for=\"[2001:db8::1]\";host=\"api.test:8080\";proto=http");
}

TEST(Forwarding, AUnixPeerHasNoAddress) {
    const auto out = upstream_request(request({}), peer("unix", false), role::ingress, "id");
    EXPECT_FALSE(out.header.has(field_id::x_forwarded_for));
    EXPECT_TRUE(out.header.get(field_id::forwarded).starts_with("for=unknown;"));
}

TEST(Forwarding, OnTheWayOutNobodyIsNamed) {
    const auto out = upstream_request(request({}), peer("127.0.0.1", false), role::egress, "id");
    for (const field_id id : {field_id::x_forwarded_for, field_id::x_forwarded_host, field_id::forwarded}) {
        EXPECT_FALSE(out.header.has(id));
    }
    EXPECT_EQ(out.header.get(field_id::via), "1.1 etagere");
}

TEST(Forwarding, ViaIsAppendedWithTheVersionReceived) {
    auto in = request({{"Via", "1.0 fred"}});
    in.protocol = http::version::http10;
    EXPECT_EQ(upstream_request(in, peer("192.0.2.1", false), role::ingress, "id").header.get(field_id::via),
              "1.0 fred, 1.0 etagere");
}

TEST(Forwarding, RequestIds) {
    const auto in = request({{"X-Request-Id", "abc-1"}});
    EXPECT_EQ(believed_request_id(in, peer("192.0.2.1", false), role::ingress), "");
    EXPECT_EQ(believed_request_id(in, peer("192.0.2.1", true), role::ingress), "abc-1");
    EXPECT_EQ(believed_request_id(in, peer("192.0.2.1", false), role::egress), "abc-1") << "our own application";
    EXPECT_EQ(believed_request_id(request({{"X-Request-Id", "a b"}}), peer("", true), role::ingress), "");
    const std::string endless(129, 'a');
    EXPECT_EQ(believed_request_id(request({{"X-Request-Id", endless}}), peer("", true), role::ingress), "");
    EXPECT_EQ(upstream_request(in, peer("192.0.2.1", false), role::ingress, "ours").header.get(field_id::x_request_id),
              "ours");
}

TEST(Forwarding, MaxForwardsCountsDownForOptionsOnly) {
    auto in = request({{"Max-Forwards", "3"}});
    EXPECT_EQ(upstream_request(in, peer("", false), role::ingress, "").header.get(field_id::max_forwards), "3");
    in.verb = http::method::options;
    EXPECT_EQ(upstream_request(in, peer("", false), role::ingress, "").header.get(field_id::max_forwards), "2");
}

TEST(Forwarding, ResponsesGetViaAndADate) {
    http::response_head head;
    const wall_time now = std::chrono::sys_days{std::chrono::year{2026} / 11 / 30};
    complete_response(head, now);
    EXPECT_EQ(head.header.get(field_id::via), "1.1 etagere");
    EXPECT_EQ(head.header.get(field_id::date), "Mon, 30 Nov 2026 00:00:00 GMT");
    complete_response(head, now + std::chrono::hours(1));
    EXPECT_EQ(head.header.get(field_id::date), "Mon, 30 Nov 2026 00:00:00 GMT") << "the origin's stays";
}

}  // namespace
}  // namespace etagere::exchange
