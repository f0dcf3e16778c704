#include "etagere/exchange/proxy.hpp"

#include "etagere/cache/key.hpp"
#include "etagere/crypto/digest.hpp"

#include "exchange.hpp"
#include "keep.hpp"
#include "searching.hpp"

namespace etagere::exchange {

namespace {

std::string_view protocol_name(http::version v) noexcept {
    switch (v) {
        case http::version::http10: return "HTTP/1.0";
        case http::version::http2: return "HTTP/2";
        case http::version::http11: break;
    }
    return "HTTP/1.1";
}

std::uint64_t microseconds(steady_time::duration d) noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
}

/// The part of a record that is the same for every way to an answer.
void describe(observe::record& r, net::transaction& t, http::method verb, std::string_view method, steady_time ended) {
    const http::request_head& q = t.request();
    const moment started = t.started();
    const net::peer_info& peer = t.peer();
    r.at = started.wall;
    r.duration_us = microseconds(ended - started.steady);
    r.listener = peer.listener;
    r.listener_index = peer.listener_label;
    r.client_ip = peer.address;
    r.verb = verb;
    r.method = method;
    r.scheme = q.scheme;
    r.host = q.host;
    r.path = q.path();
    r.query = q.query();
    r.protocol = protocol_name(q.protocol);
    r.etag_in = q.header.get(http::field_id::if_none_match);
    r.user_agent = q.header.get(http::field_id::user_agent);
    if (const auto referer = q.header.find("Referer")) r.referer = *referer;
    r.bytes_in = t.bytes_in();
    r.bytes_out = t.bytes_out();
}

}  // namespace

bool proxy::try_now(net::transaction& t, net::immediate_answer& a) {
    const http::request_head& request = t.request();
    state_.looked_at = {};
    if (request.verb != http::method::get && request.verb != http::method::head) return false;
    const runtime& now_running = *state_.current();
    const routing::route* const route =
        (role_ == role::ingress ? now_running.routes.ingress : now_running.routes.egress).match(request);
    if (route == nullptr) return false;
    if (cache::classify(request, route->policy).what != cache::request_class::cacheable) return false;

    cache::make_key(state_.key, route->name, request, route->policy, crypto::sha256_hex);
    worker_state::handed_on& known = state_.looked_at;
    known = {.request = &t, .route = route, .found = {}};
    const moment now = t.started();
    store::store& kept = *now_running.stores[route->store];
    known.found = kept.peek(state_.key, now);
    if (known.found.set) {
        if (!answer_from(known.found, now_running, *route, request, now.wall, a)) return false;
    } else {
        const search_rule rule = known_rule(*now_running.searches, *route, request);
        known.may_load = !rule && kept.has_remote();
        if (!rule) return false;
        make_search_key(state_.search_key, *route, request, *rule);
        store::found equivalent = kept.peek(state_.search_key, now);
        restrict_to(equivalent, *rule);
        if (!equivalent.set || !answer_from(equivalent, now_running, *route, request, now.wall, a)) return false;
    }
    known = {};
    return true;
}

/// False where it is not fresh, or not all here: then it takes an exchange.
bool proxy::answer_from(const store::found& found, const runtime& in, const routing::route& route,
                        const http::request_head& request, wall_time now, net::immediate_answer& a) {
    const cache::policy& rules = route.policy;
    state_.candidates.clear();
    for (const store::object_ptr& o : found.set) state_.candidates.push_back(&o->response);
    const cache::choice made = cache::choose(state_.candidates, request, rules, now, crypto::sha256_hex);
    if (made.decision.what != cache::reuse_action::serve) return false;
    const store::object_ptr& chosen = found.set[static_cast<std::size_t>(made.at)];
    const cache::purge_state purge =
        in.stores[route.store]->purges().judge(*chosen, request, route.name, rules, state_.scratch);
    if (purge.how != cache::purged::no) return false;
    const stored_answer planned = plan(*chosen, request, rules, now, state_.candidates);
    // Several ranges have to be put together: that allocates, and pins something else than the object.
    const bool here = planned.usable && !planned.needs_body && !planned.needs_form;
    if (!here || planned.range.what == cache::range_answer::kind::several) return false;

    a.route = route.name;
    a.route_label = in.labels[route.index];
    a.why = cache::served_as(made.decision.why, planned.condition);
    a.age = made.decision.age.count();
    a.ttl = made.decision.ttl.count();
    std::string& cache_status = state_.cache_status;
    cache_status.clear();
    if (route.cache_status) {
        observe::record r;
        r.why = a.why;
        r.ttl_s = a.ttl;
        r.has_ttl = true;
        observe::append_cache_status(cache_status, r);
    }
    fill_from_object(a, chosen, planned, made.decision.age, cache_status, {});
    return true;
}

void proxy::hold(net::immediate_answer& a) {
    a.holds = state_.current();
}

void proxy::wrote_now(net::transaction& t, const net::immediate_answer& a, steady_time ended, const error_code& ec) {
    state_.watch().began(t.peer().listener_label);
    tell(t, a, {}, ended, ec);
}

void proxy::tell(net::transaction& t, const net::immediate_answer& a, way taken, steady_time ended,
                 const error_code& ec) {
    const auto& object = *static_cast<const store::object*>(a.pin.get());
    observe::record r;
    describe(r, t, t.request().verb, t.request().method_name, ended);
    r.route = a.route;
    r.route_index = a.route_label;
    r.status = a.status;
    r.why = a.why;
    r.age_s = a.age;
    r.ttl_s = a.ttl;
    r.has_ttl = true;
    r.not_modified = a.status == 304;
    r.store = store::name(taken.from);
    r.store_us = taken.waited_us;
    note_form(r, object, a);
    r.entity_bytes = object.response.body_size;
    r.ttfb_us = r.duration_us;
    if (ec) r.error = error_name(ec);
    state_.watch().observe(r);
}

/// True: answered. False: `known` says what was found.
net::task<bool> proxy::answer_by_loading(net::transaction& t, prior_look& known) {
    const http::request_head& request = t.request();
    const runtime& in = *known.in;
    const steady_time asked = t.started().steady;
    auto [loaded] = co_await state_.reads().heads.ask(*in.stores[known.route->store], state_.key, wish_of(request));
    const moment now = t.on().now();
    known.waited_us = microseconds(now.steady - asked);
    known.all_levels = true;
    if (!loaded) {
        known.failed = true;
        co_return false;
    }
    known.found = std::move(*loaded);
    net::immediate_answer& a = t.blank_answer();
    if (!known.found.set || !answer_from(known.found, in, *known.route, request, now.wall, a)) co_return false;
    const result<void> sent = co_await t.answer(a);
    tell(t, a, {.from = known.found.from, .waited_us = known.waited_us}, t.on().steady_now(),
         sent ? error_code{} : sent.error());
    co_return true;
}

net::task<void> proxy::handle(net::transaction& t) {
    state_.watch().began(t.peer().listener_label);
    prior_look known;
    known.in = state_.current();
    worker_state::handed_on handed = std::exchange(state_.looked_at, {});
    const bool ours = handed.request == &t;
    if (ours) {
        known.route = handed.route;
        known.found = std::move(handed.found);
    }
    // HEAD may go upstream as GET; the record tells what the client asked.
    const http::method verb = t.request().verb;
    const std::string method = t.request().method_name;
    std::optional<exchange> e;
    bool failed = false;
    try {
        if (ours && handed.may_load) {
            const bool answered = co_await answer_by_loading(t, known);
            if (answered) co_return;
        }
        e.emplace(state_, role_, t, std::move(known));
        co_await e->run();
    } catch (...) {
        failed = true;
    }
    observe::record without;
    observe::record& r = e ? e->record() : without;
    describe(r, t, verb, method, t.on().steady_now());
    if (failed) {
        r.status = 500;
        r.why = reason::failed;
        r.error = error_name(make_error_code(errc::internal));
    }
    state_.watch().observe(r);
}

void proxy::refused(net::transaction& t, const error_code& why, int status) {
    state_.watch().began(t.peer().listener_label);
    observe::record r;
    describe(r, t, t.request().verb, t.request().method_name, t.on().steady_now());
    r.status = status;
    r.why = reason::refused;
    r.error = error_name(why);
    state_.watch().observe(r);
}

}  // namespace etagere::exchange
