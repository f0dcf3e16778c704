// What is refused, where, and in which words.
#include "config_support.hpp"

#include <chrono>

#include <gmock/gmock.h>

namespace etagere::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

std::vector<std::string> problems(std::string_view text) {
    return config_world().problems(text);
}

std::string repeated(std::string_view what, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) {
        out += what;
    }
    return out;
}

// The wording that the documentation promises, to the letter.
TEST(ConfigProblems, AreShownLikeACompilersErrors) {
    const auto r = config_world().parse(R"(version: 1
listen: ":8080"
stores:
  default:
    memcached:
      servers: memcached:11211
      timeout: "20"
upstreams:
  app: { endpoints: "http://127.0.0.1:3000" }
routes:
  - name: products
    match: { path: "/api/products/**" }
    upstream: app
    cache:
      stale:
        while_revaldate: 30s
  - name: all-products
    match: { path: "/api/products/{id}" }
    upstream: app
)");
    EXPECT_EQ(format_problems(r.problems, problem_format::text),
              R"(routes.yaml:7:16: stores.default.memcached.timeout: "20" has no unit; write "20ms" or "20s"
routes.yaml:16:9: routes[0].cache.stale.while_revaldate: unknown key
    did you mean "while_revalidate"?   allowed: while_revalidate, if_error, if_unreachable
routes.yaml:17:5: routes "products" and "all-products" both match GET /api/products/1; the first wins (warning W014)
3 problems (2 errors, 1 warning); nothing was changed
)");
    EXPECT_FALSE(r.ok());
}

TEST(ConfigProblems, AreNoTextWhereThereAreNone) {
    EXPECT_EQ(format_problems({}, problem_format::text), "");
    EXPECT_EQ(format_problems({}, problem_format::github), "");
    EXPECT_EQ(format_problems({}, problem_format::json), "{\"problems\":[],\"errors\":0,\"warnings\":0}\n");
}

config_problem a_problem(severity level = severity::error) {
    config_problem p;
    p.level = level;
    p.file = "a,b:c%.yaml";
    p.line = 2;
    p.column = 3;
    p.path = "x.y";
    p.message = "\"z\" is \\ not\x01 100% good: no";
    p.hint = "do that";
    return p;
}

TEST(ConfigProblems, CountInSingularToo) {
    EXPECT_THAT(format_problems({a_problem()}, problem_format::text),
                HasSubstr("\n1 problem (1 error); nothing was changed\n"));
    EXPECT_THAT(format_problems({a_problem(severity::warning)}, problem_format::text),
                HasSubstr("\n1 problem (1 warning)\n"));
    EXPECT_THAT(format_problems({a_problem(severity::warning), a_problem(severity::warning)}, problem_format::text),
                HasSubstr("\n2 problems (2 warnings)\n"));
}

TEST(ConfigProblems, AreJsonForPrograms) {
    config_problem second = a_problem(severity::warning);
    second.code = "W010";
    EXPECT_EQ(
        format_problems({a_problem(), second}, problem_format::json),
        R"({"problems":[{"level":"error","file":"a,b:c%.yaml","line":2,"column":3,"path":"x.y",)"
        R"("message":"\"z\" is \\ not\u0001 100% good: no","hint":"do that","code":""},)"
        R"({"level":"warning","file":"a,b:c%.yaml","line":2,"column":3,"path":"x.y",)"
        R"("message":"\"z\" is \\ not\u0001 100% good: no","hint":"do that","code":"W010"}],"errors":1,"warnings":1})"
        "\n");
}

TEST(ConfigProblems, AreWorkflowCommandsForGithub) {
    config_problem p = a_problem();
    p.message = "100% wrong";
    EXPECT_EQ(format_problems({p}, problem_format::github),
              "::error file=a%2Cb%3Ac%25.yaml,line=2,col=3::x.y: 100%25 wrong; do that\n");
    p.hint.clear();
    p.level = severity::warning;
    EXPECT_THAT(format_problems({p}, problem_format::github), StartsWith("::warning "));
}

// ------------------------------------------------------------------------------- security-catalogue S280, S281, S282

TEST(Syntax, ErrorsHaveTheirPlace) {
    EXPECT_THAT(problems("version: 1\n\tlisten: x\n"), ElementsAre(StartsWith("2:")));
    EXPECT_THAT(problems("a: [1, 2\nb: 3\n"), ElementsAre(StartsWith("2:")));
    EXPECT_THAT(problems("a: \"x\n"), ElementsAre(StartsWith("3:1: illegal document indicator")));
    EXPECT_THAT(problems("a: 'x"), ElementsAre(StartsWith("2:1: illegal document indicator")));
    EXPECT_THAT(problems("a: {b: c"), ElementsAre(HasSubstr("2:1:")));
    EXPECT_THAT(problems("a: b: c\n"), ElementsAre(StartsWith("1:")));
    // yaml-cpp repeats the character itself
    EXPECT_THAT(problems("a: \"\\\x01\""), ElementsAre(HasSubstr("unknown escape character: \\x01")));
}

TEST(Syntax, AFileIsUtf8) {
    EXPECT_THAT(problems(with_upstream("# \xc3\xa9 \xe2\x82\xac \xed\x9f\xbf \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\n")),
                IsEmpty());
    for (const char* wrong : {"\x80", "\xbf", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xe2\x82", "\xed\xa0\x80",
                              "\xf0\x80\x80\xaf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff\xfe"}) {
        EXPECT_THAT(problems(with_upstream(fmt::format("# \xc3\xa9{}", wrong))),
                    ElementsAre("4:4: the file is not UTF-8 text"));
    }
}

TEST(Syntax, AFileHasOneDocumentThatIsAMap) {
    EXPECT_THAT(problems(""), ElementsAre("1:1: the file is empty"));
    EXPECT_THAT(problems("# nothing\n"), ElementsAre("1:1: the file is empty"));
    EXPECT_THAT(problems("--- \n"), ElementsAre("1:1: the file is empty"));
    EXPECT_THAT(problems("hello"), ElementsAre(HasSubstr("1:1: \"hello\" is not a map")));
    EXPECT_THAT(problems("[a, b]"), ElementsAre(HasSubstr("1:1: is a list; this key takes: a map")));
    EXPECT_THAT(problems(with_upstream("...\n")), IsEmpty());
    EXPECT_THAT(problems("version: 1\n---\nversion: 1\n"), ElementsAre(StartsWith("3:1: a second document")));
}

TEST(Syntax, DuplicateKeysAreRefusedAtEveryLevel) {
    EXPECT_THAT(problems(with_upstream("workers: 1\nworkers: 2\n")),
                ElementsAre("5:1: duplicate key \"workers\", first in line 4"));
    EXPECT_THAT(problems(with_upstream("shutdown: { drain: 1s, drain: 2s }")),
                ElementsAre("4:24: duplicate key \"drain\", first in line 4"));
    EXPECT_THAT(problems(with_upstream("stores:\n  a: {}\n  a: {}\n")),
                Contains(StartsWith("6:3: duplicate key \"a\"")));
}

TEST(Syntax, AnchorsAliasesAndTagsAreRefused) {
    EXPECT_THAT(
        problems(with_upstream("shutdown: &x { drain: &y 1s }")),
        ElementsAre(HasSubstr("4:11: anchors are not supported"), HasSubstr("4:23: anchors are not supported")));
    EXPECT_THAT(problems(with_upstream("workers: &x 1\nshutdown: *x\n")),
                ElementsAre(StartsWith("4:10: anchors"), StartsWith("5:11: aliases are not supported")));
    EXPECT_THAT(problems(with_upstream("workers: !!int 1\n")),
                ElementsAre(HasSubstr("tags are not supported: \"tag:yaml.org,2002:int\"")));
    EXPECT_THAT(problems(with_upstream("workers: &x 1\n*x : 2\n")), Contains(HasSubstr("aliases")));
    EXPECT_THAT(problems(with_upstream("<<: { workers: 1 }")), ElementsAre(StartsWith("4:1: <<: unknown key")));
    EXPECT_THAT(problems(with_upstream("workers: *nowhere")), ElementsAre(HasSubstr("4:")));
}

TEST(Syntax, KeysAreWords) {
    EXPECT_THAT(problems(with_upstream("[a, b]: 1")), ElementsAre("4:1: a key has to be a word"));
    EXPECT_THAT(problems(with_upstream("? { a: b }\n: 1")), ElementsAre(HasSubstr("a key has to be a word")));
    EXPECT_THAT(problems(with_upstream(": 1")), ElementsAre(HasSubstr("a key has to be a word")));
}

TEST(Keys, UnknownOnesAreErrorsWithTheNearestName) {
    EXPECT_THAT(
        problems(with_upstream("upstreams: { a: { endpoints: 'http://a', timouts: {} } }\nroutes: []")),
        ElementsAre(
            "4:42: upstreams.a.timouts: unknown key | did you mean \"timeouts\"?   allowed: endpoints, balance, pool, "
            "timeouts, retries, resolve, host_header"));
    EXPECT_THAT(problems(with_upstream("wrokers: 1")), ElementsAre(HasSubstr("did you mean \"workers\"?")));
    EXPECT_THAT(problems(with_upstream("rutes: []")), ElementsAre(HasSubstr("did you mean \"routes\"?")));
    EXPECT_THAT(problems(with_upstream("kubernetes: 1")), ElementsAre(Not(HasSubstr("did you mean"))));
    EXPECT_THAT(problems(with_upstream("Workers: 1")), ElementsAre(HasSubstr("did you mean \"workers\"?")));
    EXPECT_THAT(problems(with_upstream(fmt::format("{}: 1", std::string(500, 'x')))),
                ElementsAre(HasSubstr("…: unknown key")));
    EXPECT_THAT(problems(with_upstream("a" + repeated("é", 100) + ": 1")),
                ElementsAre(HasSubstr("4:1: a" + repeated("é", 29) + "…: unknown key")));
    // A terminal is not driven by a configuration.
    EXPECT_THAT(problems(with_upstream("\"a\\x1b[2J\": 1")), ElementsAre(HasSubstr("a\\x1b[2J: unknown key")));
}

// Keys of features that do not exist yet are not accepted and ignored.
TEST(Keys, OfFeaturesThatAreNotThereAreUnknown) {
    for (const char* line : {"mode: observe", "observability: { tracing: {} }", "upstreams: { a: { tls: {} } }",
                             "upstreams: { a: { health: {} } }", "upstreams: { a: { breaker: {} } }",
                             "upstreams: { a: { protocol: h2 } }", "routes: [{ name: a, compose: {} }]",
                             "stores: { a: { memcached: { lease: {} } } }", "listeners: { a: { tls: {} } }"}) {
        EXPECT_THAT(problems(with_upstream(line)), Contains(HasSubstr("unknown key"))) << line;
    }
}

TEST(Keys, WithoutAValueAreErrors) {
    EXPECT_THAT(problems(with_upstream("shutdown:\n")),
                ElementsAre("4:1: shutdown: is empty; give it a value, or remove the key"));
    EXPECT_THAT(problems(with_upstream("shutdown: { drain: }")),
                ElementsAre(StartsWith("4:13: shutdown.drain: is empty")));
    EXPECT_THAT(problems(with_upstream("shutdown: ~")), ElementsAre(StartsWith("4:1: shutdown: is empty")));
    EXPECT_THAT(problems(with_upstream("stores: { a: }")), Contains(StartsWith("4:11: stores.a: is empty")));
    EXPECT_THAT(problems(with_upstream("defaults: { cache: { key: { headers: [] } } }")), IsEmpty());
    EXPECT_THAT(problems(with_upstream("defaults: { cache: { key: { headers: [~] } } }")),
                ElementsAre(HasSubstr("is empty; this key takes: field name")));
}

TEST(Keys, ThatAreNeededAreNamed) {
    EXPECT_THAT(problems("workers: 1"),
                UnorderedElementsAre("1:1: version: is needed", "1:1: listen: is needed, as in listen: \":8080\"",
                                     "1:1: upstream: is needed, as in upstream: http://127.0.0.1:3000"));
    EXPECT_THAT(problems(with_upstream("listeners: { a: {} }")), ElementsAre("4:17: listeners.a.address: is needed"));
    EXPECT_THAT(problems(with_upstream("upstreams: { a: {} }\nroutes: []")),
                ElementsAre("4:17: upstreams.a.endpoints: is needed"));
    EXPECT_THAT(problems(with_upstream("stores: { a: { memcached: {} } }")),
                Contains("4:27: stores.a.memcached.servers: is needed"));
    EXPECT_THAT(problems(with_upstream("routes: [{}]")),
                ElementsAre("4:10: routes[0].name: is needed", "4:10: routes[0].match: is needed"));
}

TEST(Kinds, AreNotMixedUp) {
    EXPECT_THAT(problems(with_upstream("shutdown: 5s")),
                ElementsAre("4:11: shutdown: \"5s\" is not a map | allowed: readiness_delay, drain"));
    EXPECT_THAT(problems(with_upstream("shutdown: [5s]")), ElementsAre(HasSubstr("is a list; this key takes: a map")));
    EXPECT_THAT(problems(with_upstream("routes: { a: {} }")),
                ElementsAre("4:9: routes: is a map; this key takes: a list of routes"));
    EXPECT_THAT(problems(with_upstream("routes: [a]")), Contains(HasSubstr("routes[0]: \"a\" is not a map")));
    EXPECT_THAT(problems(with_upstream("stores: [a]")),
                ElementsAre(HasSubstr("stores: is a list; this key takes: a map")));
    EXPECT_THAT(problems(with_upstream("defaults: { cache: { key: { headers: { a: b } } } }")),
                ElementsAre(HasSubstr("headers: is a map; this key takes: list of field name")));
    EXPECT_THAT(problems(with_upstream("workers: [1]")), ElementsAre(HasSubstr("workers: is a list")));
}

TEST(Limits, HoldAgainstAnAliasBomb) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
    }
    const auto found = problems(bomb);
    EXPECT_THAT(found, Contains(HasSubstr("aliases are not supported")));
    EXPECT_EQ(found.size(), 101U);  // the first hundred, and one that says so
    EXPECT_EQ(found.back(), "0:0: more problems follow that are not shown");
}

TEST(Limits, HoldAgainstDeepNestingAndLargeFilesAtOnce) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THAT(problems(repeated("[", 10'000)), ElementsAre(HasSubstr("nested deeper than 64 levels")));
    EXPECT_THAT(problems(repeated("{a: ", 10'000)), ElementsAre(HasSubstr("nested deeper than 64 levels")));
    EXPECT_THAT(problems(repeated("- ", 10'000)), ElementsAre(HasSubstr("nested deeper than 64 levels")));
    EXPECT_THAT(problems(repeated("? ", 10'000)), ElementsAre(HasSubstr("nested deeper than 64 levels")));
    EXPECT_THAT(problems(std::string(max_config_bytes + 1, ' ')), ElementsAre("1:1: the file is larger than 384 KiB"));
    EXPECT_THAT(problems(std::string(max_config_bytes, '[')), ElementsAre(HasSubstr("nested deeper than 64 levels")));
    EXPECT_THAT(problems("a: [" + repeated("x,", 60'000)),
                ElementsAre(HasSubstr("more than 50000 values in one file")));
    EXPECT_THAT(problems(repeated("k", 300'000) + ": 1"), Not(IsEmpty()));
    std::string many_keys;
    for (int i = 0; i < 20'000; ++i) {
        many_keys += fmt::format("k{}: 1\n", i);
    }
    EXPECT_EQ(problems(many_keys).size(), 101U);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// ---------------------------------------------------------------------------------------------------- interpolation

config_world world_with_secrets() {
    config_world w;
    w.variables = {{"PORT", "8080"},      {"EMPTY", ""},
                   {"SECRET", "hunter2"}, {"BREAK", "a\nworkers: 9"},
                   {"LIST", "X-A, X-B"},  {"MAP", "{ drain: 1s }"},
                   {"N_1", "7"}};
    w.files = {{"/run/secrets/key", "0123456789abcdef\r\n"}, {"/bin", std::string("a\0b", 3)}};
    return w;
}

TEST(Interpolation, ReplacesInsideScalars) {
    const auto r = world_with_secrets().parse(R"(version: 1
listen: "127.0.0.1:${PORT}"
upstream: "http://${HOST:-origin}:30${N_1}0"
stores:
  default: { memcached: { servers: "${MEMCACHED:-a:1,b:2}", sign: { key: "${file:/run/secrets/key}" } } }
listeners:
  admin: { address: ":9901", role: admin, token: "$$${SECRET:?is needed}$$x" }
defaults: { cache: { key: { headers: "${LIST}", cookies: "${EMPTY}", query: { ignore: "${EMPTY:-utm_*}" } } } }
)");
    EXPECT_EQ(format_problems(r.problems, problem_format::text), "");
    EXPECT_EQ(r.value.listeners.at(0).at.port, 8080);
    EXPECT_EQ(r.value.upstreams.at(0).endpoints.at(0).host, "origin");
    EXPECT_EQ(r.value.upstreams.at(0).endpoints.at(0).port, 3070);
    EXPECT_EQ(r.value.stores.at(0).memcached->servers.size(), 2U);
    EXPECT_EQ(r.value.stores.at(0).memcached->sign_key, "0123456789abcdef");
    EXPECT_EQ(r.value.listeners.at(1).token, "$hunter2$x");
    EXPECT_THAT(r.value.routes.at(0).cache.key.headers, ElementsAre("X-A", "X-B"));
    EXPECT_THAT(r.value.routes.at(0).cache.key.cookies, IsEmpty());
    EXPECT_THAT(r.value.routes.at(0).cache.key.query_ignore, ElementsAre("utm_*"));
}

struct bad_interpolation {
    const char* text;
    const char* says;
};
class Interpolation : public testing::TestWithParam<bad_interpolation> {};

TEST_P(Interpolation, SaysWhatIsWrong) {
    const auto found = world_with_secrets().problems(with_upstream(fmt::format("workers: \"{}\"", GetParam().text)));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_THAT(found.front(), testing::AllOf(StartsWith("4:10: workers: "), HasSubstr(GetParam().says)));
}

// security-catalogue S283
INSTANTIATE_TEST_SUITE_P(
    Texts, Interpolation,
    testing::Values(
        bad_interpolation{"${MISSING}",
                          "the environment variable MISSING is not set; set it, or write ${MISSING:-default}"},
        bad_interpolation{"${MISSING:?ask the operators}",
                          "the environment variable MISSING is not set: ask the operators"},
        bad_interpolation{"${EMPTY:?must not be empty}",
                          "the environment variable EMPTY is not set: must not be empty"},
        bad_interpolation{"${EMPTY}", "\"${EMPTY}\" is neither auto nor a number"},
        bad_interpolation{"${BREAK}", "\"${BREAK}\" contains a line break or another control character"},
        bad_interpolation{"${file:/run/none}", "\"/run/none\" cannot be read: No such file or directory"},
        bad_interpolation{"${file:/bin}", "control character"}, bad_interpolation{"$", "a `$` starts ${VAR}; write $$"},
        bad_interpolation{"$PORT", "a `$` starts ${VAR}"}, bad_interpolation{"${PORT", "a `$` starts ${VAR}"},
        bad_interpolation{"${}", "is not a variable"}, bad_interpolation{"${1A}", "is not a variable"},
        bad_interpolation{"${A-B}", "is not a variable"},
        bad_interpolation{"${A:+x}", "after ${A: comes `-default` or `?message`"},
        bad_interpolation{"${A:-${B}}", "cannot be nested"}));

TEST(Interpolation, CannotBecomeStructure) {
    EXPECT_THAT(world_with_secrets().problems(with_upstream("shutdown: \"${MAP}\"")),
                ElementsAre(HasSubstr("4:11: shutdown: \"${MAP}\" is not a map")));
    EXPECT_THAT(world_with_secrets().problems(with_upstream("shutdown: \"${BREAK}\"")),
                ElementsAre(HasSubstr("is not a map")));
    // Keys are as they are written.
    EXPECT_THAT(world_with_secrets().problems(with_upstream("\"${PORT}\": 1")),
                ElementsAre(HasSubstr("${PORT}: unknown key")));
}

TEST(Interpolation, NeverShowsAValue) {
    config_world w;
    w.variables = {{"S", "hunter2"}, {"N", "424242"}, {"U", "424242M"}, {"L", "ok,hunter2 x"}, {"P", "10.42.42.42/8"}};
    for (const char* line : {"workers: '${S}'",
                             "shutdown: { drain: '${S}' }",
                             "shutdown: { drain: '${N}' }",
                             "shutdown: '${S}'",
                             "store: '${S}'",
                             "defaults: { etag: { max_body: '${S}' } }",
                             "defaults: { etag: { max_body: '${N}' } }",
                             "defaults: { etag: { max_body: '${U}' } }",
                             "defaults: { cache: { mode: '${S}' } }",
                             "defaults: { cache: '${S}' }",
                             "defaults: { cache: { key: { headers: '${L}' } } }",
                             "defaults: { cache: { key: { headers: ['a ${S}'] } } }",
                             "observability: { access_log: { sample: '${N}' } }",
                             "listeners: { a: { address: '${S}' } }",
                             "listeners: { a: { address: ':${N}' } }",
                             "listeners: { a: { address: ':1', trusted_proxies: '${P}' } }",
                             "store: 'memcached://${S}:${S}'",
                             "store: 'memory://${N}'",
                             "upstreams: { a: { endpoints: '${S}' } }",
                             "routes: [{ name: '${L}', match: {} }]",
                             "routes: [{ name: a, match: { path: '${S}' } }]",
                             "routes: [{ name: a, match: { host: '${L}' } }]",
                             "routes: [{ name: a, match: { methods: '${S}' } }]"}) {
        const auto found = w.problems(with_upstream(line));
        EXPECT_THAT(found, Contains(HasSubstr("${"))) << line;
        for (const std::string& p : found) {
            EXPECT_THAT(p, Not(HasSubstr("hunter2"))) << line;
            EXPECT_THAT(p, Not(HasSubstr("4242"))) << line;
            EXPECT_THAT(p, Not(HasSubstr("10.0.0.0"))) << line;
        }
    }
}

}  // namespace
}  // namespace etagere::app
