#include "etagere/http/authority.hpp"

#include <string>

#include <gmock/gmock.h>

namespace etagere::http {
namespace {

struct good {
    const char* text;
    const char* host;
    int port;  // -1: not named
};

class Authority : public testing::TestWithParam<good> {};

TEST_P(Authority, IsHostAndPort) {
    const auto found = parse_authority(GetParam().text);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->host, GetParam().host);
    EXPECT_EQ(found->port ? *found->port : -1, GetParam().port);
}

INSTANTIATE_TEST_SUITE_P(
    Valid, Authority,
    testing::Values(good{"a", "a", -1}, good{"Example.COM", "Example.COM", -1}, good{"a.b:8080", "a.b", 8080},
                    good{"a:", "a", -1}, good{"a:1", "a", 1}, good{"a:65535", "a", 65535}, good{"a:00080", "a", 80},
                    good{"example.com.", "example.com.", -1}, good{"my_app-1.~x", "my_app-1.~x", -1},
                    good{"127.0.0.1:80", "127.0.0.1", 80}, good{"[::1]", "[::1]", -1}, good{"[::]:9", "[::]", 9},
                    good{"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]", -1}, good{"[1::8]", "[1::8]", -1},
                    good{"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7::]", -1},
                    good{"[::2:3:4:5:6:7:8]", "[::2:3:4:5:6:7:8]", -1}, good{"[FE80::ABCD]:1", "[FE80::ABCD]", 1},
                    good{"[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]", -1},
                    good{"[1:2:3:4:5:6:255.0.0.9]", "[1:2:3:4:5:6:255.0.0.9]", -1}));

class NoAuthority : public testing::TestWithParam<std::string> {};

TEST_P(NoAuthority, IsRefused) {
    EXPECT_FALSE(parse_authority(GetParam()).has_value());
}

// Security catalogue S072.
INSTANTIATE_TEST_SUITE_P(
    Invalid, NoAuthority,
    testing::Values("", ":80", "a/b", "a?b", "a#b", "user@a", "user:pw@a", "a b", " a", "a ", "a,b", "a, b", "a\tb",
                    "a\r", "a\n", std::string("a\0b", 3), "a:x", "a:80x", "a:-1", "a:+1", "a: 80", "a:0", "a:65536",
                    "a:100000", "a:1:2", "a%41", "a%2eb", "a;b", "a=b", "a!b", "a$b", "a&b", "a'b", "a(b", "a*b", "*",
                    "a\\b", "a\"b", "a<b", "a|b", "a^b", "a`b", "a{b", ".", ".a", "a..b", "a..", "caf\xC3\xA9", "a\x7F",
                    std::string(256, 'a'), std::string(300, 'a'), "[", "[]", "[::1", "::1", "1::2", "[::1]x", "[::1]80",
                    "[::1]:x", "[1]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[::1::]",
                    "[1::2::3]", "[:::]", "[1:2:3:4:5:6:7:8:]", "[:1:2:3:4:5:6:7:8]", "[12345::]", "[g::]",
                    "[::1%eth0]", "[v1.x]", "[1.2.3.4]", "[::1.2.3]", "[::1.2.3.4.5]", "[::256.1.1.1]", "[::01.1.1.1]",
                    "[1:2:3:4:5:6:7:1.2.3.4]", "[::1.2.3.4:5]", "[::1..2.3]"));

TEST(Authority, TheLongestHostHas255Octets) {
    EXPECT_TRUE(parse_authority(std::string(255, 'a') + ":80").has_value());
}

TEST(DefaultPort, IsThatOfTheScheme) {
    EXPECT_EQ(default_port("http"), 80);
    EXPECT_EQ(default_port("https"), 443);
    EXPECT_EQ(default_port("wss"), 443);
}

}  // namespace
}  // namespace etagere::http
