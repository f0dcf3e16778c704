// The tables: every key of the file, bottom up. A key that is not here is not accepted, so a feature's keys come with
// the feature. Ranges that need one value are here; what needs two is in checks.cpp.
#include "document.hpp"
#include "route_keys.hpp"
#include "types.hpp"

#include <array>

namespace etagere::app::config {

// --------------------------------------------------------------------------------------------------------- listeners

template <>
inline constexpr auto keys<settings::listener_limits> = [] {
    using s = settings::listener_limits;
    return std::array{
        key<&s::header_bytes, size{.least = 1024, .most = settings::mib}>("header_bytes",
                                                                          "request line and fields: 431"),
        key<&s::headers, count{1, 10'000}>("headers", "number of fields: 431"),
        key<&s::target, size{.least = 64, .most = settings::mib}>("target", "request-target: 414"),
        key<&s::body, size{.unlimited = true}>("body", "request body: 413; 0 accepts none"),
        key<&s::header_timeout, duration{.least = 1, .never = true}>("header_timeout", "for a whole head: 408"),
        key<&s::body_timeout, duration{.least = 1, .never = true}>("body_timeout",
                                                                   "longest pause inside a request body"),
        key<&s::min_body_rate, rate{}>("min_body_rate", "slowest request body on average; 0: any"),
        key<&s::idle_timeout, duration{.least = 1, .never = true}>("idle_timeout", "kept connection without a request"),
        key<&s::write_timeout, duration{.least = 1, .never = true}>("write_timeout",
                                                                    "client takes nothing of an answer"),
        key<&s::max_connections, count{1, 1'000'000}>("max_connections", "open at one time on this listener")};
}();

template <>
inline constexpr auto keys<settings::listener> = [] {
    using s = settings::listener;
    return std::array{
        required<&s::at, address{}>("address", "where to listen: \":8080\", \"127.0.0.1:9901\", \"unix:/run/x.sock\""),
        key<&s::role, word<settings::listener_role>{}>("role", "ingress serves `routes`, egress serves `egress`"),
        key<&s::trusted_proxies, list<network>{}>("trusted_proxies",
                                                  "peers whose X-Forwarded-* and Forwarded are believed"),
        key<&s::limits, object{}>("limits", "bounds on what one client may ask for"),
        key<&s::underscore_names, boolean{}>("underscore_names", "pass fields with `_` in their names on"),
        key<&s::token, secret{}>("token", "admin: bearer token; needed beyond loopback")};
}();

// ------------------------------------------------------------------------------------------------------------ stores

template <>
inline constexpr auto keys<settings::memory_store> = [] {
    using s = settings::memory_store;
    return std::array{
        key<&s::size, size{}>("size", "heads and bodies together; 0: no memory level"),
        key<&s::max_object, size{.least = 1}>("max_object", "largest body kept in memory"),
        key<&s::local_ttl, duration{}>("local_ttl", "how long a copy is used before memcached is asked again")};
}();

// memcached's item limit counts its own header and the key; 1 MiB exactly would never be stored.
static constexpr std::uint64_t largest_chunk = 1023 * settings::kib;

static constexpr std::array<field<settings::memcached_store>, 1> sign_keys{
    {key<&settings::memcached_store::sign_key, secret{}>("key", "at least 16 bytes; every record carries an HMAC")}};

template <>
inline constexpr auto keys<settings::memcached_store> = [] {
    using s = settings::memcached_store;
    return std::array{
        required<&s::servers, list<server>{.some = true}>("servers", "all of them, the same in every sidecar"),
        key<&s::distribution, word<settings::distribution>{}>("distribution", "how keys are placed on servers"),
        key<&s::key_prefix, name{}>("namespace", "first part of every key; who shares it shares the cache"),
        key<&s::timeout, duration{.least = 1}>("timeout", "one operation"),
        key<&s::connect_timeout, duration{.least = 1}>("connect_timeout", "one connection"),
        key<&s::max_object, size{.least = 1}>("max_object", "largest body kept; larger ones stream through unstored"),
        key<&s::chunk, size{.least = 1024, .most = largest_chunk}>("chunk", "largest value sent; below memcached's -I"),
        group<s, sign_keys>("sign", "signed records"),
        key<&s::on_failure, word<settings::store_failure>{}>("on_failure", "while memcached cannot be used"),
        key<&s::purge_poll, duration{.least = 50}>("purge_poll", "until another sidecar's purge is noticed")};
}();

template <>
inline constexpr auto keys<settings::store> = [] {
    using s = settings::store;
    return std::array{key<&s::memory, object{}>("memory", "level in this process"),
                      key<&s::memcached, object{}>("memcached", "level shared between sidecars")};
}();

// --------------------------------------------------------------------------------------------------------- upstreams

template <>
inline constexpr auto keys<settings::upstream_pool> = [] {
    using s = settings::upstream_pool;
    return std::array{
        key<&s::max_connections, count{1, 65'535}>("max_connections",
                                                   "open ones, all endpoints together; for Puma, its threads"),
        key<&s::queue, count{0, 1'000'000}>("queue", "requests that wait for a connection; beyond: 503"),
        key<&s::queue_timeout, duration{.least = 1}>("queue_timeout", "longest wait: 503"),
        key<&s::idle_timeout, duration{.least = 1}>("idle_timeout", "kept connection; shorter than the origin's own")};
}();

template <>
inline constexpr auto keys<settings::upstream_timeouts> = [] {
    using s = settings::upstream_timeouts;
    return std::array{key<&s::connect, duration{.least = 1}>("connect", "one connection: 504"),
                      key<&s::first_byte, duration{.least = 1, .never = true}>(
                          "first_byte", "from request sent to answer begun: 504"),
                      key<&s::idle, duration{.least = 1, .never = true}>("idle", "longest pause inside an answer"),
                      key<&s::total, duration{.least = 1, .never = true}>("total", "whole exchange")};
}();

template <>
inline constexpr auto keys<settings::upstream_retries> =
    std::array{key<&settings::upstream_retries::attempts, count{1, 10}>("attempts", "in all; 1 never retries")};

template <>
inline constexpr auto keys<settings::upstream> = [] {
    using s = settings::upstream;
    return std::array{
        required<&s::endpoints, list<endpoint>{.some = true}>("endpoints", "http://host:port or unix:/path"),
        key<&s::balance, word<settings::balance>{}>("balance", "how requests are spread over endpoints"),
        key<&s::pool, object{}>("pool", "connections"),
        key<&s::timeouts, object{}>("timeouts", "deadlines"),
        key<&s::retries, object{}>("retries", "only where the origin has not seen the request"),
        key<&s::resolve, duration{.least = 1}>("resolve", "how long an answer of the resolver is used"),
        key<&s::host_header, word<settings::host_header>{}>("host_header",
                                                            "Host as the client sent it, or the endpoint's")};
}();

// ------------------------------------------------------------------------------------------------------- the process

template <>
inline constexpr auto keys<settings::shutdown> = [] {
    using s = settings::shutdown;
    return std::array{
        key<&s::readiness_delay, duration{}>("readiness_delay", "/readyz fails, connections are still taken"),
        key<&s::drain, duration{}>("drain", "then what is still open is cut")};
}();

static parsed<std::string> parse_output(const scalar& s) {
    if (s.text == "stdout" || s.text == "stderr" || s.text.starts_with('/')) {
        return s.text;
    }
    return std::unexpected(
        fmt::format("{} is neither stdout, stderr nor the absolute path of a file", quoted(s.shown)));
}
static constexpr std::string_view t_output = "stdout, stderr or path";
using output = plain<&parse_output, t_output>;

template <>
inline constexpr auto keys<settings::access_log> = [] {
    using s = settings::access_log;
    return std::array{key<&s::format, word<settings::access_log_format>{}>("format", "one line a request"),
                      key<&s::output, output{}>("output", "where the lines go"),
                      key<&s::sample, share{}>("sample", "share of requests; errors are never left out"),
                      key<&s::redact, list<word<redactable>>{}>("redact", "members of the line that are masked")};
}();

template <>
inline constexpr auto keys<settings::metrics> =
    std::array{key<&settings::metrics::path, url_path{}>("path", "on the admin listener")};

template <>
inline constexpr auto keys<settings::observability> = [] {
    using s = settings::observability;
    return std::array{key<&s::access_log, object{}>("access_log", "one line a request"),
                      key<&s::log_level, word<settings::log_level>{}>("log_level", "of the program's own log"),
                      key<&s::metrics, switchable{}>("metrics", "Prometheus; off counts nothing")};
}();

static parsed<int> parse_version(const scalar& s) {
    if (s.text == "1") {
        return 1;
    }
    return std::unexpected(
        fmt::format("{} is not a version that this program reads; write version: 1", quoted(s.shown)));
}
static constexpr std::string_view t_version = "1";
using version = plain<&parse_version, t_version>;

static parsed<std::uint32_t> parse_workers(const scalar& s) {
    if (s.text == "auto") {
        return 0;
    }
    auto n = parse_count(s, 1, 256);
    if (!n) {
        n = std::unexpected(fmt::format("{} is neither auto nor a number from 1 to 256", quoted(s.shown)));
    }
    return n;
}
static constexpr std::string_view t_workers = "auto or number from 1 to 256";
using workers = plain<&parse_workers, t_workers>;

/// `memory`, `memory://64MiB`, `memcached://a:11211,b:11211`.
static parsed<settings::store> parse_store(const scalar& s) {
    settings::store out;
    const std::string_view all = s.text;
    const auto rest = [&](std::string_view scheme) {
        const std::string text(all.substr(scheme.size()));
        return scalar{.text = text, .shown = s.literal() ? text : s.shown};
    };
    if (all == "memory") {
        return out;
    }
    if (all.starts_with("memory://")) {
        auto size = parse_size(rest("memory://"));
        if (!size) {
            return std::unexpected(std::move(size.error()));
        }
        out.memory.size = *size;
        return out;
    }
    if (all.starts_with("memcached://")) {
        auto& servers = out.memcached.emplace().servers;
        for (const scalar& item : split_list(rest("memcached://"))) {
            auto one = parse_server(item);
            if (!one) {
                return std::unexpected(std::move(one.error()));
            }
            servers.push_back(std::move(*one));
        }
        if (!servers.empty()) {
            return out;
        }
    }
    return std::unexpected(
        fmt::format("{} is not a store; write memory, memory://64MiB or memcached://host:11211", quoted(s.shown)));
}
static constexpr std::string_view t_store = "memory, memory://SIZE or memcached://host:port,…";
using short_store = plain<&parse_store, t_store>;

/// `upstream: http://127.0.0.1:3000`, or several with commas.
struct short_upstream {
    std::string type() const { return list<endpoint>{}.type(); }
    void read(reader& r, const node& n, std::optional<settings::upstream>& out) const {
        list<endpoint>{.some = true}.read(r, n, out.emplace().endpoints);
    }
};

/// Routes start as the defaults, which stand before them in the table and so have been read.
template <auto Member> static constexpr field<document> routes(std::string_view name, std::string_view help) {
    return {
        .name = name,
        .help = help,
        .required = false,
        .read =
            [](reader& r, const node& n, document& d) {
                if (n.is != node::kind::list) {
                    return r.wrong_kind(n, "a list of routes");
                }
                for (const node& item : n.items) {
                    auto& all = d.value.*Member;
                    const reader::scope inside(r, all.size());
                    settings::route& route = all.emplace_back();
                    route.cache = d.defaults.cache;
                    route.etag = d.defaults.etag;
                    route.compress = d.defaults.compress;
                    route.headers = d.defaults.headers;
                    read_map<settings::route>(r, item, route, keys<settings::route>);
                }
            },
        .describe = [](const std::string& path, std::string_view,
                       std::vector<config_key>& out) { describe_map(path + "[]", table_of<settings::route>(), out); }};
}

/// A key whose member lies in document::value.
template <auto Member, auto Codec>
static constexpr field<document> setting(std::string_view name, std::string_view help) {
    auto inner = key<Member, Codec>(name, help);
    return {.name = name,
            .help = help,
            .required = false,
            .read = [](reader& r, const node& n, document& d) { read_value(Codec, r, n, d.value.*Member); },
            .describe = inner.describe};
}

template <>
inline constexpr auto keys<document> = [] {
    using s = settings::settings;
    using d = document;
    auto number = setting<&s::version, version{}>("version", "of this format");
    number.required = true;
    return std::array{number,
                      key<&d::listen, address{}>("listen", "short for listeners.ingress.address"),
                      setting<&s::listeners, named{}>("listeners", "where to listen"),
                      key<&d::store, short_store{}>("store", "short for stores.default"),
                      setting<&s::stores, named{}>("stores", "where answers are kept"),
                      key<&d::upstream, short_upstream{}>("upstream", "short for upstreams.default.endpoints"),
                      setting<&s::upstreams, named{}>("upstreams", "where answers come from"),
                      key<&d::defaults, object{}>("defaults", "for every route"),
                      routes<&s::routes>("routes", "of ingress listeners"),
                      routes<&s::egress>("egress", "of egress listeners"),
                      setting<&s::workers, workers{}>("workers", "threads; auto: what the CPU quota allows"),
                      setting<&s::shutdown, object{}>("shutdown", "after SIGTERM"),
                      setting<&s::observability, object{}>("observability", "logs and metrics")};
}();

void read_document(reader& r, const node& root, document& out) {
    read_map<document>(r, root, out, keys<document>);
}

}  // namespace etagere::app::config

std::vector<etagere::app::config_key> etagere::app::config_keys() {
    std::vector<config_key> out;
    config::describe_map({}, config::table_of<config::document>(), out);
    return out;
}
