#include "etagere/exchange/explain.hpp"

#include "etagere/crypto/digest.hpp"
#include "etagere/http/authority.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/http/lists.hpp"

#include "exchange.hpp"
#include "searching.hpp"

#include <algorithm>
#include <charconv>

#include <boost/asio/post.hpp>

namespace etagere::exchange {

namespace {

/// "http://host/path" → {"host", "/path"}.
struct place {
    std::string authority, target;
};
std::expected<place, std::string> split_url(std::string_view url, const std::string& at) {
    // A Unix socket has no name for Host.
    const std::string here = at.starts_with("unix:") ? std::string("localhost") : at;
    if (url == "*") return place{here, "*"};
    if (const auto scheme = url.find("://"); scheme != std::string_view::npos) {
        const std::string_view name = url.substr(0, scheme);
        if (!http::iequals(name, "http") && !http::iequals(name, "https")) {
            return std::unexpected("the URL has to be http or https, or a path");
        }
        url.remove_prefix(scheme + 3);
        const std::size_t end = url.find_first_of("/?#");
        std::string authority(url.substr(0, end));
        url = end == std::string_view::npos ? std::string_view{} : url.substr(end);
        if (!http::parse_authority(authority)) return std::unexpected("the URL names no host");
        url = url.substr(0, url.find('#'));
        return place{std::move(authority), url.starts_with('/') ? std::string(url) : "/" + std::string(url)};
    }
    if (!url.starts_with('/')) return std::unexpected("the URL has to be absolute, or a path");
    return place{here, std::string(url.substr(0, url.find('#')))};
}

bool is_line(std::string_view text) noexcept {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

const routing::table& table_of(const routing::tables& routes, role as) noexcept {
    return as == role::ingress ? routes.ingress : routes.egress;
}

/// What an unsafe request does besides: exchange::invalidate() in small.
void foresee_invalidation(cache::explanation& e, const http::request_head& request, const routing::table& table) {
    http::request_head as_get = request;
    as_get.verb = http::method::get;
    as_get.method_name = "GET";
    const routing::route* const route = table.match(as_get);
    if (e.klass != cache::request_class::unsafe || route == nullptr || !route->policy.enabled) return;
    e.then.push_back({cache::event::success, reason::invalidated});
}

/// What is digested in a key already stays so; the rest of what looks like a credential becomes so here.
void hide_secrets(std::vector<cache::key_part>& parts) {
    for (cache::key_part& p : parts) {
        const bool secret = p.what == "cookie" || (p.what == "field" && cache::is_secret_name(p.name));
        if (!secret) continue;
        for (std::string& value : p.values) value = crypto::sha256_hex(value);
    }
}

void tell_key(account& a) {
    a.parts = cache::read_key(a.key).value_or(std::vector<cache::key_part>{});
    hide_secrets(a.parts);
}

std::vector<const cache::stored_response*> variants_of(const store::found& found) {
    std::vector<const cache::stored_response*> variants;
    for (const store::object_ptr& o : found.set) variants.push_back(&o->response);
    return variants;
}

bool selects(const account& a, const store::found& found) {
    const auto variants = variants_of(found);
    return cache::select_variant(variants, a.request, a.route->policy, crypto::sha256_hex) >= 0;
}

/// Looks into the store's levels, and changes nothing.
net::task<result<store::found>> inspect(store::store& from, net::worker& on, const std::string& key) {
    using answer = result<store::found>;
    auto seen = net::asio::async_initiate<const net::use_task_t, void(answer)>(
        [&](net::completion<answer> handler) {
            from.inspect(key, on.now(), [&on, handler = std::move(handler)](answer found) mutable {
                net::asio::post(on.executor(), [handler = std::move(handler), found = std::move(found)]() mutable {
                    std::move(handler)(std::move(found));
                });
            });
        },
        net::use_task);
    auto [out] = co_await std::move(seen);
    co_return std::move(out);
}

net::task<void> look(account& a, store::store& from, net::worker& on, const std::string& key, store::found& into) {
    result<store::found> seen = co_await inspect(from, on, key);
    if (seen) {
        into = std::move(*seen);
    } else {
        a.store_failed = seen.error();
    }
}

/// What étagère answers by itself, before any route counts.
std::optional<cache::explanation> own_answer(const account& a, const routing::table& table) {
    cache::explanation e;
    e.what = cache::course::refuse;
    e.why = reason::refused;
    if (a.refused) {
        e.status = a.refused_status;
        return e;
    }
    switch (answered_here(a.request, table.match(a.request))) {
        case own_business::trace: e.status = 405; return e;
        case own_business::options:
            e.klass = cache::request_class::unsafe;
            e.what = cache::course::serve;
            e.why = reason::pass_method;
            e.status = 204;
            return e;
        case own_business::no_route: e.status = 404; return e;
        case own_business::none: break;
    }
    return std::nullopt;
}

}  // namespace

std::expected<account, std::string> open_account(inquiry about, wall_time now) {
    account a;
    a.now = now;
    if (!http::is_token(about.method)) return std::unexpected("the method is no token");
    auto where = split_url(about.url, about.at);
    if (!where) return std::unexpected(std::move(where.error()));
    if (!is_line(where->target)) return std::unexpected("the URL has a line break");
    std::string head = about.method + " " + where->target + " HTTP/1.1\r\n";
    bool has_host = false;
    for (const auto& [name, value] : about.fields) {
        if (!http::is_token(name) || !is_line(value)) return std::unexpected("a field is \"Name: value\", on one line");
        has_host = has_host || http::iequals(name, "Host");
        head.append(name).append(": ").append(value).append("\r\n");
    }
    if (!has_host) head += "Host: " + where->authority + "\r\n";
    head += "\r\n";
    const result<std::size_t> read = http::h1::parse_request(head, {}, "http", a.request);
    if (!read || *read != head.size()) {
        a.refused = read ? make_error_code(errc::bad_request) : read.error();
        a.refused_status = http_status(a.refused);
        a.request.clear();
    }
    a.about = std::move(about);
    return a;
}

void explain_route(account& a, const settings::settings& config, const routing::tables& routes) {
    const routing::table& table = table_of(routes, a.about.as);
    a.what = own_answer(a, table);
    if (a.refused) return;
    a.routes = routing::consider(a.about.as == role::ingress ? config.routes : config.egress, config, table, a.request);
    a.route = table.match(a.request);
    if (a.route == nullptr) return;
    a.upstream = config.upstreams[a.route->upstream].name;
    const cache::policy& rules = a.route->policy;
    if (rules.enabled) a.store_name = config.stores[a.route->store].name;
    if (cache::classify(a.request, rules).what != cache::request_class::cacheable) {
        if (!a.what) {
            a.what = cache::explain(a.request, rules, {}, {}, a.now, crypto::sha256_hex);
            foresee_invalidation(*a.what, a.request, table);
        }
        return;
    }
    cache::make_key(a.key, a.route->name, a.request, rules, crypto::sha256_hex);
    tell_key(a);
}

net::task<void> explain(account& a, std::shared_ptr<const runtime> running, const collapse_table& collapse,
                        net::worker& on) {
    a.config = running;
    explain_route(a, running->config, running->routes);
    if (a.key.empty()) co_return;
    a.looked = true;
    store::store& from = *running->stores[a.route->store];
    std::string flight = a.key;
    co_await look(a, from, on, a.key, a.found);
    // exchange::look_up(): what memory has under the key itself goes first, then the answer for equivalent queries.
    const search_rule rule = known_rule(*running->searches, *a.route, a.request);
    if (rule && a.found.from != store::level::memory) {
        std::string key;
        make_search_key(key, *a.route, a.request, *rule);
        store::found other;
        co_await look(a, from, on, key, other);
        restrict_to(other, *rule);
        if (selects(a, other) || !selects(a, a.found)) {
            a.found = std::move(other);
            flight = search_flight(key, *rule);
            a.query_rule = rule->text;
            a.key = std::move(key);
            tell_key(a);
        }
    }
    const moment now = on.now();
    a.now = now.wall;
    const collapse_table::knowledge k = collapse.know(flight, now.steady);
    a.known = {.not_kept = k.not_kept,
               .remembered_for = k.remembered_for,
               .in_flight = k.in_flight,
               .form = running->memories[a.route->index].form(now.steady)};
    const auto variants = variants_of(a.found);
    std::vector<cache::purge_state> purges;
    if (a.found.set) {
        std::string scratch;
        for (const store::object_ptr& o : a.found.set) {
            purges.push_back(from.purges().judge(*o, a.request, a.route->name, a.route->policy, scratch));
        }
    }
    a.known.purges = purges;
    a.what = cache::explain(a.request, a.route->policy, variants, a.known, a.now, crypto::sha256_hex);
    a.known.purges = {};
}

void explain_answer(account& a, http::response_head answer) {
    if (a.route == nullptr) return;
    cache::fate fate = cache::foretell(a.request, answer, a.route->policy, a.now, crypto::sha256_hex);
    a.given = given_answer{std::move(answer), std::move(fate)};
}

std::expected<http::response_head, std::string> read_answer(std::string_view text) {
    std::string head;
    int status = 200;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() && status >= 200) break;
        if (line.empty()) continue;  // an interim response ends; the answer follows
        if (line.starts_with("HTTP/")) {
            line.remove_prefix(std::min(line.size(), line.find(' ')));
            line = http::trim(line);
            std::from_chars(line.data(), line.data() + line.size(), status);
            head.clear();
            continue;
        }
        head.append(line).append("\r\n");
    }
    if (status < 200 || status > 599) return std::unexpected("the status is not that of an answer");
    head = "HTTP/1.1 " + std::to_string(status) + " \r\n" + head + "\r\n";
    http::response_head answer;
    const result<std::size_t> read = http::h1::parse_response(head, {}, http::method::get, answer);
    if (!read || *read == 0) return std::unexpected("étagère would not understand this answer: 502");
    return answer;
}

std::expected<http::response_head, std::string> read_answer(int status, const field_list& fields) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + "\n";
    for (const auto& [name, value] : fields) {
        if (!http::is_token(name) || !is_line(value)) return std::unexpected("a field is \"Name: value\", on one line");
        text.append(name).append(": ").append(value).append("\n");
    }
    return read_answer(text);
}

}  // namespace etagere::exchange
