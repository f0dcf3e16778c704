// Every kind of scalar, through a key that takes it. Message texts are part of the interface: operators read nothing
// else.
#include "config_support.hpp"

#include <gmock/gmock.h>

namespace etagere::app {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint64_t kib = 1024;

struct good_duration {
    const char* text;
    milliseconds value;
};
class Duration : public testing::TestWithParam<good_duration> {};

TEST_P(Duration, IsRead) {
    const auto r = config_world().parse(with_upstream(fmt::format("shutdown: {{ drain: {} }}", GetParam().text)));
    EXPECT_THAT(format_problems(r.problems, problem_format::text), IsEmpty());
    EXPECT_EQ(r.value.shutdown.drain, GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Texts, Duration,
                         testing::Values(good_duration{"250ms", 250ms}, good_duration{"30s", 30s},
                                         good_duration{"\"30s\"", 30s}, good_duration{"5m", 5min},
                                         good_duration{"1h30m", 90min}, good_duration{"7d", 168h},
                                         good_duration{"1d2h3m4s5ms", 26h + 3min + 4s + 5ms}, good_duration{"0s", 0ms},
                                         good_duration{"0", 0ms}, good_duration{"36500d", settings::never}));

struct bad_scalar {
    const char* text;
    const char* says;
};
class BadDuration : public testing::TestWithParam<bad_scalar> {};

TEST_P(BadDuration, SaysWhatToWrite) {
    EXPECT_THAT(config_world().problems(with_upstream(fmt::format("shutdown: {{ drain: {} }}", GetParam().text))),
                ElementsAre(AllOf(StartsWith("4:20: shutdown.drain: "), HasSubstr(GetParam().says))));
}

// security-catalogue S285, bug-cases B124
INSTANTIATE_TEST_SUITE_P(
    Texts, BadDuration,
    testing::Values(bad_scalar{"20", "\"20\" has no unit; write \"20ms\" or \"20s\""},
                    bad_scalar{"\"30\"", "\"30\" has no unit"}, bad_scalar{"5 s", "\"5 s\" is not a duration"},
                    bad_scalar{"-1s", "\"-1s\" is negative"}, bad_scalar{"1e9h", "\"1e9h\" is not a duration"},
                    bad_scalar{"1.5s", "is not a duration"}, bad_scalar{"s", "is not a duration"},
                    bad_scalar{"\"\"", "is not a duration"}, bad_scalar{"30m1h", "is not a duration"},
                    bad_scalar{"1s1s", "is not a duration"}, bad_scalar{"30S", "is not a duration"},
                    bad_scalar{"2w", "is not a duration"}, bad_scalar{"never", "is not a duration"},
                    bad_scalar{"36501d", "is longer than 100 years"},
                    bad_scalar{"36500d1ms", "is longer than 100 years"},
                    bad_scalar{"9999999999999999999h", "is longer than 100 years"},
                    bad_scalar{"99999999999999999999h", "is not a duration"},
                    bad_scalar{"[1s]", "is a list; this key takes: duration"},
                    bad_scalar{"{a: 1s}", "is a map; this key takes: duration"}));

TEST(Duration, HasBoundsWhereAKeyHasThem) {
    const config_world w;
    EXPECT_THAT(w.problems(with_upstream("listeners: { a: { address: ':1', limits: { idle_timeout: never } } }")),
                IsEmpty());
    EXPECT_THAT(w.problems(with_upstream("listeners: { a: { address: ':1', limits: { idle_timeout: 0 } } }")),
                ElementsAre("4:58: listeners.a.limits.idle_timeout: \"0\" is too short; the least is 1ms"));
    EXPECT_THAT(w.problems(with_upstream("defaults: { cache: { validate_for: 1500ms } }")),
                ElementsAre(HasSubstr("\"1500ms\" has a part of a second; lifetimes are whole seconds")));
}

struct good_size {
    const char* text;
    std::uint64_t value;
};
class Size : public testing::TestWithParam<good_size> {};

TEST_P(Size, IsRead) {
    const auto r =
        config_world().parse(with_upstream(fmt::format("defaults: {{ etag: {{ max_body: {} }} }}\n"
                                                       "routes: [{{ name: a, match: {{}} }}]",
                                                       GetParam().text)));
    EXPECT_THAT(format_problems(r.problems, problem_format::text), IsEmpty());
    EXPECT_EQ(r.value.routes.at(0).etag.max_body, GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(Texts, Size,
                         testing::Values(good_size{"1B", 1}, good_size{"900KiB", 900 * kib},
                                         good_size{"64MiB", 64 * kib* kib}, good_size{"1GiB", kib* kib* kib},
                                         good_size{"2TiB", 2 * kib* kib* kib* kib}, good_size{"1kB", 1000},
                                         good_size{"1KB", 1000}, good_size{"10MB", 10'000'000},
                                         good_size{"3GB", 3'000'000'000}, good_size{"1TB", 1'000'000'000'000},
                                         good_size{"0", 0}, good_size{"0B", 0}));

class BadSize : public testing::TestWithParam<bad_scalar> {};

TEST_P(BadSize, SaysWhatToWrite) {
    EXPECT_THAT(config_world().problems(
                    with_upstream(fmt::format("defaults: {{ etag: {{ max_body: {} }} }}", GetParam().text))),
                ElementsAre(AllOf(StartsWith("4:31: defaults.etag.max_body: "), HasSubstr(GetParam().says))));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSize,
    testing::Values(bad_scalar{"1024", "\"1024\" has no unit; write \"1024KiB\" or \"1024MiB\""},
                    bad_scalar{"64M", "\"64M\" is not a size; write \"64MiB\" (or \"64MB\", which is decimal)"},
                    bad_scalar{"64m", "write \"64MiB\""}, bad_scalar{"7k", "write \"7KiB\""},
                    bad_scalar{"64mib", "is not a size"}, bad_scalar{"64 MiB", "is not a size"},
                    bad_scalar{"-1KiB", "is negative"}, bad_scalar{"1.5GiB", "is not a size"},
                    bad_scalar{"MiB", "is not a size"}, bad_scalar{"unlimited", "is not a size"},
                    bad_scalar{"8388608TiB", "is too large"}, bad_scalar{"99999999999999999999B", "is not a size"}));

TEST(Size, HasBoundsWhereAKeyHasThem) {
    const config_world w;
    const auto chunk = [&](const char* text) {
        return w.problems(
            with_upstream(fmt::format("stores: {{ default: {{ memcached: {{ servers: a, chunk: {} }} }} }}", text)));
    };
    EXPECT_THAT(chunk("1023KiB"), IsEmpty());
    // memcached's item limit of 1 MiB counts its own header
    EXPECT_THAT(chunk("1MiB"), ElementsAre(HasSubstr("\"1MiB\" is too large; the most is 1023KiB")));
    EXPECT_THAT(chunk("1000B"), ElementsAre(HasSubstr("\"1000B\" is too small; the least is 1KiB")));
    EXPECT_THAT(w.problems(with_upstream("listeners: { a: { address: ':1', limits: { target: 1B } } }")),
                ElementsAre(HasSubstr("the least is 64B")));
    const auto r =
        w.parse("version: 1\nupstream: http://a\nlisteners: { a: { address: ':1', limits: { body: unlimited } } }");
    EXPECT_EQ(r.value.listeners.at(0).limits.body, settings::unlimited);
}

/// `key: value` at line 4, its only problem.
std::string one_problem(std::string_view line) {
    const auto all = config_world().problems(with_upstream(line));
    return all.size() == 1 ? all.front() : fmt::format("{} problems", all.size());
}

TEST(Rate, IsBytesASecond) {
    const auto rate = [](const char* text) {
        return fmt::format("listeners: {{ a: {{ address: ':1', limits: {{ min_body_rate: {} }} }} }}", text);
    };
    const auto r = config_world().parse(with_upstream(rate("1KiB/s")));
    EXPECT_TRUE(r.ok());
    EXPECT_EQ(r.value.listeners.at(1).limits.min_body_rate, kib);
    EXPECT_TRUE(config_world().parse(with_upstream(rate("0"))).ok());
    EXPECT_THAT(one_problem(rate("240")), HasSubstr("\"240\" is not a rate; write, for example, \"240B/s\""));
    EXPECT_THAT(one_problem(rate("240/s")), HasSubstr("\"240/s\" is not a rate"));
}

TEST(Share, IsPerCent) {
    const auto sample = [](const char* text) {
        return fmt::format("observability: {{ access_log: {{ sample: {} }} }}", text);
    };
    const auto value = [&](const char* text) {
        const auto r = config_world().parse(with_upstream(sample(text)));
        EXPECT_TRUE(r.ok()) << text;
        return r.value.observability.access_log.sample;
    };
    EXPECT_DOUBLE_EQ(value("5%"), 0.05);
    EXPECT_DOUBLE_EQ(value("0.1%"), 0.001);
    EXPECT_DOUBLE_EQ(value("100%"), 1);
    EXPECT_DOUBLE_EQ(value("0"), 0);
    EXPECT_THAT(one_problem(sample("5")), HasSubstr("\"5\" has no unit; write \"5%\""));
    EXPECT_THAT(one_problem(sample("half")), HasSubstr("is not a share; write, for example, \"5%\""));
    for (const char* wrong : {"101%", "-1%", "'%'", "1e1%", "1%%", "nan%", "inf%"}) {
        EXPECT_THAT(one_problem(sample(wrong)), HasSubstr("is not a share from 0% to 100%")) << wrong;
    }
}

TEST(Count, IsAWholeNumberInItsRange) {
    const auto queue = [](const char* text) {
        return fmt::format(
            "upstreams: {{ b: {{ endpoints: 'http://b', pool: {{ queue: {} }} }} }}\n"
            "routes: [{{ name: r, match: {{}}, upstream: b }}, {{ name: s, match: {{ path: /s }} }}]",
            text);
    };
    EXPECT_EQ(config_world().parse(with_upstream(queue("12"))).value.upstreams.at(1).pool.queue, 12U);
    for (const char* wrong : {"-1", "1.5", "0x10", "1000001", "99999999999999999999", "1s", "+1", "''"}) {
        EXPECT_THAT(one_problem(queue(wrong)), HasSubstr("is not a whole number from 0 to 1000000")) << wrong;
    }
}

TEST(Boolean, IsTrueOrFalseOnly) {
    const auto sort = [](const char* text) {
        return fmt::format("defaults: {{ cache: {{ key: {{ query: {{ sort: {} }} }} }} }}", text);
    };
    EXPECT_TRUE(config_world().parse(with_upstream(sort("true"))).ok());
    for (const char* wrong : {"yes", "on", "True", "1", "'true '", "no"}) {
        EXPECT_THAT(one_problem(sort(wrong)), HasSubstr("is not a boolean; write true or false")) << wrong;
    }
}

TEST(Word, IsOneOfItsList) {
    EXPECT_EQ(
        one_problem("defaults: { cache: { client_directives: honor } }"),
        "4:41: defaults.cache.client_directives: \"honor\" is not one of: ignore, honour | did you mean \"honour\"?   "
        "allowed: ignore, honour");
    EXPECT_THAT(one_problem("defaults: { headers: { cache_status: true } }"),
                HasSubstr("\"true\" is not one of: on, off"));
    EXPECT_THAT(one_problem("defaults: { cache: false }"), HasSubstr("\"false\" is not on, off or a map"));
    EXPECT_THAT(one_problem("defaults: { cache: [off] }"), HasSubstr("is a list; this key takes: a map"));
    EXPECT_THAT(one_problem("defaults: { cache: { collapse: never } }"),
                HasSubstr("\"never\" is not on, off or a map"));
}

settings::address tcp(std::string host, std::uint16_t port) {
    settings::address a;
    a.host = std::move(host);
    a.port = port;
    return a;
}
settings::endpoint http_at(std::string host, std::uint16_t port) {
    settings::endpoint e;
    e.host = std::move(host);
    e.port = port;
    return e;
}
/// An address or an endpoint.
template <class T> T unix_socket(std::string path) {
    T out;
    out.kind = settings::transport::unix_socket;
    out.path = std::move(path);
    return out;
}

struct good_address {
    const char* text;
    settings::address value;
};
class Address : public testing::TestWithParam<good_address> {};

TEST_P(Address, IsRead) {
    const auto r = config_world().parse(fmt::format("version: 1\nupstream: http://a\nlisten: \"{}\"", GetParam().text));
    EXPECT_THAT(format_problems(r.problems, problem_format::text), IsEmpty());
    EXPECT_EQ(r.value.listeners.at(0).at, GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Address,
    testing::Values(good_address{":8080", tcp("", 8080)}, good_address{"127.0.0.1:0", tcp("127.0.0.1", 0)},
                    good_address{"[::1]:65535", tcp("::1", 65535)},
                    good_address{"unix:/run/e.sock", unix_socket<settings::address>("/run/e.sock")}));

class BadAddress : public testing::TestWithParam<bad_scalar> {};

TEST_P(BadAddress, SaysWhatToWrite) {
    EXPECT_THAT(config_world().problems(fmt::format("version: 1\nupstream: http://a\nlisten: \"{}\"", GetParam().text)),
                ElementsAre(HasSubstr(std::string("3:9: listen: \"") + GetParam().text + "\" " + GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadAddress,
    testing::Values(bad_scalar{"8080", "has no port"}, bad_scalar{"127.0.0.1", "has no port"},
                    bad_scalar{":65536", "has no valid port"}, bad_scalar{":", "has no valid port"},
                    bad_scalar{":-1", "has no valid port"}, bad_scalar{":http", "has no valid port"},
                    bad_scalar{"localhost:80", "is not an address of this machine"},
                    bad_scalar{"::1:80", "is not an address; an IPv6 address is written [::1]:8080"},
                    bad_scalar{"[::1:80", "has no `]`"}, bad_scalar{"[x]:80", "is not an address"},
                    bad_scalar{"[127.0.0.1]:80", "is not an address"}, bad_scalar{"[::1]80", "is not an address"},
                    bad_scalar{"a/b:80", "has a character that no host name has"},
                    bad_scalar{"unix:run/e.sock", "needs an absolute path"}));

TEST(Address, OfASocketFitsIntoTheKernelsStructure) {
    const auto listen = [](std::size_t n) {
        return fmt::format("version: 1\nupstream: http://a\nlisten: unix:/{}", std::string(n, 'x'));
    };
    EXPECT_TRUE(config_world().parse(listen(106)).ok());
    EXPECT_THAT(config_world().problems(listen(107)), ElementsAre(HasSubstr("is longer than the 107 bytes")));
}

TEST(Endpoint, IsHttpOrASocket) {
    const auto r = config_world().parse(
        "version: 1\nlisten: ':1'\nupstream: http://a.b-c_d:3000/, http://e, http://[::1]:4000, unix:/run/puma.sock");
    EXPECT_THAT(format_problems(r.problems, problem_format::text), IsEmpty());
    EXPECT_THAT(r.value.upstreams.at(0).endpoints,
                ElementsAre(http_at("a.b-c_d", 3000), http_at("e", 80), http_at("::1", 4000),
                            unix_socket<settings::endpoint>("/run/puma.sock")));
    const auto problem = [](const char* text) {
        const auto all = config_world().problems(fmt::format("version: 1\nlisten: ':1'\nupstream: \"{}\"", text));
        return all.size() == 1 ? all.front() : fmt::format("{} problems", all.size());
    };
    EXPECT_THAT(problem("127.0.0.1:3000"), HasSubstr("is not an endpoint; write http://host:port or unix:/path"));
    EXPECT_THAT(problem("https://a"), HasSubstr("is not supported"));
    EXPECT_THAT(problem("http://a/api"), HasSubstr("has more than a host and a port"));
    EXPECT_THAT(problem("http://user@a"), HasSubstr("has more than a host and a port"));
    EXPECT_THAT(problem("http://:80"), HasSubstr("has no host"));
    EXPECT_THAT(problem("http://a:0"), HasSubstr("has port 0"));
    EXPECT_THAT(problem("http://a:x"), HasSubstr("has no valid port"));
    EXPECT_THAT(problem("unix:x"), HasSubstr("needs an absolute path"));
    EXPECT_THAT(problem(""), HasSubstr("has no entry; it needs at least one"));
    EXPECT_THAT(problem("http://a,ftp://b"), HasSubstr("upstream[1]: \"ftp://b\" is not an endpoint"));
}

TEST(Server, IsHostAndPort) {
    const auto servers = [](const char* text) { return with_upstream(fmt::format("store: memcached://{}", text)); };
    const auto r = config_world().parse(servers("a:11212,b,[::1]:1"));
    EXPECT_THAT(r.value.stores.at(0).memcached->servers,
                ElementsAre(settings::memcached_server{"a", 11212}, settings::memcached_server{"b", 11211},
                            settings::memcached_server{"::1", 1}));
    EXPECT_THAT(config_world().problems(servers("a:0")), ElementsAre(HasSubstr("has port 0")));
    EXPECT_THAT(config_world().problems(servers("a:b")), ElementsAre(HasSubstr("has no valid port")));
    EXPECT_THAT(config_world().problems(servers(":1")), ElementsAre(HasSubstr("has no host")));
    EXPECT_THAT(config_world().problems(servers("tcp://a")), ElementsAre(HasSubstr("without a scheme")));
    EXPECT_THAT(config_world().problems(servers("")), ElementsAre(HasSubstr("is not a store")));
}

TEST(ShortStore, IsMemoryOrMemcached) {
    const auto store = [](const char* text) {
        return config_world().parse(with_upstream(fmt::format("store: {}", text)));
    };
    EXPECT_EQ(store("memory").value.stores.at(0).memory.size, 64 * kib * kib);
    EXPECT_EQ(store("memory://8MiB").value.stores.at(0).memory.size, 8 * kib * kib);
    EXPECT_EQ(store("memcached://m").value.stores.at(0).memory.size, 64 * kib * kib);
    EXPECT_THAT(one_problem("store: memory://8"), HasSubstr("store: \"8\" has no unit"));
    EXPECT_THAT(one_problem("store: redis://a"),
                HasSubstr("\"redis://a\" is not a store; write memory, memory://64MiB or memcached://host:11211"));
}

TEST(Network, IsAnAddressAndAPrefix) {
    const auto proxies = [](const char* text) {
        return fmt::format("listeners: {{ a: {{ address: ':1', trusted_proxies: {} }} }}", text);
    };
    const auto r = config_world().parse(
        with_upstream(proxies("[10.0.0.0/8, 192.0.2.7, 'fd00::/8', '::1', 0.0.0.0/0, 10.128.0.0/9]")));
    EXPECT_THAT(format_problems(r.problems, problem_format::text), IsEmpty());
    const auto& all = r.value.listeners.at(1).trusted_proxies;
    ASSERT_EQ(all.size(), 6U);
    EXPECT_THAT(all[0].bytes, ElementsAre(10, 0, 0, 0));
    EXPECT_EQ(all[0].prefix_length, 8);
    EXPECT_EQ(all[1].prefix_length, 32);
    EXPECT_EQ(all[2].bytes.size(), 16U);
    EXPECT_EQ(all[3].prefix_length, 128);
    EXPECT_EQ(all[4].prefix_length, 0);
    EXPECT_EQ(all[5].prefix_length, 9);
    EXPECT_THAT(one_problem(proxies("10.1.0.0/8")), HasSubstr("has bits beyond its prefix; write \"10.0.0.0/8\""));
    EXPECT_THAT(one_problem(proxies("'fd00::1/8'")), HasSubstr("write \"fd00::/8\""));
    EXPECT_THAT(one_problem(proxies("10.0.0.0/33")), HasSubstr("has no valid prefix length; it is 0 to 32"));
    EXPECT_THAT(one_problem(proxies("10.0.0.0/")), HasSubstr("has no valid prefix length"));
    EXPECT_THAT(one_problem(proxies("10.0.0/8")), HasSubstr("is not a network"));
    EXPECT_THAT(one_problem(proxies("private")), HasSubstr("is not a network"));
}

TEST(Names, AreLabelsOfMetrics) {
    EXPECT_THAT(one_problem("routes: [{ name: a b, match: {} }]"), HasSubstr("is not a name"));
    EXPECT_THAT(one_problem(fmt::format("routes: [{{ name: {}, match: {{}} }}]", std::string(65, 'x'))),
                HasSubstr("is not a name"));
    EXPECT_THAT(one_problem("stores: { 'a.b': {} }"), HasSubstr("4:11: stores.a.b: \"a.b\" is not a name"));
}

TEST(Words, OfHttpAreTokens) {
    const auto key = [](const char* text) { return fmt::format("defaults: {{ cache: {{ key: {} }} }}", text); };
    EXPECT_THAT(one_problem(key("{ headers: 'X Tenant' }")), HasSubstr("\"X Tenant\" is not a field name"));
    EXPECT_THAT(one_problem(key("{ cookies: [a=b] }")), HasSubstr("\"a=b\" is not the name of a cookie"));
    EXPECT_THAT(one_problem(key("{ query: { ignore: ['u*m'] } }")), HasSubstr("`*` can only be at its end"));
    EXPECT_THAT(one_problem(key("{ query: { ignore: [''] } }")), HasSubstr("is not the name of a parameter"));
    EXPECT_THAT(one_problem("routes: [{ name: a, match: { methods: get } }]"),
                HasSubstr("methods are written in capitals"));
    EXPECT_THAT(one_problem("routes: [{ name: a, match: { methods: [''] } }]"), HasSubstr("is not a method"));
    EXPECT_THAT(one_problem("routes: [{ name: a, match: { host: 'a:80' } }]"),
                HasSubstr("routes[0].match.host: \"a:80\": a host is matched without scheme and port"));
    EXPECT_THAT(one_problem("routes: [{ name: a, match: { path: api } }]"),
                HasSubstr("routes[0].match.path: \"api\": a path starts with `/`"));
    EXPECT_THAT(one_problem("observability: { metrics: { path: '/m/*' } }"),
                HasSubstr("is not a path, as in /metrics"));
    EXPECT_THAT(one_problem("observability: { access_log: { output: access.log } }"),
                HasSubstr("is neither stdout, stderr nor the absolute path of a file"));
    EXPECT_THAT(one_problem("defaults: { cache: { vary: { normalize: [User-Agent] } } }"),
                HasSubstr("\"User-Agent\" is not one of: Accept, Accept-Encoding, Accept-Language"));
    EXPECT_THAT(one_problem("defaults: { cache: { tags: { add: ['a b'] } } }"), HasSubstr("\"a b\" is not a tag"));
    EXPECT_THAT(one_problem("routes: [{ name: a, match: {}, purge_on_success: { prefixes: [api] } }]"),
                HasSubstr("\"api\" is not the beginning of a path"));
    for (const char* pointer : {"id", "/a~2", "/a~", "''"}) {
        EXPECT_THAT(one_problem(std::string("defaults: { etag: { json_ignore: [") + pointer + "] } }"),
                    HasSubstr("is not a JSON pointer"));
    }
}

TEST(Version, IsOne) {
    EXPECT_THAT(config_world().problems("version: 2\nlisten: ':1'\nupstream: http://a"),
                ElementsAre("1:10: version: \"2\" is not a version that this program reads; write version: 1"));
    EXPECT_THAT(config_world().problems("listen: ':1'\nupstream: http://a"), ElementsAre("1:1: version: is needed"));
}

TEST(Workers, AreANumberOrAuto) {
    EXPECT_EQ(config_world().parse(with_upstream("workers: auto")).value.workers, 0U);
    EXPECT_EQ(config_world().parse(with_upstream("workers: 4")).value.workers, 4U);
    EXPECT_THAT(one_problem("workers: 0"), HasSubstr("\"0\" is neither auto nor a number from 1 to 256"));
}

TEST(Negative, IsAMapOfErrorStatuses) {
    const auto r = config_world().parse(with_upstream("defaults: { cache: { negative: { '404': 10s, 410: 1m } } }"));
    EXPECT_TRUE(r.ok());
    EXPECT_THAT(r.value.routes.at(0).cache.negative, ElementsAre(testing::Pair(404, 10s), testing::Pair(410, 1min)));
    EXPECT_THAT(one_problem("defaults: { cache: { negative: { 200: 10s } } }"),
                HasSubstr("4:34: defaults.cache.negative.200: \"200\" is not an error status, 400 to 599"));
    EXPECT_THAT(one_problem("defaults: { cache: { negative: { 404: 10 } } }"), HasSubstr("has no unit"));
    EXPECT_THAT(one_problem("defaults: { cache: { negative: 10s } }"), HasSubstr("\"10s\" is not a map"));
}

}  // namespace
}  // namespace etagere::app
