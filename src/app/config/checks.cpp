// What is right or wrong only in the light of other settings. Types and single values were checked by the tables.
//
// Warnings: W010 memcached beyond this machine without signed records · W012 never used · W014 order alone decides
// between two routes · W016 routes that no listener serves · W018 purge_on_success on a route of safe methods.
#include "etagere/http/message.hpp"
#include "etagere/routing/table.hpp"

#include "document.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace etagere::app::config {
namespace {

std::string show(const settings::address& a) {
    if (a.kind == settings::transport::unix_socket) {
        return "unix:" + a.path;
    }
    return a.host.contains(':') ? fmt::format("[{}]:{}", a.host, a.port) : fmt::format("{}:{}", a.host, a.port);
}

template <class T> std::vector<std::string_view> names(const std::vector<T>& all) {
    std::vector<std::string_view> out;
    out.reserve(all.size());
    for (const T& one : all) {
        out.emplace_back(one.name);
    }
    return out;
}

class checker {
public:
    checker(const settings::settings& s, const node& root, problem_list& problems)
        : s_(s), root_(root), problems_(problems) {}

    void run() {
        listeners();
        for (const settings::store& one : s_.stores) {
            store(one, path_of("store", "stores", one.name));
        }
        std::map<std::string_view, std::string> seen;
        routes(s_.routes, "routes", seen);
        routes(s_.egress, "egress", seen);
        // What follows is often nothing but the shadow of an error.
        if (problems_.has_errors()) {
            return;
        }
        unused(s_.stores, "store", "stores", used_stores_);
        unused(s_.upstreams, "upstream", "upstreams", used_upstreams_);
        unserved("routes", s_.routes.size(), settings::listener_role::ingress);
        unserved("egress", s_.egress.size(), settings::listener_role::egress);
    }

private:
    bool written(std::string_view path) const { return locate(root_, path).whole; }
    void error(const std::string& path, std::string message, std::string hint = {}) {
        problems_.error(locate(root_, path).at, path, std::move(message), std::move(hint));
    }
    void warning(const std::string& path, std::string message, std::string code) {
        problems_.warning(locate(root_, path).at, path, std::move(message), std::move(code));
    }
    std::string path_of(std::string_view short_form, std::string_view list, std::string_view name) const {
        auto path = fmt::format("{}.{}", list, name);
        return written(path) ? path : std::string(short_form);
    }

    void listeners() {
        std::map<std::string, std::string_view> taken;
        for (const settings::listener& l : s_.listeners) {
            const std::string path = path_of("listen", "listeners", l.name);
            const std::string at = path == "listen" ? path : path + ".address";
            const bool admin = l.role == settings::listener_role::admin;
            if (!admin && !l.token.empty()) {
                error(path + ".token", "only an admin listener has a token");
            }
            if (l.limits.target > l.limits.header_bytes) {
                error(path + ".limits.target", "is larger than limits.header_bytes, of which it is a part");
            }
            if (!written(at)) {
                continue;
            }  // without an address there is nothing to compare
            if (admin && l.token.empty() && l.at.kind == settings::transport::tcp && !is_loopback(l.at.host)) {
                error(at,
                      fmt::format("\"{}\" is open to other machines; set a token, or listen on 127.0.0.1", show(l.at)));
            }
            if (l.at.kind == settings::transport::tcp && l.at.port == 0) {
                continue;
            }  // the kernel finds a free one
            const auto [first, is_new] = taken.try_emplace(show(l.at), l.name);
            if (!is_new) {
                error(at, fmt::format("\"{}\" is the address of {} too", show(l.at), first->second));
            }
        }
    }

    void store(const settings::store& one, const std::string& path) {
        if (one.memory.size == 0 && !one.memcached) {
            error(path,
                  "keeps nothing: memory.size is 0 and there is no memcached; write `cache: off` to turn caching off");
        }
        if (one.memory.size != 0 && one.memory.max_object > one.memory.size) {
            error(path == "store" ? path : path + ".memory.max_object", "is larger than memory.size");
        }
        if (!one.memcached) {
            return;
        }
        const settings::memcached_store& m = *one.memcached;
        const std::string at = path == "store" ? path : path + ".memcached";
        constexpr std::size_t shortest_key = 16;
        if (!m.sign_key.empty() && m.sign_key.size() < shortest_key) {
            error(at + ".sign.key", "is shorter than 16 bytes");
        }
        if (!m.sign_key.empty()) {
            return;
        }
        for (const settings::memcached_server& server : m.servers) {
            // A single label (`memcached`) is a neighbour in a container network; the rest may be anywhere.
            const bool near = is_loopback(server.host) || server.host.find_first_of(".:") == std::string::npos;
            if (!near) {
                warning(path == "store" ? path : at + ".servers",
                        fmt::format(
                            "{} is beyond this machine, and memcached asks nobody who he is: whoever reaches it can "
                            "change answers; set sign.key",
                            server.host),
                        "W010");
                return;
            }
        }
    }

    void routes(const std::vector<settings::route>& all, std::string_view list,
                std::map<std::string_view, std::string>& seen) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            const settings::route& r = all[i];
            const auto path = fmt::format("{}[{}]", list, i);
            if (written(path + ".name") && !r.name.empty()) {
                const auto [first, is_new] = seen.try_emplace(r.name, path);
                if (!is_new) {
                    error(path + ".name",
                          fmt::format("\"{}\" is the name of {} too; names are unique", r.name, first->second));
                }
            }
            upstream_of(r, path);
            cache_of(r, path);
            purge_of(r, path);
        }
        for (const routing::overlap& o : routing::find_overlaps(all)) {
            problems_.warning(locate(root_, fmt::format("{}[{}]", list, o.second)).at, {},
                              fmt::format("{} \"{}\" and \"{}\" both match {}; the first wins", list, all[o.first].name,
                                          all[o.second].name, o.example),
                              "W014");
        }
    }

    void upstream_of(const settings::route& r, const std::string& path) {
        used_upstreams_.push_back(r.upstream);
        if (s_.upstreams.empty()) {
            return;
        }  // one complaint about that is enough
        const std::string at = path + ".upstream";
        if (r.upstream.empty()) {
            if (!written(at)) {
                error(at, "is needed: no upstream is called default", "upstreams: " + joined(names(s_.upstreams)));
            }
        } else if (std::ranges::find(s_.upstreams, r.upstream, &settings::upstream::name) == s_.upstreams.end()) {
            error(at, fmt::format("no upstream is called \"{}\"", r.upstream),
                  suggestion(r.upstream, names(s_.upstreams)));
        }
    }

    void cache_of(const settings::route& r, const std::string& path) {
        const settings::cache& c = r.cache;
        if (!c.enabled) {
            return;
        }
        used_stores_.push_back(c.store);
        const std::string at = path + ".cache";
        if (!s_.stores.empty() && std::ranges::find(s_.stores, c.store, &settings::store::name) == s_.stores.end()) {
            error(at + ".store", fmt::format("no store is called \"{}\"", c.store),
                  suggestion(c.store, names(s_.stores)));
        }
        if (c.lifetime.override && !c.lifetime.default_) {
            error(at + ".lifetime.override", "needs lifetime.default, which is what overrides");
        }
        if (c.lifetime.default_ && c.lifetime.max && *c.lifetime.default_ > *c.lifetime.max) {
            error(at + ".lifetime.default", "is longer than lifetime.max");
        }
        if (c.origin_private == settings::origin_private::revalidate && c.per_credential && c.per_credential->empty()) {
            error(at + ".per_credential",
                  "is empty, and `private: revalidate` would give one user's answers to another");
        }
    }

    void purge_of(const settings::route& r, const std::string& path) {
        const settings::purge_on_success& p = r.purge_on_success;
        const std::string at = path + ".purge_on_success";
        std::vector<std::string_view> known = names(s_.routes);
        for (const std::string_view one : names(s_.egress)) known.push_back(one);
        for (std::size_t i = 0; i < p.routes.size(); ++i) {
            if (std::ranges::find(known, p.routes[i]) == known.end()) {
                error(fmt::format("{}.routes[{}]", at, i), fmt::format("no route is called \"{}\"", p.routes[i]),
                      suggestion(p.routes[i], known));
            }
        }
        const bool nothing = p.tags.empty() && p.routes.empty() && p.prefixes.empty();
        const auto is_safe = [](const std::string& method) { return http::is_safe(http::find_method(method)); };
        if (!nothing && !r.match.methods.empty() && std::ranges::all_of(r.match.methods, is_safe)) {
            warning(at, "never happens: no method of this route changes anything", "W018");
        }
    }

    template <class T>
    void unused(const std::vector<T>& all, std::string_view short_form, std::string_view list,
                const std::vector<std::string_view>& used) {
        for (const T& one : all) {
            const bool is_used = std::ranges::find(used, one.name) != used.end();
            // The default store is there without being written.
            if (is_used || !written(path_of(short_form, list, one.name))) {
                continue;
            }
            warning(path_of(short_form, list, one.name), "is not used by any route", "W012");
        }
    }

    void unserved(const std::string& list, std::size_t count, settings::listener_role role) {
        const bool served = std::ranges::find(s_.listeners, role, &settings::listener::role) != s_.listeners.end();
        if (count > 0 && !served) {
            warning(list, fmt::format("no listener has the role {}", list == "egress" ? "egress" : "ingress"), "W016");
        }
    }

    const settings::settings& s_;
    const node& root_;
    problem_list& problems_;
    std::vector<std::string_view> used_stores_;
    std::vector<std::string_view> used_upstreams_;
};

}  // namespace

void check(const settings::settings& s, const node& root, problem_list& problems) {
    checker(s, root, problems).run();
}

}  // namespace etagere::app::config
