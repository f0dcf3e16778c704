#include "exchange.hpp"

#include "etagere/cache/key.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "forwarding.hpp"
#include "searching.hpp"

#include <algorithm>
#include <utility>

namespace etagere::exchange {

namespace {

constexpr int most_rounds = 4;  // look-ups of one request: leaders may die, but not for ever

}  // namespace

own_business answered_here(const http::request_head& request, const routing::route* route) noexcept {
    // RFC 9110 §9.3.8 would echo cookies and credentials to whoever asks; refusing is allowed.
    if (request.verb == http::method::trace) return own_business::trace;
    const bool for_us = request.verb == http::method::options &&
                        (request.target == "*" || request.header.get(http::field_id::max_forwards) == "0");
    if (for_us) return own_business::options;
    return route == nullptr ? own_business::no_route : own_business::none;
}

wish wish_of(const http::request_head& request) noexcept {
    const bool conditional =
        request.header.has(http::field_id::if_none_match) || request.header.has(http::field_id::if_modified_since);
    return request.verb == http::method::get && !conditional ? wish::bodies : wish::heads;
}

exchange::exchange(worker_state& state, role as, net::transaction& t, prior_look known)
    : state_(state),
      role_(as),
      known_(std::move(known)),
      t_(t),
      request_(t.request()),
      runtime_(std::move(known_.in)) {}

net::task<void> exchange::run() {
    const std::string_view believed = believed_request_id(request_, t_.peer(), role_);
    request_id_ = believed.empty() ? state_.new_request_id() : std::string(believed);
    record_.request_id = request_id_;

    if (known_.route != nullptr) {  // try_now() found that it is cacheable
        take_route(*known_.route);
        // Whoever has waited since has to make the key again: others have used its place.
        if (known_.all_levels) cache::make_key(state_.key, route_->name, request_, rules(), crypto::sha256_hex);
        exact_key_ = state_.key;
        co_await cached();
        co_return;
    }
    const routing::table& table = role_ == role::ingress ? runtime_->routes.ingress : runtime_->routes.egress;
    const routing::route* const route = table.match(request_);
    switch (answered_here(request_, route)) {
        case own_business::trace: co_await send_local(405, "TRACE is not served\n", reason::refused); co_return;
        case own_business::options: co_await options_for_us(); co_return;
        case own_business::no_route: co_await send_local(404, "no route matches\n", reason::refused); co_return;
        case own_business::none: break;
    }
    take_route(*route);
    const cache::request_decision klass = cache::classify(request_, rules());
    record_.why = klass.why;
    if (klass.what == cache::request_class::cacheable) {
        cache::make_key(exact_key_, route_->name, request_, rules(), crypto::sha256_hex);
        co_await cached();
    } else {
        co_await pass();
    }
}

void exchange::take_route(const routing::route& route) {
    route_ = &route;
    record_.route = route.name;
    record_.route_index = runtime_->labels[route.index];
}

net::task<void> exchange::options_for_us() {
    // RFC 9110 §9.3.7: the server as a whole, or a last hop of Max-Forwards: 0.
    net::immediate_answer a;
    a.status = 204;
    a.dynamic = "HTTP/1.1 204 No Content\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n";
    record_.status = 204;
    record_.why = reason::pass_method;
    (void)co_await t_.answer(a);
}

// ------------------------------------------------------------------------------------------------ the cached way

net::task<void> exchange::cached() {
    for (int round = 0; round < most_rounds; ++round) {
        now_ = round == 0 ? t_.started() : state_.on().now();
        const search_rule rule = known_rule(*runtime_->searches, *route_, request_);
        if (!look_up(rule)) co_await look_up_further(rule);
        // It may have been stored by another process, or before a restart.
        if (chosen_ && !rule && rules().no_vary_search) {
            if (auto told = cache::find_search_variance(chosen_->response.header)) {
                runtime_->searches->learn(route_->name, request_, std::move(*told));
            }
        }
        next then = next::origin;
        if (decided_here()) then = co_await from_store();
        if (then == next::done) co_return;
        // Who wants a part of what is not here does not wait for all of it, only for the same part.
        join_key_ = &flight_key();
        if (const auto part = part_to_ask_for()) {
            part_key_.assign(flight_key()).append(1, '\0').append(http::to_string(*part));
            join_key_ = &part_key_;
        }
        if (auto under_way = join()) {
            then = co_await follow(std::move(under_way));
        } else if (decision_.what == cache::reuse_action::serve) {  // it has come meanwhile
            then = co_await from_store();
        }
        if (then == next::done) co_return;
        if (then == next::again) continue;
        co_await ask_origin();
        co_return;
    }
    alone_ = true;
    co_await ask_origin();
}

bool exchange::look_up(const search_rule& rule) {
    const bool all_levels = known_.all_levels;
    const bool looked = std::exchange(known_.route, nullptr) != nullptr;
    const bool exact = looked ? take_known() : look_here(exact_key_, nullptr);
    if (!exact && rule) {
        make_search_key(search_key_, *route_, request_, *rule);
        look_here(search_key_, rule);
    }
    // Memory answers for itself when it can; a miss, or a body that is not here, asks the next level.
    const bool settled = all_levels || (chosen_ && decision_.what == cache::reuse_action::serve);
    return settled || !kept().has_remote();
}

net::task<void> exchange::look_up_further(search_rule rule) {
    const steady_time begun = now_.steady;
    co_await look_further(key(), rule_);
    if (!chosen_ && rule_) {
        co_await look_further(exact_key_, nullptr);
        if (!chosen_) look_here(search_key_, rule);  // what will be asked for is for all equivalent requests
    }
    record_.store_us += static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(state_.on().steady_now() - begun).count());
}

bool exchange::look_here(const std::string& key, search_rule rule) {
    stand_for(key, std::move(rule));
    take(kept().peek(key, now_));
    decide();
    return !found_.set.empty();
}

net::task<void> exchange::look_further(const std::string& key, search_rule rule) {
    stand_for(key, std::move(rule));
    auto [loaded] = co_await state_.reads().heads.ask(kept(), key, wish_of(request_));
    now_ = state_.on().now();
    store_failed_ = store_failed_ || !loaded;
    if (loaded && loaded->set) take(std::move(*loaded));
    decide();
}

void exchange::stand_for(const std::string& key, search_rule rule) {
    key_ = &key;
    rule_ = std::move(rule);
    if (rule_) search_flight_ = search_flight(key, *rule_);
}

bool exchange::take_known() {
    if (std::exchange(known_.all_levels, false)) now_ = state_.on().now();
    store_failed_ = known_.failed;
    record_.store_us = known_.waited_us;
    stand_for(exact_key_, nullptr);
    take(std::exchange(known_.found, {}));
    decide();
    return !found_.set.empty();
}

void exchange::take(store::found found) {
    found_ = std::move(found);
    if (rule_) restrict_to(found_, *rule_);
}

void exchange::decide() {
    chosen_.reset();
    purge_ = {};
    state_.candidates.clear();
    for (const store::object_ptr& o : found_.set) state_.candidates.push_back(&o->response);
    const wall_time now = now_.wall;
    const cache::choice made = cache::choose(state_.candidates, request_, rules(), now, crypto::sha256_hex);
    decision_ = made.decision;
    if (made.at >= 0) {
        chosen_ = found_.set[static_cast<std::size_t>(made.at)];
        purge_ = purge_of(*chosen_);
    }
    if (purge_.how != cache::purged::no) {
        decision_ = cache::decide_reuse(&chosen_->response, true, request_, rules(), now, purge_);
        // Nothing of it is used, its validators neither.
        if (purge_.how == cache::purged::hard) chosen_.reset();
    }
    // Whether something is stored is not known.
    if (store_failed_ && decision_.why == reason::miss_cold) decision_.why = reason::pass_store_down;
    record_.why = decision_.why;
    using enum observe::looked_up;
    record_.found = decision_.reload ? reload : chosen_ ? stored : nothing;
    record_.store = chosen_ ? store::name(found_.from) : std::string_view{};
}

/// A variant that was not selected may still be offered to the origin, or be what a 304 names: not one that was purged.
void exchange::forget_purged() {
    const auto gone = [&](const store::object_ptr& o) { return purge_of(*o).how == cache::purged::hard; };
    if (std::ranges::none_of(found_.set, gone)) return;
    std::vector<store::object_ptr> left = found_.set.to_vector();
    std::erase_if(left, gone);
    found_.set = std::move(left);
}

cache::purge_state exchange::purge_of(const store::object& o) const {
    return kept().purges().judge(o, request_, route_->name, rules(), state_.scratch);
}

bool exchange::decided_here() const noexcept {
    using enum cache::reuse_action;
    return decision_.what == serve || decision_.what == serve_revalidate || decision_.what == refuse;
}

net::task<exchange::next> exchange::from_store() {
    using enum cache::reuse_action;
    switch (decision_.what) {
        case serve: {
            const bool sent = co_await this->serve(chosen_, decision_.why, decision_.age, decision_.ttl);
            if (sent) co_return next::done;
            // The body is gone (B98): a plain miss, fetched without a condition.
            chosen_.reset();
            decision_ = {cache::reuse_action::fetch, reason::miss_evicted_body};
            record_.why = decision_.why;
            record_.found = observe::looked_up::nothing;
            co_return next::origin;
        }
        case serve_revalidate: {
            refresh_in_background(state_, runtime_, *route_, key(), flight_key(), request_,
                                  upstream_request(request_, t_.peer(), role_, request_id_), chosen_);
            const bool sent = co_await this->serve(chosen_, decision_.why, decision_.age, decision_.ttl);
            if (sent) co_return next::done;
            chosen_.reset();
            decision_ = {cache::reuse_action::fetch, reason::miss_evicted_body};
            record_.why = decision_.why;
            record_.found = observe::looked_up::nothing;
            co_return next::origin;
        }
        case refuse:
            co_await send_local(504, "only-if-cached, and nothing usable is stored\n", reason::only_if_cached);
            co_return next::done;
        case validate:
        case complete:
        case fetch: break;
    }
    co_return next::origin;
}

std::shared_ptr<flight> exchange::join() {
    if (!rules().collapse) {
        alone_ = state_.collapse().not_kept(*join_key_, now_.steady);
        return nullptr;
    }
    collapse_table::joined joined = state_.collapse().join(*join_key_, now_.steady);
    if (!joined.with) {
        alone_ = true;
        not_kept_ = joined.not_kept;
        return nullptr;
    }
    if (joined.leads) {
        lead_ = leadership(state_.collapse(), joined.with);
        // Between our look-up and our taking the lead another flight may have landed.
        const store::found fresh = kept().peek(key(), now_);
        if (fresh.set && fresh.set != found_.set) {
            take(fresh);
            decide();
            if (decision_.what == cache::reuse_action::serve) {
                lead_.finish({outcome::kind::published, chosen_, decision_.why, {}});
            }
        }
        return nullptr;
    }
    return std::move(joined.with);
}

net::task<exchange::next> exchange::follow(std::shared_ptr<flight> with) {
    const std::optional<outcome> result =
        co_await collapse_table::wait(std::move(with), state_.on(), rules().collapse_wait);
    if (!result) {  // waited long enough: ask for ourselves
        alone_ = true;
        co_return next::origin;
    }
    switch (result->how) {
        case outcome::kind::published: {
            // It was for its own target after all; that may be ours.
            if (rule_ && !cache::carries(result->object->response.header, *rule_)) co_return next::again;
            // That fetch may have begun before a purge; we come after it.
            const cache::purged how = purge_of(*result->object).how;
            const bool stands_in = how == cache::purged::soft && result->why == reason::hit_stale_error;
            if (how != cache::purged::no && !stands_in) break;
            const bool sent = co_await serve_collapsed(*result);
            if (sent) co_return next::done;
            alone_ = true;
            co_return next::origin;
        }
        case outcome::kind::not_shareable: alone_ = true; co_return next::origin;
        case outcome::kind::failed:
            record_.collapsed = true;
            co_await failed_at_origin(result->error);
            co_return next::done;
        case outcome::kind::abandoned: break;
    }
    co_return next::again;
}

net::task<bool> exchange::serve_collapsed(const outcome& result) {
    const cache::stored_response* const candidate[] = {&result.object->response};
    if (cache::select_variant(candidate, request_, rules(), crypto::sha256_hex) != 0)
        co_return false;  // another variant (S226)
    record_.collapsed = true;
    const wall_time now = state_.on().now().wall;
    const seconds age = cache::current_age(result.object->response, now);
    const seconds ttl = cache::freshness_lifetime(result.object->response, rules()) - age;
    const bool sent = co_await serve(result.object, reason::collapsed_local, age, ttl);
    co_return sent;
}

// ------------------------------------------------------------------------------------------------ answers of our own

net::task<void> exchange::send_local(int status, std::string_view text, reason why) {
    net::immediate_answer a;
    a.status = status;
    http::response_head head;
    head.status = status;
    head.header.append(http::field_id::content_type, "text/plain; charset=utf-8");
    head.header.append(http::field_id::cache_control, "no-store");
    if (status == 405) head.header.append(http::field_id::allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    if (status == 503) head.header.append(http::field_id::retry_after, "1");
    complete_response(head, state_.on().now().wall);
    record_.status = status;
    record_.why = why;
    if (route_ != nullptr && route_->cache_status) {
        std::string value;
        observe::append_cache_status(value, record_);
        head.header.append(http::field_id::cache_status, value);
    }
    http::h1::write_response_start(a.dynamic, status, http::status_phrase(status), head.header);
    a.body = text;
    a.how = http::framing::of_length(text.size());
    (void)co_await t_.answer(a);
}

net::task<void> exchange::send_error(error_code ec) {
    record_.error = error_name(ec);
    int status = http_status(ec);
    if (status == 0) {  // the client is gone, or cannot be answered any more
        t_.abort();
        record_.status = 499;
        record_.why = reason::failed;
        co_return;
    }
    // RFC 9111 §5.2.2.2: must-revalidate and nobody to ask is a 504.
    if (chosen_ && error_side(ec) == side::upstream && cache::stale_forbidden(chosen_->response, rules())) status = 504;
    error_text_ = std::string(record_.error) + "\n";
    co_await send_local(status, error_text_, status < 500 ? reason::refused : reason::failed);
}

}  // namespace etagere::exchange
