// A bound address; what its connections do is tested from outside.
#include "etagere/net/listener.hpp"

#include "support/loopback.hpp"

#include <cerrno>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace etagere::net {
namespace {

int connected_to(const bound_listener& bound) {
    const int client = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to = test::loopback(bound.port());
    EXPECT_EQ(::connect(client, test::general(to), sizeof to), 0);
    return client;
}

int accept_when_there(int listening) {
    pollfd wanted{.fd = listening, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&wanted, 1, 10'000), 1);
    return ::accept(listening, nullptr, nullptr);
}

// Nagle's algorithm and delayed acknowledgements make a second piece of an answer wait for 40 ms.
TEST(BoundListener, WhatItAcceptsSendsAtOnce) {
    auto bound = bound_listener::bind({.host = "127.0.0.1", .port = 0, .unix_path = {}}, 1);
    ASSERT_TRUE(bound);
    const int listening = bound->take(0);
    const int client = connected_to(*bound);
    ASSERT_EQ(::send(client, "G", 1, 0), 1);
    const int accepted = accept_when_there(listening);
    ASSERT_GE(accepted, 0);
    int on = 0;
    socklen_t size = sizeof on;
    EXPECT_EQ(::getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, &size), 0);
    EXPECT_NE(on, 0);
    for (const int fd : {accepted, client, listening}) ::close(fd);
}

TEST(BoundListener, AConnectionIsThereWhenItsFirstOctetIs) {
    auto bound = bound_listener::bind({.host = "127.0.0.1", .port = 0, .unix_path = {}}, 1);
    ASSERT_TRUE(bound);
    const int listening = bound->take(0);
    const int client = connected_to(*bound);
    EXPECT_EQ(::accept(listening, nullptr, nullptr), -1);
    EXPECT_EQ(errno, EAGAIN);
    ASSERT_EQ(::send(client, "G", 1, 0), 1);
    const int accepted = accept_when_there(listening);
    ASSERT_GE(accepted, 0);
    char octet = 0;
    EXPECT_EQ(::recv(accepted, &octet, 1, MSG_DONTWAIT), 1);
    for (const int fd : {accepted, client, listening}) ::close(fd);
}

// A look whether somebody listens, as health checks take it.
TEST(BoundListener, AConnectionThatEndsWithoutAWordIsThereAtOnce) {
    auto bound = bound_listener::bind({.host = "127.0.0.1", .port = 0, .unix_path = {}}, 1);
    ASSERT_TRUE(bound);
    const int listening = bound->take(0);
    ::close(connected_to(*bound));
    const int accepted = accept_when_there(listening);
    ASSERT_GE(accepted, 0);
    char octet = 0;
    EXPECT_EQ(::recv(accepted, &octet, 1, 0), 0);
    for (const int fd : {accepted, listening}) ::close(fd);
}

}  // namespace
}  // namespace etagere::net
