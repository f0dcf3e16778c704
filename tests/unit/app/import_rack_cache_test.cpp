// Rack::Cache's options as étagère's: every form in which people write them, and what is said of the rest.
#include "etagere/app/config.hpp"
#include "etagere/app/import.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::app {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The imported file as étagère reads it; no variable is set. Every file has to be good.
settings::settings read(const imported& i) {
    const environment none = [](const std::string&) { return std::nullopt; };
    const file_reader no_files = [](const std::string&) -> std::expected<std::string, std::string> {
        return std::unexpected("no files here");
    };
    const config_result r = parse_config(i.yaml, "imported.yaml", none, no_files);
    for (const config_problem& p : r.problems) {
        if (p.level == severity::error) ADD_FAILURE() << p.line << ": " << p.message << "\n" << i.yaml;
    }
    return r.value;
}

imported import(std::string_view ruby) {
    imported i = import_rack_cache(ruby, "production.rb");
    EXPECT_TRUE(i.found) << ruby;
    for (const std::string& w : i.warnings) {
        EXPECT_THAT(w, ::testing::StartsWith("production.rb:")) << "a place";
        EXPECT_EQ(w.find('\n'), std::string::npos) << w;
    }
    return i;
}

settings::settings settings_of(std::string_view ruby) {
    return read(import(ruby));
}
settings::cache cache_of(std::string_view options) {
    return settings_of("use Rack::Cache, " + std::string(options) + "\n").routes.at(0).cache;
}
std::vector<std::string> warnings_of(std::string_view options) {
    const imported i = import("use Rack::Cache, " + std::string(options) + "\n");
    (void)read(i);
    return i.warnings;
}

TEST(ImportRackCache, EveryPlaceWhereOptionsStand) {
    for (const std::string_view ruby : {
             "use Rack::Cache, default_ttl: 60",
             "use Rack::Cache, :default_ttl => 60",
             "use Rack::Cache, 'rack-cache.default_ttl' => 60",
             "use Rack::Cache, { default_ttl: 60 }",
             "use Rack::Cache,\n  :verbose => true,\n  :default_ttl => 60 # seconds\n\nrun App",
             "use ::Rack::Cache, default_ttl: 60",
             "use(Rack::Cache, default_ttl: 60)",
             "use Rack::Cache do\n  set :default_ttl, 60\nend",
             "use Rack::Cache do |cache|\n  set :cache_key do |r|\n    r.path\n  end\n  set :default_ttl => 60\nend",
             "use Rack::Cache, verbose: true do\n  set 'rack-cache.default_ttl', 60\nend\n",
             "config.action_dispatch.rack_cache = { default_ttl: 60 }",
             "config.action_dispatch.rack_cache = {\n  :default_ttl => 60,\n  verbose: true,\n}",
             "config.action_dispatch.rack_cache = {\n  \"default_ttl\": 60\n}\r\n",
             "options = { default_ttl: 60 }\nconfig.action_dispatch.rack_cache = options",
             "TTL = 60\nconfig.action_dispatch.rack_cache = { default_ttl: TTL }",
             "config.action_dispatch.rack_cache = true\nconfig.action_dispatch.rack_cache[:default_ttl] = 60",
             "config.middleware.use Rack::Cache, default_ttl: 60",
             "config.middleware.insert_before 0, Rack::Cache, default_ttl: 60",
             "config.middleware.insert_before(Rack::Runtime, Rack::Cache, { default_ttl: 60 })",
             "app = Rack::Cache.new(app, default_ttl: 60)",
             "SETTINGS = { rack_cache: { default_ttl: 60 } }",
             "use Rack::Cache, default_ttl: 1.minute",
             "use Rack::Cache, default_ttl: 1.minute.to_i",
             "use Rack::Cache, default_ttl: 6 * 10",
             "use Rack::Cache, default_ttl: 1_0 * 6\n",
             "use Rack::Cache, default_ttl: 5\nuse Rack::Cache, default_ttl: 60",
             "=begin\nuse Rack::Cache, default_ttl: 5\n=end\nuse Rack::Cache, default_ttl: 60",
             "use Rack::Cache, default_ttl: 60\n__END__\nuse Rack::Cache, default_ttl: 5",
         }) {
        EXPECT_EQ(settings_of(ruby).routes.at(0).cache.lifetime.default_, 60s) << ruby;
    }
}

TEST(ImportRackCache, PlacesWithoutOptions) {
    for (const std::string_view ruby :
         {"use Rack::Cache", "use Rack::Cache\nrun App", "config.middleware.use Rack::Cache",
          "config.middleware.insert_before 0, Rack::Cache", "use Rack::Cache do\nend"}) {
        const settings::settings s = settings_of(ruby);
        EXPECT_FALSE(s.stores.at(0).memcached) << "heap:/ is the default";
        EXPECT_EQ(s.observability.access_log.format, settings::access_log_format::rack_cache)
            << "verbose is the default";
    }
}

TEST(ImportRackCache, NothingFound) {
    for (const std::string_view ruby :
         {"", "\n\n", "# use Rack::Cache, default_ttl: 60", "puts 'use Rack::Cache, default_ttl: 60'",
          "require 'rack/cache'", "config.action_dispatch.rack_cache = nil",
          "config.action_dispatch.rack_cache = false", "config.middleware.delete Rack::Cache",
          "config.middleware.insert_before Rack::Cache, Rack::Deflater", "config.cache_store = :mem_cache_store",
          "\xff\xfe\x00", "{{{{((((", "use Rack::CacheControl, ttl: 1"}) {
        const imported i = import_rack_cache(ruby, "config.ru");
        EXPECT_FALSE(i.found) << ruby;
        EXPECT_EQ(i.yaml, "") << ruby;
    }
    EXPECT_THAT(import_rack_cache("\nconfig.action_dispatch.rack_cache = false", "x.rb").warnings,
                ElementsAre("x.rb:2: Rack::Cache is switched off here"));
    EXPECT_FALSE(import_rack_cache(std::string(max_import_bytes + 1, '\n'), "x.rb").found);
}

struct store_case {
    const char* name;
    const char* ruby;
    const char* servers;     // "" for memory
    const char* name_space;  // "" for the default
    std::size_t warnings;
};
void PrintTo(const store_case& c, std::ostream* out) {
    *out << c.name;
}
class ImportedStore : public testing::TestWithParam<store_case> {};

TEST_P(ImportedStore, Is) {
    const store_case& c = GetParam();
    const imported i = import(c.ruby);
    const settings::settings s = read(i);
    EXPECT_EQ(i.warnings.size(), c.warnings) << ::testing::PrintToString(i.warnings);
    ASSERT_EQ(s.stores.size(), 1U);
    std::string servers;
    if (s.stores[0].memcached) {
        for (const auto& server : s.stores[0].memcached->servers) {
            servers += (servers.empty() ? "" : ",") + server.host + ":" + std::to_string(server.port);
        }
        EXPECT_EQ(s.stores[0].memcached->key_prefix, c.name_space[0] == '\0' ? "etagere" : c.name_space);
    }
    EXPECT_EQ(servers, c.servers) << i.yaml;
}

INSTANTIATE_TEST_SUITE_P(
    All, ImportedStore,
    testing::Values(
        store_case{"Heap", "use Rack::Cache, metastore: 'heap:/', entitystore: 'heap:/'", "", "", 0},
        store_case{"File", "use Rack::Cache, metastore: 'file:/var/meta', entitystore: 'file:/var/body'", "", "", 2},
        store_case{"Memcached",
                   "use Rack::Cache, metastore: 'memcached://cache:11212/meta', entitystore: "
                   "\"memcached://cache:11212/body\"",
                   "cache:11212", "", 0},
        store_case{"OneNamespace",
                   "use Rack::Cache, metastore: 'memcached://a/shop', entitystore: 'memcached://a/shop'", "a:11211",
                   "shop", 0},
        store_case{"SharedNamespace",
                   "use Rack::Cache, metastore: 'dalli://a/shop-meta', entitystore: 'dalli://a/shop-body'", "a:11211",
                   "shop", 0},
        store_case{"Several",
                   "use Rack::Cache, metastore: 'memcached://a:1,b:2/x', entitystore: 'memcached://a:1,b:2/x'",
                   "a:1,b:2", "x", 0},
        store_case{"StoreOptions",
                   "use Rack::Cache, metastore: 'memcached://a/x?compress=true', entitystore: "
                   "'memcached://a/x?compress=true'",
                   "a:11211", "x", 0},
        store_case{"User", "use Rack::Cache, metastore: 'memcached://me:pw@a/x', entitystore: 'memcached://me:pw@a/x'",
                   "a:11211", "x", 2},
        store_case{"BodiesElsewhere", "use Rack::Cache, metastore: 'heap:/', entitystore: 'memcached://a/x'", "a:11211",
                   "x", 1},
        store_case{"OtherServers", "use Rack::Cache, metastore: 'memcached://a/x', entitystore: 'memcached://b/x'",
                   "b:11211", "x", 1},
        store_case{"Variable",
                   "use Rack::Cache, metastore: \"memcached://#{ENV['H']}:#{ENV['P']}/x\", entitystore: "
                   "\"memcached://#{ENV.fetch(\"H\", 'mc')}:#{ENV['P']}/x\"",
                   "mc:11211", "x", 1},
        store_case{"Computed",
                   "use Rack::Cache, metastore: \"memcached://#{host}/x\", entitystore: "
                   "\"memcached://#{host}/x\"",
                   "127.0.0.1:11211", "x", 2},
        store_case{"Dalli",
                   "config.action_dispatch.rack_cache = { metastore: Dalli::Client.new('a:1', namespace: 'm'), "
                   "entitystore: Dalli::Client.new('a:1', namespace: 'm') }",
                   "a:1", "m", 0},
        store_case{"DalliList",
                   "use Rack::Cache, metastore: Dalli::Client.new(['a', 'b:2']), entitystore: "
                   "Dalli::Client.new(%w[a b:2])",
                   "a:11211,b:2", "", 0},
        store_case{
            "DalliOfHeroku",
            "c = Dalli::Client.new((ENV[\"MEMCACHIER_SERVERS\"] || \"\").split(\",\"),\n  :username => "
            "ENV[\"U\"],\n  :password => ENV[\"P\"])\nconfig.action_dispatch.rack_cache = {\n  :metastore => c,\n "
            " :entitystore => c\n}\n",
            "127.0.0.1:11211", "", 2},
        store_case{"DalliUsual", "use Rack::Cache, metastore: Dalli::Client.new, entitystore: Dalli::Client.new",
                   "127.0.0.1:11211", "", 0},
        store_case{"RailsTrue", "config.action_dispatch.rack_cache = true", "", "", 2},
        store_case{
            "RailsOnMemcached",
            "config.cache_store = :mem_cache_store, 'a', { namespace: 'n' }\nconfig.action_dispatch.rack_cache = "
            "true",
            "a:11211", "n", 0},
        store_case{"Noop", "use Rack::Cache, entitystore: 'noop:/'", "", "", 1},
        store_case{"Unknown", "use Rack::Cache, metastore: 'redis://a/0', entitystore: Redis.new", "", "", 2}),
    [](const auto& p) { return std::string(p.param.name); });

TEST(ImportRackCache, Lifetime) {
    EXPECT_EQ(cache_of("default_ttl: 90").lifetime.default_, 90s);
    EXPECT_EQ(cache_of("default_ttl: 2.hours").lifetime.default_, 2h);
    EXPECT_EQ(cache_of("default_ttl: 0").lifetime.default_, std::nullopt) << "kept with a validator, asked each time";
    EXPECT_EQ(cache_of("verbose: true").lifetime.default_, std::nullopt);
    for (const std::string_view not_a_number :
         {"default_ttl: TTL", "default_ttl: 1.5", "default_ttl: 99999999999999999999", "default_ttl: 10000000.weeks",
          "default_ttl: 9223372036854775807 * 2", "default_ttl: rand(9)", "default_ttl: -5"}) {
        EXPECT_EQ(cache_of(not_a_number).lifetime.default_, std::nullopt) << not_a_number;
        EXPECT_THAT(warnings_of(not_a_number), ElementsAre(HasSubstr("default_ttl: not translated"))) << not_a_number;
    }
}

TEST(ImportRackCache, WhatClientsMayAsk) {
    using settings::client_directives;
    EXPECT_EQ(cache_of("verbose: true").client_directives, client_directives::ignore);
    EXPECT_EQ(cache_of("allow_reload: false, allow_revalidate: nil").client_directives, client_directives::ignore);
    EXPECT_EQ(cache_of("allow_reload: true, allow_revalidate: true").client_directives, client_directives::honour);
    EXPECT_THAT(warnings_of("allow_reload: true, allow_revalidate: true"), IsEmpty());
    EXPECT_EQ(cache_of("allow_revalidate: true").client_directives, client_directives::honour);
    EXPECT_THAT(warnings_of("allow_revalidate: true"), ElementsAre(HasSubstr("one switch")));
    EXPECT_EQ(cache_of("allow_reload: ENV['X'] == '1'").client_directives, client_directives::ignore);
    EXPECT_THAT(warnings_of("allow_reload: ENV['X'] == '1'"), ElementsAre(HasSubstr("allow_reload: not translated")));
}

TEST(ImportRackCache, Keys) {
    EXPECT_TRUE(cache_of("verbose: true").key.query_sort) << "Rack::Cache's key sorts";
    EXPECT_TRUE(cache_of("cache_key: Rack::Cache::Key").key.query_sort);
    for (const std::string_view own : {"cache_key: MyKey", "cache_key: lambda { |r| r.path }",
                                       "cache_key: ->(r) { r.path }", "cache_key: proc do |r|\n r.path\nend"}) {
        EXPECT_FALSE(cache_of(own).key.query_sort) << own;
        EXPECT_THAT(warnings_of(own), ElementsAre(HasSubstr("cache_key: not translated"))) << own;
    }
    const auto ignored = [](std::string_view code) {
        const imported i =
            import("use Rack::Cache\nRack::Cache::Key.query_string_ignore = " + std::string(code) + "\n");
        return read(i).routes.at(0).cache.key.query_ignore;
    };
    EXPECT_THAT(ignored("proc { |k, v| k =~ /^(trk|utm)_/ }"), ElementsAre("trk_*", "utm_*"));
    EXPECT_THAT(ignored("proc { |k, _| k =~ /\\Autm_/ || k == 'fbclid' }"), ElementsAre("utm_*", "fbclid"));
    EXPECT_THAT(ignored("->(k, v) { %w[a b].include?(k) }"), ElementsAre("a", "b"));
    EXPECT_THAT(ignored("proc { |k, v| k =~ /^(?:a|b)$/ }"), ElementsAre("a", "b"));
    for (const std::string_view more :
         {"proc { |k, v| k =~ /utm/ }", "proc { |k, v| k =~ /^u.m/ }", "proc { |k, v| k != 'a' }",
          "proc { |k, v| !%w[a].include?(k) }", "IGNORED", "proc { |k, v| k =~ /^(a|b/ }",
          "proc { |k, v| k =~ /^a|b/ }", "proc { |k, v| v.size > 9 }"}) {
        EXPECT_THAT(ignored(more), IsEmpty()) << more;
    }
}

TEST(ImportRackCache, WhoseAnswerItIs) {
    EXPECT_THAT(warnings_of("private_headers: ['Authorization', 'Cookie']"), IsEmpty());
    EXPECT_THAT(cache_of("private_headers: %w[Authorization Cookie X-Api-Key]").key.headers, ElementsAre("X-Api-Key"));
    EXPECT_TRUE(cache_of("private_headers: %w[Authorization Cookie X-Api-Key]").key.query_sort) << "both under `key`";
    EXPECT_THAT(warnings_of("private_headers: ['Authorization']"), ElementsAre(HasSubstr("cookies: plain")));
    EXPECT_THAT(warnings_of("private_headers: []"), ElementsAre(HasSubstr("RFC 9111"), HasSubstr("cookies: plain")));
    EXPECT_EQ(cache_of("private_headers: []").cookies, settings::cookie_rule::guard) << "never less safe than asked";
    EXPECT_THAT(warnings_of("private_headers: HEADERS"), ElementsAre(HasSubstr("not a list")));
    EXPECT_THAT(warnings_of("ignore_headers: ['Set-Cookie', 'X-Request-Id']"), IsEmpty());
    EXPECT_THAT(warnings_of("ignore_headers: []"), ElementsAre(HasSubstr("Set-Cookie is never kept")));
    EXPECT_THAT(warnings_of("ignore_headers: %w[Set-Cookie X-Secret]"), ElementsAre(HasSubstr("keeps X-Secret")));
}

TEST(ImportRackCache, FaultsAndLog) {
    EXPECT_EQ(cache_of("fault_tolerant: true").stale.if_error, 24h);
    EXPECT_EQ(cache_of("fault_tolerant: false").stale.if_error, 0s);
    using settings::access_log_format;
    EXPECT_EQ(settings_of("use Rack::Cache, verbose: false").observability.access_log.format, access_log_format::json);
    EXPECT_EQ(settings_of("use Rack::Cache, verbose: true").observability.access_log.format,
              access_log_format::rack_cache);
    EXPECT_THAT(import("use Rack::Cache, use_native_ttl: true").yaml, HasSubstr("use_native_ttl"));
    EXPECT_THAT(warnings_of("use_native_ttl: true"), IsEmpty());
}

TEST(ImportRackCache, WhatHasNoLikeIsSaidTwice) {
    const imported i = import("use Rack::Cache, storage: MyStorage.new, colour: :red\n");
    (void)read(i);
    EXPECT_THAT(i.warnings, ElementsAre(HasSubstr("storage: not translated"), HasSubstr("colour: not translated")));
    EXPECT_THAT(i.yaml, HasSubstr("# storage: MyStorage.new"));
    EXPECT_THAT(i.yaml, HasSubstr("# colour: :red"));
    EXPECT_THAT(import("config.action_dispatch.rack_cache = { verbose: true } if ENV['X']\n").warnings,
                ElementsAre(HasSubstr("the condition `if ENV['X']` is not translated")));
    EXPECT_THAT(import("config.action_dispatch.rack_cache = Settings.cache\n").warnings,
                ElementsAre(HasSubstr("`Settings.cache` is more than can be read here")));
    EXPECT_THAT(import("config.action_dispatch.rack_cache = { **base, verbose: true }\n").warnings,
                ElementsAre(HasSubstr("more than can be read here")));
}

TEST(ImportRackCache, APasswordIsNotRepeated) {
    const imported i = import(
        "config.action_dispatch.rack_cache = { metastore: Dalli::Client.new('a:1', password: 's3cret'), entitystore: "
        "'memcached://me:s3cret@a:1/x' }\n");
    (void)read(i);
    EXPECT_THAT(i.yaml, Not(HasSubstr("s3cret")));
    for (const std::string& w : i.warnings) EXPECT_THAT(w, Not(HasSubstr("s3cret")));
}

TEST(ImportRackCache, WhateverStandsThereTheFileIsGood) {
    for (const std::string_view odd :
         {"use Rack::Cache, metastore: \"memcached://a\\\"b/x\"", "use Rack::Cache, metastore: 'memcached:///'",
          "use Rack::Cache, metastore: 'memcached://a/\"'", "use Rack::Cache, metastore: \"a\nb: c\"",
          "use Rack::Cache, \"x\\ny: 1\": \"\n- z\"", "use Rack::Cache, metastore: ENV['A B']",
          "use Rack::Cache, metastore: Dalli::Client.new('${X}')",
          "use Rack::Cache, metastore: Dalli::Client.new('a:0')",
          "use Rack::Cache, metastore: Dalli::Client.new('a:99999')",
          "use Rack::Cache, metastore: 'memcached://a:b:c/x'", "use Rack::Cache, metastore: 'memcached://a,,b/x'",
          "use Rack::Cache, metastore: 'memcached://:1/x'",
          "use Rack::Cache, metastore: \"memcached://#{ENV['A']}#{ENV['B']}/x\"", "use Rack::Cache, '\xff\xfe': '\xc3'",
          "use Rack::Cache, private_headers: ['a b', 'c:d']", "use Rack::Cache, private_headers: ['X', 'X']"}) {
        (void)settings_of(odd);
    }
}

TEST(ImportRackCache, DeepAndLongInputsAreHarmless) {
    for (const std::string& piece : {"[", "{", "(", "1*", "ENV['a']||", "{a:", "x = [\n", "use Rack::Cache, a: ", "f(",
                                     "'#{", "Rack::Cache do ", "->", "a = ", "%w[", "/", "proc do "}) {
        std::string text = "use Rack::Cache, default_ttl: ";
        while (text.size() + piece.size() < 100'000) text += piece;
        const imported i = import_rack_cache(text, "x.rb");
        if (i.found) (void)read(i);
    }
}

}  // namespace
}  // namespace etagere::app
