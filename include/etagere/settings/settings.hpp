// The configuration as plain structs. Nothing here knows YAML: app/config.hpp fills them, tests write them by hand.
// A default-constructed value is the documented default of its key. Units: every duration is milliseconds, every size
// is bytes. Immutable once loaded: a reload makes a new `settings` and swaps the snapshot. Names are those of the file.
#pragma once

#include "etagere/base/time.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace etagere::settings {

/// What `never` means for a deadline. A hundred years, not milliseconds::max(): adding it to any `now` must not
/// overflow.
inline constexpr milliseconds never = std::chrono::hours(24) * 36500;
/// What `unlimited` means for a size or a count of bytes.
inline constexpr std::uint64_t unlimited = UINT64_MAX;

inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;

enum class transport : std::uint8_t { tcp, unix_socket };

/// Where to listen: `:8080` (host empty: all interfaces), `127.0.0.1:8080`, `[::1]:8080`, `unix:/run/etagere.sock`.
struct address {
    transport kind = transport::tcp;
    std::string host;        // tcp: an IP literal without brackets, or empty
    std::uint16_t port = 0;  // tcp: 0 lets the kernel choose
    std::string path;        // unix_socket
    friend bool operator==(const address&, const address&) = default;
};

/// A network of `trusted_proxies`. `bytes` is in network order, 4 or 16 of them, host bits zero.
struct network {
    std::vector<std::uint8_t> bytes;
    std::uint8_t prefix_length = 0;
    friend bool operator==(const network&, const network&) = default;
};

enum class listener_role : std::uint8_t { ingress, egress, admin };

/// Bounds on what one client may ask for. Each has a status or a close as its answer.
struct listener_limits {
    std::uint64_t header_bytes = 32 * kib;   // request line and fields together: 431
    std::uint32_t headers = 100;             // fields: 431
    std::uint64_t target = 8 * kib;          // request-target: 414
    std::uint64_t body = unlimited;          // request body: 413; 0 accepts no body at all
    milliseconds header_timeout{5'000};      // from the first byte of a head to its last: 408
    milliseconds body_timeout{30'000};       // longest pause inside a request body: 408 or close
    std::uint64_t min_body_rate = 240;       // bytes a second, averaged, judged after the first 5 s; 0 turns it off
    milliseconds idle_timeout{75'000};       // kept connection without a request: close
    milliseconds write_timeout{30'000};      // no byte of the answer taken by the client for so long: close
    std::uint32_t max_connections = 10'000;  // open at one time on this listener, all workers together
    friend bool operator==(const listener_limits&, const listener_limits&) = default;
};

struct listener {
    std::string name;
    listener_role role = listener_role::ingress;
    address at;
    std::vector<network> trusted_proxies;  // only these peers' Forwarded and X-Forwarded-* are believed
    listener_limits limits;
    bool underscore_names = false;  // false: fields such as `X_User` are dropped; CGI-style origins confuse them
    std::string token;              // admin: bearer token for everything but health; empty: none asked. Secret.
    friend bool operator==(const listener&, const listener&) = default;
};

struct memory_store {
    std::uint64_t size = 64 * mib;       // heads and bodies together; 0: no memory level
    std::uint64_t max_object = 1 * mib;  // larger ones live in memcached only, or nowhere
    milliseconds local_ttl{10'000};      // behind it is a memcached: how long a local copy is used before looking there
    friend bool operator==(const memory_store&, const memory_store&) = default;
};

struct memcached_server {
    std::string host;  // name or IP literal without brackets
    std::uint16_t port = 11211;
    friend bool operator==(const memcached_server&, const memcached_server&) = default;
};

enum class distribution : std::uint8_t { ketama };

/// What a request does while memcached cannot be used.
enum class store_failure : std::uint8_t {
    bypass,       // the store counts as empty: the origin answers, nothing is kept, so sidecars cannot diverge
    memory_only,  // the memory level goes on alone
};

struct memcached_store {
    std::vector<memcached_server> servers;
    settings::distribution distribution = settings::distribution::ketama;
    std::string key_prefix = "etagere";  // YAML `namespace`; the record format's version is added to it
    milliseconds timeout{20};            // one operation
    milliseconds connect_timeout{200};
    std::uint64_t max_object = 32 * mib;  // larger bodies stream through unstored
    std::uint64_t chunk = 900 * kib;      // largest value sent; at most 1 MiB, memcached's usual item limit
    std::string sign_key;                 // YAML `sign.key`; HMAC over every record; empty: checksum only. Secret.
    store_failure on_failure = store_failure::bypass;
    milliseconds purge_poll{1'000};  // what another sidecar purged is noticed here after that time
    friend bool operator==(const memcached_store&, const memcached_store&) = default;
};

struct store {
    std::string name;
    memory_store memory;
    std::optional<memcached_store> memcached;
    friend bool operator==(const store&, const store&) = default;
};

/// `http://host:port` or `unix:/path`.
struct endpoint {
    transport kind = transport::tcp;
    std::string host;         // tcp: name or IP literal without brackets
    std::uint16_t port = 80;  // tcp
    std::string path;         // unix_socket
    friend bool operator==(const endpoint&, const endpoint&) = default;
};

enum class balance : std::uint8_t { round_robin };

struct upstream_pool {
    std::uint32_t max_connections = 16;  // open ones, all endpoints and workers together: for Puma, threads × processes
    std::uint32_t queue = 256;           // requests waiting for a connection; beyond: 503. 0: nobody waits
    milliseconds queue_timeout{1'000};   // 503
    milliseconds idle_timeout{4'000};    // shorter than the origin's own (Node 5 s, Puma 20 s), so that we close first
    friend bool operator==(const upstream_pool&, const upstream_pool&) = default;
};

struct upstream_timeouts {
    milliseconds connect{250};
    milliseconds first_byte{30'000};  // from the request's last byte to the answer's first
    milliseconds idle{
        30'000};  // longest pause inside an answer, and in a tunnel (WebSocket) both ways; not for `stream: true`
    milliseconds total = never;  // whole exchange
    friend bool operator==(const upstream_timeouts&, const upstream_timeouts&) = default;
};

struct upstream_retries {
    std::uint32_t attempts = 2;  // in all, the first included: 1 never retries
    friend bool operator==(const upstream_retries&, const upstream_retries&) = default;
};

enum class host_header : std::uint8_t {
    preserve,  // as the client sent it
    upstream,  // the endpoint's host and port; `localhost` for a Unix socket
};

struct upstream {
    std::string name;
    std::vector<endpoint> endpoints;
    settings::balance balance = settings::balance::round_robin;
    upstream_pool pool;
    upstream_timeouts timeouts;
    upstream_retries retries;
    milliseconds resolve{10'000};  // how long an answer of the resolver is used
    settings::host_header host_header = settings::host_header::preserve;
    friend bool operator==(const upstream&, const upstream&) = default;
};

enum class cache_mode : std::uint8_t {
    shared,    // RFC 9111's shared cache
    private_,  // RFC 9111's private cache: one consumer (egress); `private` is stored, s-maxage is ignored
};

struct lifetime {
    std::optional<milliseconds> default_;  // when the origin is silent; 0: store and always revalidate; unset: RFC 9111
    std::optional<milliseconds> max;       // upper bound on whatever the origin says
    bool override = false;                 // true: default_ holds even where the origin says otherwise
    friend bool operator==(const lifetime&, const lifetime&) = default;
};

/// Used where the origin neither grants nor forbids stale answers itself; its own directives (RFC 5861) always count.
struct stale {
    milliseconds while_revalidate{0};
    milliseconds if_error{0};        // RFC 5861 §4: 500, 502, 503, 504, or no answer at all
    milliseconds if_unreachable{0};  // RFC 9111 §4.2.4: no answer at all
    friend bool operator==(const stale&, const stale&) = default;
};

enum class client_directives : std::uint8_t { ignore, honour };

/// What to do with an answer that says `private` (every Rails answer by default does) on a shared route.
enum class origin_private : std::uint8_t {
    leave,       // not stored
    revalidate,  // kept apart per credential (`per_credential`), never used without asking the origin
};

/// Cookies tell users apart, and caches that forget it hand one's page to another (RFC 9111 §7.3).
enum class cookie_rule : std::uint8_t {
    guard,  // an answer to a request with cookies needs `public` or the like; Set-Cookie is never kept
    plain,  // RFC 9111 to the letter: they are fields like others, and Set-Cookie is kept and replayed
};

/// What a route starts from: a set of values for keys of `cache`, which the route's own keys then override.
enum class profile : std::uint8_t {
    api,  // safe in front of an API whose authors never thought of a shared cache: the defaults of this file
    rfc,  // all that RFC 9110 and 9111 allow, nothing withheld for safety
};

/// Names under which stored answers can be purged together.
struct tags {
    std::vector<std::string> from{"Surrogate-Key", "Cache-Groups"};  // response fields that name them
    std::vector<std::string> add;                                    // for every answer of the route
    friend bool operator==(const tags&, const tags&) = default;
};

struct cache_key {
    bool query_sort = false;                // YAML key.query.sort
    std::vector<std::string> query_ignore;  // YAML key.query.ignore: parameter names, `*` at the end matches any rest
    std::vector<std::string> headers;       // request fields whose values part the key
    std::vector<std::string> cookies;       // request cookies whose values part the key
    friend bool operator==(const cache_key&, const cache_key&) = default;
};

struct vary {
    std::uint32_t max_variants = 32;                                           // of one key; the oldest goes
    std::vector<std::string> normalize{"Accept-Encoding", "Accept-Language"};  // equal meanings are one variant
    friend bool operator==(const vary&, const vary&) = default;
};

/// Collapsed forwarding: identical requests at one time are one upstream request.
struct collapse {
    bool enabled = true;
    milliseconds wait{5'000};  // then a follower asks for itself
    friend bool operator==(const collapse&, const collapse&) = default;
};

/// A route's `cache`, with `defaults.cache` already merged in.
struct cache {
    bool enabled = true;  // YAML `cache: off`
    std::string store = "default";
    cache_mode mode = cache_mode::shared;
    /// Request fields that tell one user from another: their values part the key. Unset: Authorization and Cookie where
    /// private answers may be kept, none elsewhere.
    std::optional<std::vector<std::string>> per_credential;
    settings::lifetime lifetime;
    std::vector<std::pair<int, milliseconds>> negative;  // error status → lifetime where the origin is silent
    settings::stale stale;
    milliseconds validate_for{std::chrono::hours(24)};  // kept so long after going stale, for a 304 to revive
    settings::client_directives client_directives = settings::client_directives::ignore;
    settings::origin_private origin_private = settings::origin_private::leave;  // YAML `private`
    cache_key key;
    settings::vary vary;
    settings::collapse collapse;
    settings::cookie_rule cookies = settings::cookie_rule::guard;
    bool foreign_codings = false;  // true: answers in transfer codings that nobody knows are taken up to the close
    /// Fields that stand above Cache-Control (RFC 9213), the first one present wins. Empty: none. Unset:
    /// Etagere-Cache-Control, and below it CDN-Cache-Control where the cache is shared.
    std::optional<std::vector<std::string>> targeted{};
    settings::tags tags;
    bool no_vary_search = true;            // believe the origin's No-Vary-Search
    bool heuristic = false;                // RFC 9111 §4.2.2: 10 % of the time since Last-Modified
    std::uint64_t max_object = unlimited;  // larger bodies are not stored; the store has a bound of its own
    friend bool operator==(const cache&, const cache&) = default;
};

enum class etag_when_missing : std::uint8_t { off, weak, strong };
enum class etag_digest : std::uint8_t { xxh3_128, sha_256, md5 };

/// What hops in between do to tags, and étagère undoes (YAML `etag.repair`).
enum class tag_repair : std::uint8_t {
    quotes,       // clients that cut the quotes off: abc for "abc", /"abc for W/"abc"
    weak_prefix,  // W/ put in front on the way (nginx's gzip): the origin is offered the tag without it too
    suffix,       // -gzip, -br, ;gzip … appended for a coding (Apache httpd, Rack::Deflater's relatives)
};

struct etag {
    etag_when_missing when_missing = etag_when_missing::weak;
    etag_digest digest = etag_digest::xxh3_128;
    std::uint64_t max_body = 1 * mib;  // larger bodies pass untagged
    milliseconds max_hold{50};         // so does a body that is still arriving after that
    /// JSON pointers (RFC 6901) of what does not count: the tag of our own is made over the canonical JSON without
    /// them, and is weak.
    std::vector<std::string> json_ignore{};
    std::vector<tag_repair> repair{tag_repair::quotes};
    double audit = 0;  // 0 to 1: share of validated hits that are fetched in full to see whether the 304 was true
    friend bool operator==(const etag&, const etag&) = default;
};

enum class coding : std::uint8_t { gzip, br, zstd };

/// Compression of what the origin sends uncompressed, for clients that accept it.
struct compress {
    std::vector<coding> algorithms;  // in order of preference among what the client takes equally; empty: off
    std::uint64_t above = 1 * kib;   // shorter bodies stay as they are
    friend bool operator==(const compress&, const compress&) = default;
};

/// A successful answer to a request that is not safe purges these, besides what RFC 9111 §4.4 invalidates.
struct purge_on_success {
    std::vector<std::string> tags;
    std::vector<std::string> routes;    // names
    std::vector<std::string> prefixes;  // paths, of the request's own host
    bool soft = false;                  // true: what is purged may still be validated, or served stale where allowed
    friend bool operator==(const purge_on_success&, const purge_on_success&) = default;
};

struct headers {
    bool cache_status = true;  // RFC 9211 field on every answer
    friend bool operator==(const headers&, const headers&) = default;
};

/// Patterns are explained in routing/pattern.hpp.
struct match {
    std::string host;                  // exact, or `*.example.com`; empty: any
    std::string path = "/**";          // pattern
    std::vector<std::string> methods;  // empty: all
    friend bool operator==(const match&, const match&) = default;
};

struct route {
    std::string name;  // labels metrics and log lines; unique over routes and egress
    settings::match match;
    std::string upstream;  // name
    settings::cache cache;
    settings::etag etag;
    settings::compress compress;
    settings::headers headers;
    settings::purge_on_success purge_on_success;
    bool stream = false;  // answers are never buffered, tagged or stored, and may pause for any time
    friend bool operator==(const route&, const route&) = default;
};

struct shutdown {
    milliseconds readiness_delay{0};  // readiness is off, connections still served: for the balancer to notice
    milliseconds drain{25'000};       // then what is open is cut
    friend bool operator==(const shutdown&, const shutdown&) = default;
};

enum class access_log_format : std::uint8_t { off, json, combined, rack_cache };

struct access_log {
    access_log_format format = access_log_format::json;
    std::string output = "stdout";    // "stdout", "stderr" or the path of a file
    double sample = 1.0;              // 0 to 1; errors (status 500 and above) are never sampled out
    std::vector<std::string> redact;  // members of the line that are masked: query, client_ip, user_agent
    friend bool operator==(const access_log&, const access_log&) = default;
};

enum class log_level : std::uint8_t { trace, debug, info, warn, error };

struct metrics {
    bool enabled = true;            // false: no request is counted, and there is no page
    std::string path = "/metrics";  // on the admin listener
    friend bool operator==(const metrics&, const metrics&) = default;
};

struct observability {
    settings::access_log access_log;
    settings::log_level log_level = settings::log_level::info;
    settings::metrics metrics;
    friend bool operator==(const observability&, const observability&) = default;
};

/// The whole file. Every name that is used exists: the loader refuses the rest.
struct settings {
    int version = 1;
    std::vector<listener> listeners;  // one `admin` on 127.0.0.1:9901 is added where the file has none
    std::vector<store> stores;        // a `default` of 64 MiB memory is added where the file has none
    std::vector<upstream> upstreams;
    std::vector<route> routes;  // of ingress listeners
    std::vector<route> egress;  // of egress listeners; cache.mode is private_ unless said otherwise
    std::uint32_t workers = 0;  // threads; 0: what the CPU quota allows
    etagere::settings::shutdown shutdown;
    etagere::settings::observability observability;
    friend bool operator==(const settings&, const settings&) = default;
};

}  // namespace etagere::settings
