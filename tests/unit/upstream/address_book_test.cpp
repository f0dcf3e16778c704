#include "../../../src/upstream/address_book.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>

namespace etagere::upstream {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

endpoint_options at(std::string host, std::uint16_t port = 80) {
    return {.host = std::move(host), .port = port, .unix_path = "", .text = ""};
}
net::stream_endpoint ip(const char* text, std::uint16_t port = 80) {
    return net::asio::ip::tcp::endpoint(net::asio::ip::make_address(text), port);
}

class AddressBook : public testing::Test {
protected:
    std::vector<net::stream_endpoint> picks(address_book& book, int n) {
        std::vector<net::stream_endpoint> out;
        for (int i = 0; i < n; ++i) {
            const auto c = book.pick(now);
            if (c.to) out.push_back(c.to->address);
        }
        return out;
    }
    steady_time now{1h};
};

TEST_F(AddressBook, LiteralsTakeTurnsAndAreNeverLookedUp) {
    address_book book({at("127.0.0.1"), at("::1", 81)}, 10s);
    EXPECT_THAT(picks(book, 4), ElementsAre(ip("127.0.0.1"), ip("::1", 81), ip("127.0.0.1"), ip("::1", 81)));
    EXPECT_FALSE(book.pick(now + 1h).look_up);
    EXPECT_THAT(book.unknown(), IsEmpty());
}

TEST_F(AddressBook, UnixPathsNeedNoResolverAndTooLongOnesHaveNoAddress) {
    endpoint_options socket;
    socket.unix_path = "/run/app.sock";
    address_book book({socket}, 10s);
    EXPECT_EQ(book.pick(now).to->address.protocol().family(), AF_UNIX);
    socket.unix_path = std::string(200, 'x');
    address_book none({socket}, 10s);
    const auto c = none.pick(now);
    EXPECT_FALSE(c.to);
    EXPECT_FALSE(c.look_up);
    EXPECT_THAT(none.unknown(), IsEmpty());
}

// S297
TEST_F(AddressBook, NamesAreAskedForByOneAndAgainAfterTheirTime) {
    address_book book({at("api.example")}, 10s);
    const auto first = book.pick(now);
    EXPECT_FALSE(first.to);
    EXPECT_EQ(first.look_up, 0U);
    EXPECT_THAT(book.unknown(), ElementsAre(0U));
    EXPECT_FALSE(book.pick(now).look_up);
    book.found(0, {ip("10.0.0.1"), ip("10.0.0.2")});
    EXPECT_THAT(book.unknown(), IsEmpty());
    EXPECT_THAT(picks(book, 3), ElementsAre(ip("10.0.0.1"), ip("10.0.0.2"), ip("10.0.0.1")));
    EXPECT_FALSE(book.pick(now + 10s - 1ms).look_up);
    EXPECT_EQ(book.pick(now + 10s).look_up, 0U);
}

TEST_F(AddressBook, AFailedLookUpKeepsTheLastGoodAddresses) {
    address_book book({at("api.example")}, 10s);
    book.found(0, {ip("10.0.0.1")});
    book.found(0, {});
    EXPECT_THAT(picks(book, 1), ElementsAre(ip("10.0.0.1")));
    book.found(0, {ip("10.0.0.9")});  // it moved
    EXPECT_THAT(picks(book, 2), ElementsAre(ip("10.0.0.9"), ip("10.0.0.9")));
}

TEST_F(AddressBook, WhatFailedIsTriedLastForAWhile) {
    address_book book({at("127.0.0.1"), at("127.0.0.2"), at("127.0.0.3")}, 10s);
    book.failed({.endpoint = 1, .address = ip("127.0.0.2")}, now);
    EXPECT_THAT(picks(book, 4), ElementsAre(ip("127.0.0.1"), ip("127.0.0.3"), ip("127.0.0.1"), ip("127.0.0.3")));
    now += address_book::avoid_for;
    EXPECT_THAT(picks(book, 3), ElementsAre(ip("127.0.0.1"), ip("127.0.0.2"), ip("127.0.0.3")));
}

TEST_F(AddressBook, WhereAllFailedAllAreTried) {
    address_book book({at("127.0.0.1"), at("127.0.0.2")}, 10s);
    book.failed({.endpoint = 0, .address = ip("127.0.0.1")}, now);
    book.failed({.endpoint = 1, .address = ip("127.0.0.2")}, now);
    EXPECT_THAT(picks(book, 2), ElementsAre(ip("127.0.0.1"), ip("127.0.0.2")));
}

TEST_F(AddressBook, ADeadAddressStaysAvoidedWhenItsNameIsLookedUpAgain) {
    address_book book({at("localhost")}, 10s);
    book.found(0, {ip("::1"), ip("127.0.0.1")});
    book.failed({.endpoint = 0, .address = ip("::1")}, now);
    book.found(0, {ip("::1"), ip("127.0.0.1")});
    EXPECT_THAT(picks(book, 2), ElementsAre(ip("127.0.0.1"), ip("127.0.0.1")));
}

TEST_F(AddressBook, FiftyAddressesAllHaveTheirTurn) {
    address_book book({at("api.example")}, 10s);
    std::vector<net::stream_endpoint> all;
    for (int i = 1; i <= 50; ++i) all.push_back(ip(("10.0.0." + std::to_string(i)).c_str()));
    book.found(0, all);
    EXPECT_EQ(picks(book, 50), all);
}

}  // namespace
}  // namespace etagere::upstream
