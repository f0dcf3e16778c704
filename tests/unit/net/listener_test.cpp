// A bound address; what its connections do is tested from outside.
#include "etagere/net/listener.hpp"

#include "support/loopback.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace etagere::net {
namespace {

// Nagle's algorithm and delayed acknowledgements make a second piece of an answer wait for 40 ms.
TEST(BoundListener, WhatItAcceptsSendsAtOnce) {
    auto bound = bound_listener::bind({.host = "127.0.0.1", .port = 0, .unix_path = {}}, 1);
    ASSERT_TRUE(bound);
    const int listening = bound->take(0);
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = test::loopback(bound->port());
    ASSERT_EQ(::connect(client, test::general(to), sizeof to), 0);
    const int accepted = ::accept(listening, nullptr, nullptr);
    ASSERT_GE(accepted, 0);
    int on = 0;
    socklen_t size = sizeof on;
    EXPECT_EQ(::getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    EXPECT_NE(on, 0);
    for (const int fd : {accepted, client, listening}) ::close(fd);
}

}  // namespace
}  // namespace etagere::net
