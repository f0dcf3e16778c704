#include "assemble.hpp"

#include "stores.hpp"

#include <algorithm>

namespace etagere::app {

namespace {

upstream::options upstream_options_of(const settings::upstream& u) {
    upstream::options o;
    o.name = u.name;
    for (const settings::endpoint& e : u.endpoints) {
        upstream::endpoint_options out;
        if (e.kind == settings::transport::unix_socket) {
            out.unix_path = e.path;
            out.text = "unix:" + e.path;
        } else {
            out.host = e.host;
            out.port = e.port;
            const bool v6 = e.host.find(':') != std::string::npos;
            out.text = (v6 ? "[" + e.host + "]" : e.host) + ":" + std::to_string(e.port);
        }
        o.endpoints.push_back(std::move(out));
    }
    o.max_connections = u.pool.max_connections;
    o.queue = u.pool.queue;
    o.queue_timeout = u.pool.queue_timeout;
    o.idle_timeout = u.pool.idle_timeout;
    o.connect_timeout = u.timeouts.connect;
    o.first_byte_timeout = u.timeouts.first_byte;
    o.read_timeout = u.timeouts.idle;
    o.total_timeout = u.timeouts.total >= settings::never ? milliseconds{0} : u.timeouts.total;
    o.attempts = u.retries.attempts;
    o.resolve_every = u.resolve;
    o.preserve_host = u.host_header == settings::host_header::preserve;
    return o;
}

/// The part of `previous` that was made from the same settings, or null.
template <class Settings, class Part>
Part unchanged(const Settings& wanted, const std::vector<Settings>& before, const std::vector<Part>& parts) {
    const auto it = std::ranges::find(before, wanted);
    return it == before.end() ? Part{} : parts[static_cast<std::size_t>(it - before.begin())];
}

bool in_network(const std::vector<std::uint8_t>& address, const settings::network& n) {
    if (address.size() != n.bytes.size()) return false;
    for (std::size_t i = 0; i < address.size(); ++i) {
        const std::size_t bits = std::min<std::size_t>(8, n.prefix_length > 8 * i ? n.prefix_length - 8 * i : 0);
        const auto mask = static_cast<std::uint8_t>(0xFF00U >> bits);
        if ((address[i] & mask) != (n.bytes[i] & mask)) return false;
    }
    return true;
}

/// settings::never is a century: for the connection that is no deadline at all.
milliseconds bounded(milliseconds d) {
    return d >= settings::never ? milliseconds{0} : d;
}

}  // namespace

std::expected<std::shared_ptr<const exchange::runtime>, std::string> assemble(settings::settings config,
                                                                              const exchange::runtime* previous,
                                                                              observe::metrics& metrics) {
    auto tables = routing::compile(config);
    if (!tables) return std::unexpected(tables.error());
    auto out = std::make_shared<exchange::runtime>();
    if (previous != nullptr) out->searches = previous->searches;
    out->routes = std::move(*tables);
    for (const settings::store& s : config.stores) {
        std::shared_ptr<store::store> kept;
        if (previous != nullptr) kept = unchanged(s, previous->config.stores, previous->stores);
        out->stores.push_back(kept ? std::move(kept) : make_store(s));
    }
    for (const settings::upstream& u : config.upstreams) {
        std::shared_ptr<upstream::shared_state> kept;
        if (previous != nullptr) kept = unchanged(u, previous->config.upstreams, previous->upstreams);
        out->upstreams.push_back(kept ? std::move(kept) : upstream::make_shared_state(upstream_options_of(u)));
        metrics.upstream(u.name);
    }
    for (const routing::table* t : {&out->routes.ingress, &out->routes.egress}) {
        for (const routing::route& r : t->routes()) {
            out->labels.resize(std::max<std::size_t>(out->labels.size(), r.index + 1));
            out->labels[r.index] = metrics.route(r.name);
        }
    }
    out->memories = std::make_unique<exchange::route_memory[]>(out->labels.size());
    for (const settings::listener& l : config.listeners) metrics.listener(l.name);
    out->config = std::move(config);
    return out;
}

net::bind_address bind_address_of(const settings::listener& l) {
    return {l.at.host, l.at.port, l.at.kind == settings::transport::unix_socket ? l.at.path : std::string{}};
}

net::listener_options listener_options_of(const settings::listener& l) {
    auto c = std::make_shared<net::connection_options>();
    c->head.header_bytes = l.limits.header_bytes;
    c->head.fields = l.limits.headers;
    c->head.target_bytes = l.limits.target;
    c->head.keep_underscores = l.underscore_names;
    c->body_bytes = l.limits.body;
    c->header_timeout = bounded(l.limits.header_timeout);
    c->body_timeout = bounded(l.limits.body_timeout);
    c->min_body_rate = l.limits.min_body_rate;
    c->idle_timeout = bounded(l.limits.idle_timeout);
    c->write_timeout = bounded(l.limits.write_timeout);
    net::listener_options o;
    o.name = l.name;
    o.connection = std::move(c);
    o.max_connections = l.limits.max_connections;
    o.trusts = [networks = l.trusted_proxies](const std::vector<std::uint8_t>& address) {
        return std::ranges::any_of(networks, [&](const settings::network& n) { return in_network(address, n); });
    };
    return o;
}

observe::access_options access_options_of(const settings::access_log& l) {
    observe::access_options o;
    switch (l.format) {
        case settings::access_log_format::off: o.format = observe::access_format::off; break;
        case settings::access_log_format::json: o.format = observe::access_format::json; break;
        case settings::access_log_format::combined: o.format = observe::access_format::combined; break;
        case settings::access_log_format::rack_cache: o.format = observe::access_format::rack_cache; break;
    }
    o.sample = l.sample;
    for (const std::string& name : l.redact) {
        o.redact_query = o.redact_query || name == "query";
        o.redact_client_ip = o.redact_client_ip || name == "client_ip";
        o.redact_user_agent = o.redact_user_agent || name == "user_agent";
    }
    return o;
}

}  // namespace etagere::app
