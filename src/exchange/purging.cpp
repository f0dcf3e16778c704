#include "etagere/exchange/purging.hpp"

#include "etagere/cache/key.hpp"
#include "etagere/http/authority.hpp"

#include "exchange.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace etagere::exchange {

namespace {

using observe::purge_kind;

/// A URL as people write it. The host is empty where it was not named.
struct place {
    std::string host;
    std::optional<std::uint16_t> port;
    std::string target;
};

std::expected<place, std::string> parse_place(std::string_view text) {
    const auto refuse = [&](const std::string& why) { return std::unexpected("\"" + std::string(text) + "\" " + why); };
    const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
    if (text.empty() || !printable) return refuse("is no URL: other characters than ASCII are percent-encoded");
    std::string_view rest = text.substr(0, text.find('#'));
    if (const auto colon = rest.find("://"); colon != std::string_view::npos && colon < rest.find('/')) {
        const std::string_view scheme = rest.substr(0, colon);
        if (!http::iequals(scheme, "http") && !http::iequals(scheme, "https")) return refuse("is not http or https");
        rest.remove_prefix(colon + 3);
        if (rest.starts_with('/')) return refuse("names no host");
    }
    place out;
    const std::string_view named = rest.substr(0, rest.find_first_of("/?"));
    if (!named.empty()) {
        const auto authority = http::parse_authority(named);
        if (!authority) return refuse("has no host that could be one");
        out.host = authority->host;
        std::ranges::transform(out.host, out.host.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
        out.port = authority->port;
        rest.remove_prefix(named.size());
    }
    if (!rest.starts_with('/')) out.target = "/";
    out.target += rest;
    return out;
}

/// Behind something that ends TLS, a public https URL is http here, with the port left out.
std::vector<std::pair<std::string_view, std::uint16_t>> origins_of(const place& p) {
    const bool usual = !p.port || *p.port == 80 || *p.port == 443;
    if (usual) return {{"http", std::uint16_t{80}}, {"https", std::uint16_t{443}}};
    return {{"http", *p.port}, {"https", *p.port}};
}

class planner {
public:
    explicit planner(const runtime& of) : runtime_(of) {}

    std::expected<void, std::string> url(std::string_view text) {
        auto p = parse_place(text);
        if (!p) return std::unexpected(std::move(p.error()));
        const bool found = p->host.empty() ? url_of_any_host(*p) : url_of_host(*p);
        if (found) ++count(purge_kind::url);
        return {};
    }

    std::expected<void, std::string> tag(std::string_view tag) {
        const bool plain = !tag.empty() && std::ranges::all_of(tag, [](char c) { return c >= ' ' && c < '\x7f'; });
        if (!plain) return std::unexpected("a tag has to be of printable ASCII characters");
        std::vector<cache::purge_target> groups;
        cache::purge_tag(groups, tag);
        everywhere(groups);
        ++count(purge_kind::tag);
        return {};
    }

    std::expected<void, std::string> prefix(std::string_view text) {
        auto p = parse_place(text);
        if (!p) return std::unexpected(std::move(p.error()));
        if (p->target.contains('?')) return std::unexpected("\"" + std::string(text) + "\": a prefix is one of paths");
        if (p->target.size() > cache::longest_prefix) return std::unexpected("a prefix longer than 1024 characters");
        std::vector<cache::purge_target> groups;
        cache::purge_prefix(groups, p->host, p->target);
        everywhere(groups);
        ++count(purge_kind::prefix);
        return {};
    }

    void route(std::string_view name) {
        std::vector<cache::purge_target> groups;
        cache::purge_route(groups, name);
        bool found = false;
        each_route([&](const routing::route& r) {
            if (r.name != name) return;
            add(r.store, groups);
            found = true;
        });
        if (found) ++count(purge_kind::route);
    }

    purge_plan take() { return std::move(plan_); }

private:
    std::size_t& count(purge_kind k) { return plan_.generations.at(static_cast<std::size_t>(k)); }

    template <class F> void each_route(F&& each) const {
        for (const routing::table* t : {&runtime_.routes.ingress, &runtime_.routes.egress}) {
            for (const routing::route& r : t->routes()) {
                if (r.policy.enabled) each(r);
            }
        }
    }

    void add(std::size_t store, const std::vector<cache::purge_target>& groups) {
        auto at = std::ranges::find(plan_.parts, store, &purge_plan::part::store);
        if (at == plan_.parts.end()) at = plan_.parts.insert(at, {store, {}});
        for (const cache::purge_target& g : groups) {
            if (std::ranges::find(at->groups, g) == at->groups.end()) at->groups.push_back(g);
        }
    }
    void everywhere(const std::vector<cache::purge_target>& groups) {
        each_route([&](const routing::route& r) { add(r.store, groups); });
    }

    bool url_of_host(const place& p) {
        bool found = false;
        http::request_head as_get;
        as_get.host = p.host;
        as_get.target = p.target;
        for (const routing::table* t : {&runtime_.routes.ingress, &runtime_.routes.egress}) {
            const routing::route* const r = t->match(as_get);
            if (r == nullptr || !r->policy.enabled) continue;
            std::string target;
            cache::append_key_target(target, p.target, r->policy.query);
            std::vector<cache::purge_target> groups;
            for (const auto& [scheme, port] : origins_of(p)) cache::purge_url(groups, scheme, p.host, port, target);
            add(r->store, groups);
            found = true;
        }
        return found;
    }

    bool url_of_any_host(const place& p) {
        bool found = false;
        each_route([&](const routing::route& r) {
            std::string target;
            cache::append_key_target(target, p.target, r.policy.query);
            std::vector<cache::purge_target> groups;
            cache::purge_url(groups, {}, {}, 0, target);
            add(r.store, groups);
            found = true;
        });
        return found;
    }

    const runtime& runtime_;
    purge_plan plan_;
};

void nobody_waits(bool) {}

}  // namespace

std::size_t purge_plan::total() const noexcept {
    return std::accumulate(generations.begin(), generations.end(), std::size_t{0});
}

std::expected<purge_plan, std::string> plan_purge(const runtime& of, const purge_order& order) {
    planner p(of);
    for (const std::string& one : order.urls) {
        if (auto good = p.url(one); !good) return std::unexpected(std::move(good.error()));
    }
    for (const std::string& one : order.tags) {
        if (auto good = p.tag(one); !good) return std::unexpected(std::move(good.error()));
    }
    for (const std::string& one : order.prefixes) {
        if (auto good = p.prefix(one); !good) return std::unexpected(std::move(good.error()));
    }
    for (const std::string& one : order.routes) p.route(one);
    purge_plan plan = p.take();
    plan.soft = order.soft;
    return plan;
}

void carry_out(const runtime& in, const purge_plan& plan, moment now, std::function<void(bool published)> done) {
    struct outcome {
        std::atomic<std::size_t> missing;
        std::atomic<bool> all = true;
        std::function<void(bool)> done;
    };
    if (plan.parts.empty()) return done(true);
    const auto o = std::make_shared<outcome>();
    o->missing = plan.parts.size();
    o->done = std::move(done);
    for (const purge_plan::part& part : plan.parts) {
        in.stores[part.store]->purge(part.groups, plan.soft, now, [o](bool published) {
            if (!published) o->all = false;
            if (o->missing.fetch_sub(1) == 1) o->done(o->all);
        });
    }
}

void purge_url_of(const runtime& in, const routing::route& route, const http::request_head& request, moment now) {
    std::string target;
    cache::append_key_target(target, request.target, route.policy.query);
    std::vector<cache::purge_target> groups;
    cache::purge_url(groups, request.scheme, request.host, request.port, target);
    in.stores[route.store]->purge(groups, false, now, nobody_waits);
}

void exchange::purge_after(const http::response_head& answer) {
    const bool succeeded = answer.status >= 200 && answer.status < 400;
    if (http::is_safe(request_.verb) || !succeeded) return;
    const moment now = state_.on().now();

    // RFC 9875 §3: groups of the same origin only.
    const std::vector<std::string> named = cache::groups_to_invalidate(request_, answer);
    if (!named.empty()) {
        std::vector<cache::purge_target> groups;
        for (const std::string& group : named) cache::purge_cache_group(groups, request_, group);
        std::set<std::size_t> stores;
        for (const routing::table* t : {&runtime_->routes.ingress, &runtime_->routes.egress}) {
            for (const routing::route& r : t->routes()) {
                if (r.policy.enabled) stores.insert(r.store);
            }
        }
        for (const std::size_t store : stores) runtime_->stores[store]->purge(groups, false, now, nobody_waits);
        state_.watch().purged(purge_kind::group, false, named.size());
        record_.why = reason::invalidated;
    }

    const settings::purge_on_success& rule = route_->purge_on_success;
    purge_order order{.urls = {}, .tags = rule.tags, .prefixes = {}, .routes = rule.routes, .soft = rule.soft};
    for (const std::string& prefix : rule.prefixes) {
        if (!request_.host.empty()) order.prefixes.push_back(request_.host + prefix);
    }
    if (order.empty()) return;
    const auto plan = plan_purge(*runtime_, order);
    if (!plan) return;  // a host that no URL could name: nothing is kept for it either
    carry_out(*runtime_, *plan, now, nobody_waits);
    for (std::size_t kind = 0; kind < plan->generations.size(); ++kind) {
        state_.watch().purged(static_cast<purge_kind>(kind), plan->soft, plan->generations[kind]);
    }
    record_.why = reason::invalidated;
}

}  // namespace etagere::exchange
