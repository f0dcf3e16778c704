// Which route a request takes: settings compiled once, then matched without allocation.
//
// Order of preference: exact host, then the longest `*.` host, then routes without a host; among those of one host the
// path pattern with the longest literal prefix (exact paths first); among equals the one that is written first. A route
// whose methods do not include the request's is as if it were not there. `GET` in a route's methods includes HEAD.
//
// Thread-safe to read; immutable. A `route*` lives as long as its table.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/http/message.hpp"
#include "etagere/settings/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace etagere::routing {

/// One route, ready for use.
struct route {
    std::string name;
    std::uint32_t index = 0;  // dense over all routes of a configuration, ingress first: for counters
    cache::policy policy;
    std::size_t upstream = 0;  // index in settings.upstreams
    std::size_t store = 0;     // index in settings.stores; meaningless where the policy is not enabled
    bool cache_status = true;  // send the field (RFC 9211)
    settings::purge_on_success purge_on_success;
    std::uint16_t methods = 0;               // bit per http::method; 0: all
    std::vector<std::string> other_methods;  // names of methods that are http::method::other
};

/// nullopt in the form of an error where a name does not exist; the loader has refused that before.
std::expected<route, std::string> compile_route(const settings::route& from, const settings::settings& all);

class table {
public:
    /// Routes get the indices `first_index`, `first_index + 1` …
    static std::expected<table, std::string> compile(const std::vector<settings::route>& routes,
                                                     const settings::settings& all, std::uint32_t first_index = 0);

    /// `host` without port; `path` without query, as received. null: no route.
    const route* match(http::method verb, std::string_view method_name, std::string_view host,
                       std::string_view path) const noexcept;
    const route* match(const http::request_head& request) const noexcept {
        return match(request.verb, request.method_name, request.host, request.path());
    }

    std::span<const route> routes() const noexcept { return routes_; }

private:
    /// A node stands for the segments on the way to it. Children by segment, sorted; `one` for `*` and `{name}`.
    struct node {
        std::vector<std::pair<std::string, std::uint32_t>> literals;
        std::uint32_t one = 0;              // 0: none, for the root is nobody's child
        std::vector<std::uint32_t> ending;  // routes whose pattern ends here, as written
        std::vector<std::uint32_t> rest;    // routes whose `**` follows here, as written
    };
    struct host_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view host) const noexcept;
    };
    struct host_equal {
        using is_transparent = void;
        bool operator()(std::string_view a, std::string_view b) const noexcept;
    };
    using roots = std::unordered_map<std::string, std::uint32_t, host_hash, host_equal>;
    struct wanted;

    std::uint32_t root_of(const std::string& host);
    std::uint32_t child(std::uint32_t parent, const std::string& literal);
    void insert(std::uint32_t root, std::string_view path, std::uint32_t index);
    const node* find_literal(const node& n, std::string_view text) const noexcept;
    std::uint32_t first_allowed(const std::vector<std::uint32_t>& candidates, const wanted& w) const noexcept;
    std::uint32_t longest_prefix(const node& n, std::string_view path, const wanted& w) const noexcept;
    std::uint32_t first_written(const node& n, std::string_view path, const wanted& w) const noexcept;

    std::vector<route> routes_;
    std::vector<node> nodes_;
    roots exact_;  // host
    roots below_;  // ".example.com" of "*.example.com"
    std::uint32_t any_host_ = 0;
};

/// Both tables of a configuration.
struct tables {
    table ingress;
    table egress;
    std::size_t count() const noexcept { return ingress.routes().size() + egress.routes().size(); }
};
std::expected<tables, std::string> compile(const settings::settings& all);

/// Two routes that match the same request, of which neither is more specific: nothing but the order in which they are
/// written decides.
struct overlap {
    std::size_t first = 0;  // indices into `routes`
    std::size_t second = 0;
    std::string example;  // "GET /api/products/1"
};
std::vector<overlap> find_overlaps(const std::vector<settings::route>& routes);

}  // namespace etagere::routing
