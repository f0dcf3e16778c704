// settings → routes: names become indices, the operator's cache rules become cache::policy.
#include "etagere/routing/pattern.hpp"
#include "etagere/routing/table.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace etagere::routing {
namespace {

seconds whole(milliseconds m) {
    return std::chrono::floor<seconds>(m);
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_names(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

cache::etag_making making(settings::etag_when_missing w) {
    switch (w) {
        case settings::etag_when_missing::off: return cache::etag_making::off;
        case settings::etag_when_missing::weak: return cache::etag_making::weak;
        case settings::etag_when_missing::strong: break;
    }
    return cache::etag_making::strong;
}

cache::etag_digest digest(settings::etag_digest d) {
    switch (d) {
        case settings::etag_digest::xxh3_128: return cache::etag_digest::xxh3_128;
        case settings::etag_digest::sha_256: return cache::etag_digest::sha_256;
        case settings::etag_digest::md5: break;
    }
    return cache::etag_digest::md5;
}

http::coding coding(settings::coding c) {
    switch (c) {
        case settings::coding::gzip: return http::coding::gzip;
        case settings::coding::br: return http::coding::br;
        case settings::coding::zstd: break;
    }
    return http::coding::zstd;
}

/// The largest body that any level of the store takes.
std::uint64_t store_bound(const settings::store& s) {
    const std::uint64_t memory = s.memory.size == 0 ? 0 : s.memory.max_object;
    return std::max(memory, s.memcached ? s.memcached->max_object : 0);
}

cache::policy make_policy(const settings::route& from, const settings::store* store) {
    const settings::cache& c = from.cache;
    const bool keeps_private =
        c.mode == settings::cache_mode::private_ || c.origin_private == settings::origin_private::revalidate;
    cache::policy p;
    p.enabled = c.enabled;
    p.shared = c.mode == settings::cache_mode::shared;
    p.stream = from.stream;
    p.key_headers = c.key.headers;
    p.key_cookies = c.key.cookies;
    if (c.per_credential) {
        p.per_credential = *c.per_credential;
    } else if (keeps_private) {
        p.per_credential = {"Authorization", "Cookie"};
    }
    p.query = {.sort = c.key.query_sort, .ignore = c.key.query_ignore};
    p.on_private = c.origin_private == settings::origin_private::revalidate ? cache::private_rule::revalidate
                                                                            : cache::private_rule::leave;
    p.cookies = c.cookies == settings::cookie_rule::plain ? cache::cookie_rule::plain : cache::cookie_rule::guard;
    p.foreign_codings = c.foreign_codings;
    if (c.targeted) {
        p.targeted = *c.targeted;
    } else if (!p.shared) {
        p.targeted = {"Etagere-Cache-Control"};  // a private cache is no CDN (RFC 9213 §3)
    }
    p.no_vary_search = c.no_vary_search;
    p.tag_fields = c.tags.from;
    p.tags = c.tags.add;
    p.heuristic_freshness = c.heuristic;
    p.override_lifetime = c.lifetime.override;
    p.has_default_lifetime = c.lifetime.default_.has_value();
    p.default_lifetime = whole(c.lifetime.default_.value_or(milliseconds{0}));
    p.max_lifetime = whole(c.lifetime.max.value_or(milliseconds{0}));
    for (const auto& [status, lifetime] : c.negative) {
        p.negative.emplace_back(status, whole(lifetime));
    }
    p.max_object = std::min(c.max_object, store == nullptr ? 0 : store_bound(*store));
    p.max_variants = c.vary.max_variants;
    const auto normalizes = [&](std::string_view field) {
        return std::ranges::any_of(c.vary.normalize, [&](const auto& name) { return equal_names(name, field); });
    };
    p.normalize_accept = normalizes("Accept");
    p.normalize_accept_encoding = normalizes("Accept-Encoding");
    p.normalize_accept_language = normalizes("Accept-Language");
    p.client = c.client_directives == settings::client_directives::honour ? cache::client_directives::honour
                                                                          : cache::client_directives::ignore;
    p.stale_while_revalidate = whole(c.stale.while_revalidate);
    p.stale_if_error = whole(c.stale.if_error);
    p.stale_if_unreachable = whole(c.stale.if_unreachable);
    p.validate_for = whole(c.validate_for);
    p.collapse = c.collapse.enabled;
    p.collapse_wait = c.collapse.wait;
    p.etag_when_missing = making(from.etag.when_missing);
    p.digest = digest(from.etag.digest);
    p.etag_max_body = from.etag.max_body;
    p.etag_max_hold = from.etag.max_hold;
    p.json_ignore = from.etag.json_ignore;
    const auto repairs = [&](settings::tag_repair r) {
        return std::ranges::find(from.etag.repair, r) != from.etag.repair.end();
    };
    p.if_none_match = repairs(settings::tag_repair::quotes) ? http::tag_reading::lenient : http::tag_reading::strict;
    p.repair_weak_prefix = repairs(settings::tag_repair::weak_prefix);
    p.repair_suffix = repairs(settings::tag_repair::suffix);
    p.audit = from.etag.audit;
    std::ranges::transform(from.compress.algorithms, std::back_inserter(p.compress), coding);
    p.compress_above = from.compress.above;
    return p;
}

template <class T> const T* by_name(const std::vector<T>& all, std::string_view name) {
    const auto it = std::ranges::find(all, name, &T::name);
    return it == all.end() ? nullptr : &*it;
}

std::uint16_t bit(http::method m) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(m));
}

bool takes(const settings::match& m, std::string_view method) {
    const auto lists = [&](std::string_view name) { return std::ranges::find(m.methods, name) != m.methods.end(); };
    return m.methods.empty() || lists(method) || (method == "HEAD" && lists("GET"));
}

/// A method that both take, or "".
std::string common_method(const settings::match& a, const settings::match& b) {
    if (a.methods.empty() && b.methods.empty()) {
        return "GET";
    }
    for (const auto* list : {&a.methods, &b.methods}) {
        const auto it = std::ranges::find_if(*list, [&](const auto& m) { return takes(a, m) && takes(b, m); });
        if (it != list->end()) {
            return *it;
        }
    }
    return {};
}

}  // namespace

std::expected<route, std::string> compile_route(const settings::route& from, const settings::settings& all) {
    const auto refuse = [&](const std::string& why) { return std::unexpected("route \"" + from.name + "\": " + why); };
    const settings::upstream* upstream = by_name(all.upstreams, from.upstream);
    if (upstream == nullptr) {
        return refuse("no upstream is called \"" + from.upstream + "\"");
    }
    const settings::store* store = by_name(all.stores, from.cache.store);
    if (from.cache.enabled && store == nullptr) {
        return refuse("no store is called \"" + from.cache.store + "\"");
    }
    if (const auto p = parse_pattern(from.match.path); !p) {
        return refuse(p.error());
    }
    if (!from.match.host.empty()) {
        if (const auto h = check_host_pattern(from.match.host); !h) {
            return refuse(h.error());
        }
    }
    route r;
    r.name = from.name;
    r.policy = make_policy(from, store);
    r.upstream = static_cast<std::size_t>(upstream - all.upstreams.data());
    r.store = store == nullptr ? 0 : static_cast<std::size_t>(store - all.stores.data());
    r.cache_status = from.headers.cache_status;
    r.purge_on_success = from.purge_on_success;
    for (const std::string& name : from.match.methods) {
        const http::method m = http::find_method(name);
        if (m == http::method::other) {
            r.other_methods.push_back(name);
        } else {
            r.methods |= bit(m);
        }
        if (m == http::method::get) {
            r.methods |= bit(http::method::head);
        }
    }
    return r;
}

std::expected<tables, std::string> compile(const settings::settings& all) {
    auto ingress = table::compile(all.routes, all);
    if (!ingress) {
        return std::unexpected(std::move(ingress.error()));
    }
    auto egress = table::compile(all.egress, all, static_cast<std::uint32_t>(all.routes.size()));
    if (!egress) {
        return std::unexpected(std::move(egress.error()));
    }
    return tables{.ingress = std::move(*ingress), .egress = std::move(*egress)};
}

std::vector<overlap> find_overlaps(const std::vector<settings::route>& routes) {
    std::vector<overlap> found;
    std::vector<pattern> patterns(routes.size());
    // Only routes of one host and one literal prefix can tie, so only those are compared.
    std::unordered_map<std::string, std::vector<std::size_t>> rivals;
    for (std::size_t i = 0; i < routes.size(); ++i) {
        auto p = parse_pattern(routes[i].match.path);
        if (!p) {
            continue;
        }  // reported elsewhere
        patterns[i] = std::move(*p);
        const std::size_t prefix = patterns[i].literal_prefix();
        std::string group = patterns[i].exact() ? "=" : "~";
        for (const char c : routes[i].match.host) {
            group += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        }
        for (std::size_t s = 0; s < prefix; ++s) {
            group += '/' + patterns[i].segments[s].text;
        }
        auto& others = rivals[group];
        for (const std::size_t earlier : others) {
            // Some methods before all of them is how an exception is written.
            if (!routes[earlier].match.methods.empty() && routes[i].match.methods.empty()) {
                continue;
            }
            const std::string method = common_method(routes[earlier].match, routes[i].match);
            if (method.empty()) {
                continue;
            }
            if (const auto path = common_path(patterns[earlier], patterns[i])) {
                found.push_back({.first = earlier, .second = i, .example = method + ' ' + *path});
                break;  // one example is enough for an operator to see it
            }
        }
        others.push_back(i);
    }
    return found;
}

}  // namespace etagere::routing
