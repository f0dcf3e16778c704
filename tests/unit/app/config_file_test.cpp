// Whole files: short forms, defaults, names that have to exist, warnings.

#include "config_support.hpp"

#include <gmock/gmock.h>

namespace etagere::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> problems(std::string_view text) {
    return config_world().problems(text);
}

settings::settings parsed(std::string_view text) {
    auto r = config_world().parse(text);
    EXPECT_EQ(format_problems(r.problems, problem_format::text), "");
    return std::move(r.value);
}

// --------------------------------------------------------------------------------------------------------- short forms

TEST(ShortForms, AreAWholeConfiguration) {
    const auto s =
        parsed("version: 1\nlisten: ':8080'\nupstream: http://127.0.0.1:3000\nstore: memcached://memcached:11211\n");
    ASSERT_EQ(s.listeners.size(), 2U);
    EXPECT_EQ(s.listeners[0].name, "ingress");
    EXPECT_EQ(s.listeners[0].role, settings::listener_role::ingress);
    EXPECT_EQ(s.listeners[0].at.port, 8080);
    EXPECT_EQ(s.listeners[0].limits, settings::listener_limits{});
    EXPECT_EQ(s.listeners[1].name, "admin");
    EXPECT_EQ(s.listeners[1].role, settings::listener_role::admin);
    EXPECT_EQ(s.listeners[1].at.host, "127.0.0.1");
    EXPECT_EQ(s.listeners[1].at.port, 9901);
    ASSERT_EQ(s.stores.size(), 1U);
    EXPECT_EQ(s.stores[0].name, "default");
    EXPECT_EQ(s.stores[0].memory, settings::memory_store{});
    ASSERT_TRUE(s.stores[0].memcached.has_value());
    ASSERT_EQ(s.upstreams.size(), 1U);
    EXPECT_EQ(s.upstreams[0].name, "default");
    ASSERT_EQ(s.routes.size(), 1U);
    settings::route expected;
    expected.name = "default";
    expected.upstream = "default";
    EXPECT_EQ(s.routes[0], expected);
    EXPECT_THAT(s.egress, IsEmpty());
}

TEST(ShortForms, WithoutAStoreThereIsMemory) {
    const auto s = parsed(with_upstream(""));
    ASSERT_EQ(s.stores.size(), 1U);
    EXPECT_EQ(s.stores[0].memory.size, 64 * settings::mib);
    EXPECT_FALSE(s.stores[0].memcached.has_value());
    EXPECT_EQ(parsed(with_upstream("stores: {}")).stores.size(), 1U);
}

TEST(ShortForms, StandBesideTheLongOnesUnderAnotherName) {
    const auto s = parsed(with_upstream(
        "listeners: { other: { address: ':81' } }\nstore: memory\n"
        "stores: { big: { memory: { size: 1GiB } } }\nupstreams: { b: { endpoints: 'http://b' } }\n"
        "routes: [{ name: r, match: { path: /b }, upstream: b, cache: { store: big } }, { name: s, match: {} }]"));
    EXPECT_EQ(s.listeners.size(), 3U);
    EXPECT_EQ(s.routes[1].upstream, "default");
    EXPECT_THAT(problems(with_upstream("listeners: { ingress: { address: ':81' } }")),
                ElementsAre("2:9: listen: is short for listeners.ingress, which is there too"));
    EXPECT_THAT(problems(with_upstream("store: memory\nstores: { default: {} }")),
                ElementsAre("4:8: store: is short for stores.default, which is there too"));
    EXPECT_THAT(problems(with_upstream("upstreams: { default: { endpoints: 'http://b' } }")),
                ElementsAre("3:11: upstream: is short for upstreams.default, which is there too"));
}

TEST(Listeners, AlwaysHaveAnAdminOne) {
    const auto s = parsed(with_upstream("listeners: { admin: { address: '127.0.0.1:81', role: ingress } }"));
    EXPECT_EQ(s.listeners.back().name, "admin-default");
    EXPECT_EQ(s.listeners.back().role, settings::listener_role::admin);
    EXPECT_EQ(parsed(with_upstream("listeners: { ops: { address: '127.0.0.1:0', role: admin } }")).listeners.size(),
              2U);
    EXPECT_THAT(problems("version: 1\nupstream: http://a\nlisteners: { a: { address: '127.0.0.1:1', role: admin } }"),
                ElementsAre(HasSubstr("listen: is needed")));
}

TEST(Listeners, ForAdminBeyondLoopbackNeedAToken) {
    const auto admin = [](const char* address, const char* token = "") {
        return problems(with_upstream(
            fmt::format("listeners: {{ a: {{ address: '{}', role: admin, token: '{}' }} }}", address, token)));
    };
    for (const char* open : {":9901", "0.0.0.0:9901", "10.0.0.1:9901", "[::]:9901", "[fd00::1]:9901"}) {
        EXPECT_THAT(admin(open),
                    ElementsAre(HasSubstr("is open to other machines; set a token, or listen on 127.0.0.1")))
            << open;
        EXPECT_THAT(admin(open, "s3cret"), IsEmpty()) << open;
    }
    for (const char* near : {"127.0.0.1:9901", "127.1.2.3:9901", "[::1]:9901", "unix:/run/admin.sock"}) {
        EXPECT_THAT(admin(near), IsEmpty()) << near;
    }
    EXPECT_THAT(problems(with_upstream("listeners: { a: { address: ':1', token: x } }")),
                ElementsAre(HasSubstr("4:41: listeners.a.token: only an admin listener has a token")));
}

TEST(Listeners, HaveAddressesOfTheirOwn) {
    EXPECT_THAT(problems(with_upstream("listeners: { a: { address: ':8080' } }")),
                ElementsAre("4:28: listeners.a.address: \":8080\" is the address of ingress too"));
    EXPECT_THAT(problems(with_upstream("listeners: { a: { address: 'unix:/x' }, b: { address: 'unix:/x' } }")),
                ElementsAre(HasSubstr("\"unix:/x\" is the address of a too")));
    EXPECT_THAT(problems(with_upstream("listeners: { a: { address: '[::1]:0' }, b: { address: '[::1]:0' } }")),
                IsEmpty());
    EXPECT_THAT(problems(with_upstream("listeners: { a: { address: ':1', limits: { header_bytes: 4KiB } } }")),
                ElementsAre(HasSubstr("listeners.a.limits.target: is larger than limits.header_bytes")));
}

// -------------------------------------------------------------------------------------------------------------- stores

TEST(Stores, KeepSomethingSomewhere) {
    EXPECT_THAT(problems(with_upstream("stores: { default: { memory: { size: 0 } } }")),
                ElementsAre("4:20: stores.default: keeps nothing: memory.size is 0 and there is no memcached; write "
                            "`cache: off` to turn "
                            "caching off"));
    EXPECT_THAT(problems(with_upstream("store: memory://0")), ElementsAre(StartsWith("4:8: store: keeps nothing")));
    EXPECT_THAT(problems(with_upstream("stores: { default: { memory: { size: 0 }, memcached: { servers: m } } }")),
                IsEmpty());
    EXPECT_THAT(problems(with_upstream("stores: { default: { memory: { size: 1MiB, max_object: 2MiB } } }")),
                ElementsAre("4:56: stores.default.memory.max_object: is larger than memory.size"));
    EXPECT_THAT(problems(with_upstream("store: memory://1KiB")), ElementsAre("4:8: store: is larger than memory.size"));
}

TEST(Stores, OnOtherMachinesShouldBeSigned) {
    const auto servers = [](const char* text, const char* key) {
        return problems(with_upstream(fmt::format(
            "stores: {{ default: {{ memcached: {{ servers: '{}', sign: {{ key: '{}' }} }} }} }}", text, key)));
    };
    for (const char* far : {"10.0.0.5", "cache.example.com:11211", "[fd00::5]:11211", "memcached,10.0.0.5"}) {
        EXPECT_THAT(servers(far, ""),
                    ElementsAre(testing::AllOf(StartsWith("4:44: stores.default.memcached.servers: "),
                                               HasSubstr("is beyond this machine"), testing::EndsWith(" W010"))))
            << far;
        EXPECT_THAT(servers(far, "0123456789abcdef"), IsEmpty()) << far;
    }
    for (const char* near : {"127.0.0.1", "localhost:11211", "[::1]:11211", "memcached"}) {
        EXPECT_THAT(servers(near, ""), IsEmpty()) << near;
    }
    EXPECT_THAT(servers("m", "tooshort"), ElementsAre(HasSubstr("sign.key: is shorter than 16 bytes")));
    EXPECT_THAT(problems(with_upstream("store: memcached://10.0.0.5")),
                ElementsAre(StartsWith("4:8: store: 10.0.0.5 is beyond")));
}

// -------------------------------------------------------------------------------------------------------------- routes

TEST(Defaults, AreUnderEveryRoute) {
    const auto s = parsed(with_upstream(R"(
defaults:
  cache: { stale: { if_error: 10m, while_revalidate: 30s }, key: { headers: [X-Tenant] } }
  etag: { when_missing: strong }
  headers: { cache_status: off }
routes:
  - { name: a, match: { path: /a } }
  - { name: b, match: { path: /b }, cache: { stale: { if_error: 1m }, key: { headers: [X-Other] } }, etag: { digest: md5 } }
  - { name: c, match: { path: /c }, cache: off, headers: { cache_status: on } }
  - { name: d, match: { path: /d }, cache: on, stream: true }
)"));
    EXPECT_EQ(s.routes[0].cache.stale, (settings::stale{.while_revalidate = 30s, .if_error = 10min}));
    EXPECT_EQ(s.routes[0].etag.when_missing, settings::etag_when_missing::strong);
    EXPECT_FALSE(s.routes[0].headers.cache_status);
    EXPECT_EQ(s.routes[1].cache.stale, (settings::stale{.while_revalidate = 30s, .if_error = 1min}));
    EXPECT_THAT(s.routes[1].cache.key.headers, ElementsAre("X-Other"));  // a list replaces, it does not append
    EXPECT_EQ(s.routes[1].etag.when_missing, settings::etag_when_missing::strong);
    EXPECT_EQ(s.routes[1].etag.digest, settings::etag_digest::md5);
    EXPECT_FALSE(s.routes[2].cache.enabled);
    EXPECT_TRUE(s.routes[2].headers.cache_status);
    EXPECT_TRUE(s.routes[3].cache.enabled);
    EXPECT_TRUE(s.routes[3].stream);
}

TEST(Defaults, ThatTurnCachingOffAreTurnedOnAgainByRules) {
    const auto s =
        parsed(with_upstream("defaults: { cache: off }\nroutes: [{ name: a, match: { path: /a } }, "
                             "{ name: b, match: { path: /b }, cache: { heuristic: true, collapse: off } }]"));
    EXPECT_FALSE(s.routes[0].cache.enabled);
    EXPECT_TRUE(s.routes[1].cache.enabled);
    EXPECT_TRUE(s.routes[1].cache.heuristic);
    EXPECT_FALSE(s.routes[1].cache.collapse.enabled);
}

TEST(Metrics, AreOnOffOrAMap) {
    const auto metrics_of = [](const std::string& text) {
        return parsed(with_upstream("observability: { metrics: " + text + " }")).observability.metrics;
    };
    EXPECT_EQ(metrics_of("on"), (settings::metrics{true, "/metrics"}));
    EXPECT_EQ(metrics_of("{ path: /m }"), (settings::metrics{true, "/m"}));
    EXPECT_FALSE(metrics_of("off").enabled);
}

TEST(Defaults, AreThereWhereverTheyStandInTheFile) {
    const auto s = parsed(
        "routes: [{ name: a, match: {} }]\ndefaults: { cache: off }\nupstream: http://a\nlisten: ':1'\nversion: 1");
    EXPECT_FALSE(s.routes[0].cache.enabled);
}

TEST(Egress, IsAPrivateCacheUnlessTheFileSaysOtherwise) {
    const auto modes = [](std::string_view more) {
        std::vector<settings::cache_mode> out;
        const auto s =
            parsed(with_upstream(fmt::format("listeners: {{ e: {{ address: ':2', role: egress }} }}\n{}", more)));
        for (const settings::route& r : s.egress) {
            out.push_back(r.cache.mode);
        }
        EXPECT_EQ(s.routes.at(0).name, "default");
        return out;
    };
    using enum settings::cache_mode;
    EXPECT_THAT(modes("egress: [{ name: a, match: {} }, { name: b, match: { path: /b }, cache: { mode: shared } }]"),
                ElementsAre(private_, shared));
    EXPECT_THAT(modes("egress: [{ name: a, match: {} }]\ndefaults: { cache: { heuristic: true } }"),
                ElementsAre(private_));
    EXPECT_THAT(modes("egress: [{ name: a, match: {} }]\ndefaults: { cache: { mode: shared } }"), ElementsAre(shared));
}

TEST(Routes, NeedAnUpstreamThatExists) {
    EXPECT_THAT(problems(with_upstream("routes: [{ name: a, match: {}, upstream: defualt }]")),
                ElementsAre("4:42: routes[0].upstream: no upstream is called \"defualt\" | did you mean \"default\"?   "
                            "allowed: default"));
    EXPECT_THAT(
        problems(
            "version: 1\nlisten: ':1'\nupstreams: { a: { endpoints: 'http://a' } }\nroutes: [{ name: r, match: {} }]"),
        ElementsAre("4:10: routes[0].upstream: is needed: no upstream is called default | upstreams: a"));
    EXPECT_THAT(
        problems("version: 1\nlisten: ':1'\nupstreams: { a: { endpoints: 'http://a' }, b: { endpoints: 'http://b' } }"),
        ElementsAre("1:1: routes: is needed: there are 2 upstreams to choose from"));
    EXPECT_THAT(problems("version: 1\nlisten: ':1'\nupstreams: {}\nroutes: [{ name: r, match: {}, upstream: x }]"),
                ElementsAre("1:1: upstream: is needed, as in upstream: http://127.0.0.1:3000"));
    EXPECT_EQ(parsed("version: 1\nlisten: ':1'\nupstreams: { a: { endpoints: 'http://a' } }").routes.at(0).upstream,
              "a");
}

TEST(Routes, NeedAStoreThatExists) {
    EXPECT_THAT(problems(with_upstream("routes: [{ name: a, match: {}, cache: { store: defualt } }]")),
                ElementsAre(HasSubstr(
                    "4:48: routes[0].cache.store: no store is called \"defualt\" | did you mean \"default\"?")));
    EXPECT_THAT(problems(with_upstream("stores: { big: {} }\nroutes: [{ name: a, match: {} }]")),
                ElementsAre(StartsWith("5:10: routes[0].cache.store: no store is called \"default\"")));
    EXPECT_THAT(problems(with_upstream("routes: [{ name: a, match: {}, cache: off }]")), IsEmpty());
}

TEST(Routes, HaveNamesOfTheirOwn) {
    EXPECT_THAT(
        problems(with_upstream("listeners: { e: { address: ':2', role: egress } }\nroutes: [{ name: a, match: {} }]\n"
                               "egress: [{ name: a, match: {} }]")),
        ElementsAre("6:18: egress[0].name: \"a\" is the name of routes[0] too; names are unique"));
}

TEST(Routes, HaveRulesThatMakeSense) {
    const auto cache = [](const char* text) {
        return problems(with_upstream(fmt::format("routes: [{{ name: a, match: {{}}, cache: {{ {} }} }}]", text)));
    };
    EXPECT_THAT(cache("lifetime: { override: true }"),
                ElementsAre(HasSubstr("cache.lifetime.override: needs lifetime.default")));
    EXPECT_THAT(cache("lifetime: { default: 2h, max: 1h }"),
                ElementsAre(HasSubstr("cache.lifetime.default: is longer than lifetime.max")));
    EXPECT_THAT(
        cache("private: revalidate, per_credential: []"),
        ElementsAre(HasSubstr(
            "cache.per_credential: is empty, and `private: revalidate` would give one user's answers to another")));
    EXPECT_THAT(cache("private: revalidate, per_credential: [X-User]"), IsEmpty());
    EXPECT_THAT(cache("lifetime: { default: 0s, max: 1h, override: true }"), IsEmpty());
    EXPECT_THAT(cache("lifetime: { max: 0s }"), ElementsAre(HasSubstr("the least is 1000ms")));
}

TEST(Warnings, SayWhatHasNoEffect) {
    EXPECT_THAT(
        problems(with_upstream("stores: { default: {}, spare: {} }\nupstreams: { b: { endpoints: 'http://b' } }\n"
                               "routes: [{ name: a, match: {} }]")),
        ElementsAre("4:31: stores.spare: is not used by any route W012",
                    "5:17: upstreams.b: is not used by any route W012"));
    EXPECT_THAT(problems(with_upstream("egress: [{ name: a, match: {} }]")),
                ElementsAre("4:9: egress: no listener has the role egress W016"));
    EXPECT_THAT(problems("version: 1\nupstream: http://a\nlisteners: { e: { address: ':2', role: egress } }\n"
                         "routes: [{ name: b, match: {} }]\negress: [{ name: a, match: {} }]"),
                ElementsAre("4:9: routes: no listener has the role ingress W016"));
    EXPECT_THAT(problems("version: 1\nupstream: http://a\nlisteners: { e: { address: ':2', role: egress } }"),
                ElementsAre(HasSubstr("egress: is needed, as in egress: [{ name: out")));
    // Warnings are no reason not to start.
    EXPECT_TRUE(config_world().parse(with_upstream("egress: [{ name: a, match: {} }]")).ok());
}

TEST(Warnings, ThatOnlyFollowFromAnErrorAreNotShown) {
    EXPECT_THAT(problems(with_upstream("stores: { default: {}, spare: {} }\nworkers: many")),
                ElementsAre(HasSubstr("workers")));
}

TEST(Everything, IsReadWhereItBelongs) {
    const auto s = parsed(with_upstream(R"(
listeners:
  a:
    address: ":81"
    underscore_names: true
    limits: { header_bytes: 16KiB, headers: 50, target: 4KiB, body: 1MiB, header_timeout: 1s, body_timeout: 2s,
              min_body_rate: 1KiB/s, idle_timeout: 3s, write_timeout: 4s, max_connections: 5 }
stores:
  default:
    memory: { size: 1MiB, max_object: 2KiB, local_ttl: 3s }
    memcached: { servers: [m], distribution: ketama, namespace: n, timeout: 1ms, connect_timeout: 2ms, max_object: 3MiB, chunk: 4KiB,
                 on_failure: memory_only, purge_poll: 5s }
upstreams:
  u:
    endpoints: "http://u"
    balance: round_robin
    pool: { max_connections: 1, queue: 2, queue_timeout: 3s, idle_timeout: 4s }
    timeouts: { connect: 1s, first_byte: 2s, idle: 3s, total: 4s }
    retries: { attempts: 1 }
    resolve: 5s
    host_header: upstream
routes:
  - name: r
    match: { host: a.example, path: /p, methods: [GET, PURGE] }
    upstream: u
    cache:
      mode: private
      per_credential: [X-User]
      lifetime: { default: 1s, max: 2s, override: true }
      negative: { 404: 3s }
      stale: { while_revalidate: 4s, if_error: 5s, if_unreachable: 6s }
      validate_for: 6s
      client_directives: honour
      private: revalidate
      key: { query: { sort: true, ignore: [x] }, headers: [A], cookies: [c] }
      vary: { max_variants: 7, normalize: [] }
      collapse: { wait: 8s }
      cookies: plain
      foreign_codings: true
      targeted: [X-Control]
      tags: { from: [xkey], add: [t] }
      no_vary_search: false
      heuristic: true
      max_object: 9KiB
    etag: { when_missing: off, digest: sha-256, max_body: 10KiB, max_hold: 11ms, json_ignore: [/a], repair: [suffix],
            audit: 2% }
    compress: { algorithms: [br, gzip], above: 12KiB }
    purge_on_success: { tags: [t], routes: [rest], prefixes: [/p/], soft: true }
  - { name: rest, match: {} }
shutdown: { readiness_delay: 1s, drain: 2s }
observability:
  access_log: { format: rack_cache, output: /tmp/log, sample: 50%, redact: [query, client_ip, user_agent] }
  log_level: debug
  metrics: { path: /m }
)"));
    const auto& l = s.listeners.at(1);
    EXPECT_TRUE(l.underscore_names);
    EXPECT_EQ(l.limits, (settings::listener_limits{16384, 50, 4096, 1048576, 1s, 2s, 1024, 3s, 4s, 5}));
    const auto& st = s.stores.at(0);
    EXPECT_EQ(st.memory, (settings::memory_store{1048576, 2048, 3s}));
    EXPECT_EQ(*st.memcached, (settings::memcached_store{{{"m", 11211}},
                                                        settings::distribution::ketama,
                                                        "n",
                                                        1ms,
                                                        2ms,
                                                        3145728,
                                                        4096,
                                                        "",
                                                        settings::store_failure::memory_only,
                                                        5s}));
    const auto& u = s.upstreams.at(1);
    EXPECT_EQ(u.pool, (settings::upstream_pool{1, 2, 3s, 4s}));
    EXPECT_EQ(u.timeouts, (settings::upstream_timeouts{1s, 2s, 3s, 4s}));
    EXPECT_EQ(u.retries.attempts, 1U);
    EXPECT_EQ(u.resolve, 5s);
    EXPECT_EQ(u.host_header, settings::host_header::upstream);
    const auto& r = s.routes.at(0);
    EXPECT_EQ(r.match, (settings::match{"a.example", "/p", {"GET", "PURGE"}}));
    settings::cache c;
    c.mode = settings::cache_mode::private_;
    c.per_credential = {"X-User"};
    c.lifetime = {1s, 2s, true};
    c.negative = {{404, 3s}};
    c.stale = {4s, 5s, 6s};
    c.validate_for = 6s;
    c.client_directives = settings::client_directives::honour;
    c.origin_private = settings::origin_private::revalidate;
    c.key = {true, {"x"}, {"A"}, {"c"}};
    c.vary = {7, {}};
    c.collapse = {true, 8s};
    c.cookies = settings::cookie_rule::plain;
    c.foreign_codings = true;
    c.targeted = std::vector<std::string>{"X-Control"};
    c.tags = {{"xkey"}, {"t"}};
    c.no_vary_search = false;
    c.heuristic = true;
    c.max_object = 9216;
    EXPECT_EQ(r.cache, c);
    EXPECT_EQ(r.etag, (settings::etag{settings::etag_when_missing::off,
                                      settings::etag_digest::sha_256,
                                      10240,
                                      11ms,
                                      {"/a"},
                                      {settings::tag_repair::suffix},
                                      0.02}));
    EXPECT_EQ(r.compress, (settings::compress{{settings::coding::br, settings::coding::gzip}, 12288}));
    EXPECT_EQ(r.purge_on_success, (settings::purge_on_success{{"t"}, {"rest"}, {"/p/"}, true}));
    EXPECT_EQ(s.shutdown, (settings::shutdown{1s, 2s}));
    const settings::access_log log{
        settings::access_log_format::rack_cache, "/tmp/log", 0.5, {"query", "client_ip", "user_agent"}};
    EXPECT_EQ(s.observability, (settings::observability{log, settings::log_level::debug, {true, "/m"}}));
}

// A profile is where the keys of `cache` start from, whatever the defaults say; the route's own keys come on top.
TEST(Profile, IsBelowTheRoutesOwnKeysAndAboveTheDefaults) {
    const auto s = parsed(with_upstream(R"(
defaults:
  cache: { heuristic: true, lifetime: { max: 1h } }
  compress: { algorithms: [gzip] }
routes:
  - { name: plain, match: { path: /plain } }
  - { name: api, match: { path: /api }, profile: api }
  - { name: rfc, match: { path: /rfc }, profile: rfc, cache: { cookies: guard } }
)"));
    EXPECT_TRUE(s.routes.at(0).cache.heuristic);
    EXPECT_FALSE(s.routes.at(1).cache.heuristic);
    EXPECT_EQ(s.routes.at(1).cache.client_directives, settings::client_directives::ignore);
    const settings::cache& rfc = s.routes.at(2).cache;
    EXPECT_TRUE(rfc.heuristic);
    EXPECT_EQ(rfc.client_directives, settings::client_directives::honour);
    EXPECT_EQ(rfc.cookies, settings::cookie_rule::guard);
    EXPECT_EQ(rfc.stale.if_unreachable, 24h);
    EXPECT_EQ(rfc.lifetime.max, 1h);
    EXPECT_EQ(s.routes.at(2).compress.algorithms, std::vector{settings::coding::gzip});
}

TEST(Profile, OfTheDefaultsIsEveryRoutes) {
    const auto s =
        parsed(with_upstream("defaults: { profile: rfc, cache: { heuristic: false } }\n"
                             "routes: [{ name: a, match: {} }]"));
    EXPECT_FALSE(s.routes.at(0).cache.heuristic);
    EXPECT_EQ(s.routes.at(0).cache.cookies, settings::cookie_rule::plain);
}

}  // namespace
}  // namespace etagere::app
