#include "etagere/http/message.hpp"

#include <gtest/gtest.h>

namespace etagere::http {
namespace {

TEST(Method, IsCaseSensitive) {
    EXPECT_EQ(find_method("GET"), method::get);
    EXPECT_EQ(find_method("HEAD"), method::head);
    EXPECT_EQ(find_method("POST"), method::post);
    EXPECT_EQ(find_method("PUT"), method::put);
    EXPECT_EQ(find_method("DELETE"), method::delete_);
    EXPECT_EQ(find_method("CONNECT"), method::connect);
    EXPECT_EQ(find_method("OPTIONS"), method::options);
    EXPECT_EQ(find_method("TRACE"), method::trace);
    EXPECT_EQ(find_method("PATCH"), method::patch);
    EXPECT_EQ(find_method("get"), method::other);
    EXPECT_EQ(find_method("M-SEARCH"), method::other);
    EXPECT_EQ(find_method(""), method::other);
}

// RFC 9110 §9.2.1, §9.2.2.
TEST(Method, SafeAndIdempotent) {
    for (const method m : {method::get, method::head, method::options, method::trace}) {
        EXPECT_TRUE(is_safe(m));
        EXPECT_TRUE(is_idempotent(m));
    }
    for (const method m : {method::put, method::delete_}) {
        EXPECT_FALSE(is_safe(m));
        EXPECT_TRUE(is_idempotent(m));
    }
    for (const method m : {method::post, method::patch, method::connect, method::other}) {
        EXPECT_FALSE(is_safe(m));
        EXPECT_FALSE(is_idempotent(m));
    }
}

TEST(Framing, HasABodyWhereAnOctetCanCome) {
    EXPECT_FALSE(framing::none().has_body());
    EXPECT_FALSE(framing::of_length(0).has_body());
    EXPECT_TRUE(framing::of_length(1).has_body());
    EXPECT_TRUE(framing::chunked().has_body());
    EXPECT_TRUE(framing::until_close().has_body());
}

TEST(RequestHead, AuthorityNamesThePortOnlyWhereItIsNotTheDefault) {
    request_head head;
    head.host = "shop.test";
    EXPECT_EQ(head.authority(), "shop.test");
    head.port = 80;
    EXPECT_EQ(head.authority(), "shop.test");
    head.port = 8080;
    EXPECT_EQ(head.authority(), "shop.test:8080");
    head.scheme = "https";
    head.port = 443;
    EXPECT_EQ(head.authority(), "shop.test");
    head.port = 80;
    EXPECT_EQ(head.authority(), "shop.test:80");
    head.host = "[::1]";
    head.port = 9000;
    EXPECT_EQ(head.authority(), "[::1]:9000");
}

TEST(RequestHead, PathAndQueryShareTheTargetAtTheFirstQuestionMark) {
    request_head head;
    head.target = "/a/b?x=1?y";
    EXPECT_EQ(head.path(), "/a/b");
    EXPECT_EQ(head.query(), "x=1?y");
    head.target = "/a";
    EXPECT_EQ(head.path(), "/a");
    EXPECT_EQ(head.query(), "");
    head.target = "/?";
    EXPECT_EQ(head.path(), "/");
    EXPECT_EQ(head.query(), "");
}

TEST(RequestHead, ClearedIsLikeNew) {
    request_head head;
    head.verb = method::post;
    head.method_name = "POST";
    head.target = "/x";
    head.scheme = "https";
    head.host = "h";
    head.port = 1;
    head.protocol = version::http10;
    EXPECT_TRUE(head.header.add("A", "b"));
    head.body = framing::chunked();
    head.keep_alive = false;
    head.expects_continue = true;
    head.upgrade = "websocket";
    head.clear();
    const request_head fresh;
    EXPECT_EQ(head.verb, fresh.verb);
    EXPECT_EQ(head.method_name, fresh.method_name);
    EXPECT_EQ(head.target, fresh.target);
    EXPECT_EQ(head.scheme, fresh.scheme);
    EXPECT_EQ(head.host, fresh.host);
    EXPECT_EQ(head.port, fresh.port);
    EXPECT_EQ(head.protocol, fresh.protocol);
    EXPECT_TRUE(head.header.empty());
    EXPECT_EQ(head.body, fresh.body);
    EXPECT_TRUE(head.keep_alive);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_EQ(head.upgrade, "");
}

TEST(ResponseHead, ClearedIsLikeNew) {
    response_head head;
    head.status = 500;
    head.reason = "x";
    head.protocol = version::http10;
    EXPECT_TRUE(head.header.add("A", "b"));
    head.body = framing::until_close();
    head.declared_length = 5;
    head.keep_alive = false;
    head.upgrade = "x";
    head.clear();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.reason, "");
    EXPECT_EQ(head.protocol, version::http11);
    EXPECT_TRUE(head.header.empty());
    EXPECT_EQ(head.body, framing::none());
    EXPECT_EQ(head.declared_length, -1);
    EXPECT_TRUE(head.keep_alive);
    EXPECT_EQ(head.upgrade, "");
}

TEST(StatusPhrase, OfTheRegistryAndEmptyForTheRest) {
    EXPECT_EQ(status_phrase(200), "OK");
    EXPECT_EQ(status_phrase(304), "Not Modified");
    EXPECT_EQ(status_phrase(413), "Content Too Large");
    EXPECT_EQ(status_phrase(431), "Request Header Fields Too Large");
    EXPECT_EQ(status_phrase(100), "Continue");
    EXPECT_EQ(status_phrase(511), "Network Authentication Required");
    EXPECT_EQ(status_phrase(599), "");
    EXPECT_EQ(status_phrase(306), "");
    EXPECT_EQ(status_phrase(-1), "");
}

}  // namespace
}  // namespace etagere::http
