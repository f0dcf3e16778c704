// Asking the origin, and what its answer means for the stored response.
#include "etagere/cache/compression.hpp"
#include "etagere/cache/key.hpp"
#include "etagere/crypto/digest.hpp"

#include "delivery.hpp"
#include "exchange.hpp"
#include "forwarding.hpp"
#include "keep.hpp"
#include "searching.hpp"

namespace etagere::exchange {

namespace {

std::uint64_t us(milliseconds d) noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(d).count());
}

bool is_server_error(int status) noexcept {  // RFC 5861 §4: the errors that stale-if-error speaks of
    return status == 500 || status == 502 || status == 503 || status == 504;
}

}  // namespace

net::task<result<std::unique_ptr<upstream::call>>> exchange::send_upstream(http::request_head& head, bool with_body) {
    const std::shared_ptr<upstream::cluster> cluster = state_.cluster_for(*runtime_, route_->upstream);
    record_.upstream = config().upstreams[route_->upstream].name;
    if (rules().enabled) asked_under_ = kept().purges().mark();
    // What is stored is identity, and what is relayed gets a coding of ours (cache/compression.hpp).
    if (cache::codes_answers(rules())) head.header.set(http::field_id::accept_encoding, "identity");
    upstream::call_request rq;
    rq.head = &head;
    rq.body = with_body ? &t_.body() : nullptr;
    rq.foreign_codings = rules().foreign_codings;
    rq.may_pause = rules().stream;
    rq.on_interim = [this](const http::response_head& interim) -> net::task<void> {
        (void)co_await t_.send_interim(interim);
    };
    return cluster->send(std::move(rq));
}

void exchange::note(const upstream::call& call) {
    const upstream::call_facts& f = call.facts();
    record_.endpoint = f.endpoint;
    record_.upstream_status = call.head().status;
    record_.queue_us = us(f.queued);
    record_.connect_us = us(f.connecting);
    record_.upstream_ttfb_us = us(f.first_byte);
    record_.upstream_us = us(f.queued + f.connecting + f.first_byte);
    record_.retries = f.attempts > 0 ? f.attempts - 1 : 0;
}

http::request_head exchange::origin_request(const cache::tag_offer& offer, bool alone) {
    http::request_head head = upstream_request(request_, t_.peer(), role_, request_id_);
    if (alone && !part_) {
        // RFC 9110 §14.2: a Range that need not be obeyed is as if it were not there.
        head.header.erase(http::field_id::range);
        head.header.erase(http::field_id::if_range);
        cache::add_repaired_tags(head.header, rules());
        return head;
    }
    // The client's conditions, If-Range too, are evaluated here, on what is stored then or comes.
    cache::write_offer(head.header, offer);
    if (decision_.what == cache::reuse_action::complete && chosen_ && !in_full_) {
        cache::add_completion(head.header, chosen_->response);
    }
    if (part_) head.header.append(http::field_id::range, http::to_string(*part_));
    // HEAD fills the cache as GET does. Where there is something to confirm, its own answer can do that.
    if (head.verb == http::method::head && offer.empty()) {
        head.verb = http::method::get;
        head.method_name = "GET";
    }
    return head;
}

net::task<void> exchange::ask_origin() {
    forget_purged();
    for (int attempt = 0; attempt < 2; ++attempt) {
        const cache::tag_offer offer = make_offer();
        const bool validating = !offer.empty();
        const bool completing = decision_.what == cache::reuse_action::complete && chosen_ && !in_full_;
        part_ = part_to_ask_for();
        // Alone means that answers for this key are not kept: then the client's own condition may save the origin a
        // body, and a HEAD need not become a GET.
        const bool whole = validating || completing || !alone_;
        http::request_head head = origin_request(offer, !whole);
        const moment asked = state_.on().now();
        auto call = co_await send_upstream(head, false);
        if (!call) {
            co_await failed_at_origin(call.error());
            co_return;
        }
        note(**call);
        if (validating) {
            const bool done = co_await validated(offer, *call, asked);
            if (done) co_return;
        } else if (completing) {
            const bool done = co_await completed(*call, asked);
            if (done) co_return;
        } else if (is_server_error((*call)->head().status)) {
            const bool served = co_await serve_on_error(cache::origin_failure::error_status);
            if (served) co_return;
        }
        // RFC 9110 §13.1.5: it is a part of something else than the client has, who then wants the whole.
        const bool of_another =
            part_ && !in_full_ && (*call)->head().status == 206 &&
            !cache::if_range_holds(request_.header, cache::validators_of((*call)->head().header, asked.wall));
        if (of_another) in_full_ = true;
        if (in_full_ && attempt == 0) continue;
        const bool without_body = validating && request_.verb == http::method::head;
        delivery d(*this, **call, asked,
                   whole && !without_body ? delivery::keeping::yes : delivery::keeping::unless_head);
        co_await d.run();
        co_return;
    }
    co_await send_error(make_error_code(errc::upstream_bad_response));  // two 304s that name other responses
}

net::task<bool> exchange::validated(const cache::tag_offer& offer, std::unique_ptr<upstream::call>& call,
                                    moment asked) {
    const cache::offer_verdict verdict = judge(offer, call->head());
    switch (verdict.what) {
        case cache::validation::freshened: {
            const bool sent = co_await freshened(call, asked);
            co_return sent;
        }
        case cache::validation::variant: {
            const bool sent = co_await serve_variant(verdict.variant, call, asked);
            co_return sent;
        }
        case cache::validation::client: co_await pass_not_modified(*call, asked); co_return true;
        case cache::validation::unrelated:
            call.reset();
            in_full_ = true;
            co_return false;
        case cache::validation::error: {
            const bool served = co_await serve_on_error(cache::origin_failure::error_status);
            co_return served;
        }
        case cache::validation::changed: break;
    }
    if (request_.verb == http::method::head) {  // RFC 9111 §4.3.5
        if (cache::head_confirms(chosen_->response, call->head())) {
            const bool sent = co_await freshened(call, asked);
            co_return sent;
        }
        // The news has no body: the next GET fetches it.
        if (call->head().status == 200) kept().erase(key(), state_.on().now());
        lead_.finish({});
    }
    if (chosen_) record_.why = reason::revalidated_changed;
    co_return false;
}

/// The origin has confirmed what is stored, by a 304 or by the head of the same: its fields are renewed, and it is
/// sent.
net::task<bool> exchange::freshened(std::unique_ptr<upstream::call>& call, moment asked) {
    const wall_time received = state_.on().now().wall;
    store::object_ptr object = chosen_;
    // A purge in between was for what had been stored: then what is confirmed has to be kept anew.
    if (chosen_->response.known == asked_under_ &&
        cache::says_nothing_new(chosen_->response, call->head(), rules(), received)) {
        call.reset();
        record_.freshened = true;
    } else {
        cache::stored_response fresh = cache::freshen(chosen_->response, call->head(), rules(), asked.wall, received);
        fresh.known = asked_under_;
        cache::collect_tags(fresh, request_, rules());
        call.reset();  // the connection is free for others while this client is served
        const wall_time until = cache::keep_until(fresh, rules());
        object = store::with_bytes_of(store::make_object(std::move(fresh), chosen_->body, until, chosen_->rest->entity),
                                      *chosen_);
        const bool kept_on = purge_of(*object).how == cache::purged::no &&
                             keep_freshened(state_, *runtime_, *route_, key(), chosen_->response, object, asked);
        record_.freshened = kept_on && until > received;  // a 304 may also withdraw the permission to keep it
    }
    record_.why = reason::revalidated;
    // A write ends the flights for its key, not those for parts of it: their followers may have come after it.
    const bool current = !state_.collapse().invalidated_since(key(), asked.steady);
    record_.freshened = record_.freshened && current;
    lead_.finish(current && cache::may_answer_others(object->response, rules())
                     ? outcome{outcome::kind::published, object, reason::revalidated, {}}
                     : outcome{outcome::kind::not_shareable, {}, reason::revalidated, {}});
    const seconds age = cache::current_age(object->response, received);
    const seconds ttl = cache::freshness_lifetime(object->response, rules()) - age;
    const bool sent = co_await serve(object, reason::revalidated, age, ttl);
    if (!sent) {  // still good, says the origin, but its body is gone: a 304 must never become an empty 200 (B98)
        record_.why = reason::miss_evicted_body;
        record_.found = observe::looked_up::nothing;
        record_.freshened = false;
        in_full_ = true;
    } else if (rules().audit > 0) {
        audit_in_background(state_, runtime_, *route_, key(), request_,
                            upstream_request(request_, t_.peer(), role_, request_id_), object);
    }
    co_return sent;
}

net::task<bool> exchange::serve_on_error(cache::origin_failure how) {
    const wall_time now = state_.on().now().wall;
    if (!chosen_ || !cache::may_serve_on_error(chosen_->response, rules(), how, now, purge_)) co_return false;
    if (!plan(*chosen_, request_, rules(), now, {}).usable) co_return false;
    lead_.finish({outcome::kind::published, chosen_, reason::hit_stale_error, {}});
    record_.why = reason::hit_stale_error;
    const seconds age = cache::current_age(chosen_->response, now);
    const bool sent = co_await serve(chosen_, reason::hit_stale_error, age,
                                     cache::freshness_lifetime(chosen_->response, rules()) - age);
    co_return sent;
}

net::task<void> exchange::failed_at_origin(error_code ec) {
    record_.error = error_name(ec);
    const bool stale = co_await serve_on_error(cache::origin_failure::no_answer);
    if (stale) co_return;
    lead_.finish({outcome::kind::failed, {}, reason::failed, ec});
    co_await send_error(ec);
}

// ------------------------------------------------------------------------------------------------ past the cache

net::task<void> exchange::pass() {
    http::request_head head = upstream_request(request_, t_.peer(), role_, request_id_);
    if (record_.why != reason::pass_upgrade) head.upgrade.clear();
    const moment asked = state_.on().now();
    auto call = co_await send_upstream(head, request_.body.has_body());
    if (!call) {
        co_await send_error(call.error());
        co_return;
    }
    note(**call);
    if ((*call)->head().status == 101) {
        co_await switch_protocols(**call);
        co_return;
    }
    invalidate((*call)->head());
    purge_after((*call)->head());
    http::request_head as_get;
    std::string key;
    const routing::route* const kept_by = route_of_later_gets((*call)->head(), as_get, key);
    if (kept_by == nullptr) {
        delivery d(*this, **call, asked, delivery::keeping::no);
        co_await d.run();
        co_return;
    }
    // It invalidated what was there when it was asked, but is itself the news.
    asked_under_ = runtime_->stores[kept_by->store]->purges().mark();
    const moment since{asked.wall, state_.on().steady_now()};
    delivery d(*this, **call, since, delivery::keeping::for_get, {&as_get, kept_by, &key});
    co_await d.run();
}

const routing::route* exchange::route_of_later_gets(const http::response_head& answer, http::request_head& as_get,
                                                    std::string& key) const {
    if (!cache::answers_later_gets(request_, answer, rules(), state_.on().now().wall)) return nullptr;
    as_get = request_;
    as_get.verb = http::method::get;
    as_get.method_name = "GET";
    as_get.body = http::framing::none();
    const routing::table& table = role_ == role::ingress ? runtime_->routes.ingress : runtime_->routes.egress;
    const routing::route* const route = table.match(as_get);
    if (route == nullptr || cache::classify(as_get, route->policy).what != cache::request_class::cacheable) {
        return nullptr;
    }
    cache::make_key(key, route->name, as_get, route->policy, crypto::sha256_hex);
    return route;
}

net::task<void> exchange::switch_protocols(upstream::call& call) {
    // Only now, after the 101, is the connection a tunnel: what a client sent early was never executed as a request.
    std::string early;
    std::shared_ptr<void> released;
    net::stream_socket socket = call.take_socket(early, released);
    http::response_head switching = call.head();
    complete_response(switching, state_.on().now().wall);
    record_.status = 101;
    const milliseconds quiet = config().upstreams[route_->upstream].timeouts.idle;
    co_await t_.tunnel(switching, std::move(socket), std::move(early), quiet);
}

void exchange::invalidate(const http::response_head& answer) {
    std::vector<std::string> targets = cache::invalidated_targets(request_, answer);
    if (targets.empty()) return;
    const routing::table& table = role_ == role::ingress ? runtime_->routes.ingress : runtime_->routes.egress;
    http::request_head as_get = request_;
    as_get.verb = http::method::get;
    as_get.method_name = "GET";
    const moment now = state_.on().now();
    for (std::string& target : targets) {
        as_get.target = std::move(target);
        // The stored answer lies under the route that GETs take, which need not be the route of this request.
        const routing::route* const route = table.match(as_get);
        if (route == nullptr || !route->policy.enabled) continue;
        std::string key;
        cache::make_key(key, route->name, as_get, route->policy, crypto::sha256_hex);
        store::store& from = *runtime_->stores[route->store];
        from.erase(key, now);
        // That was the key of this client; where fields part the key, others have the same URL under theirs.
        const cache::policy& p = route->policy;
        if (!p.key_headers.empty() || !p.key_cookies.empty() || !p.per_credential.empty()) {
            purge_url_of(*runtime_, *route, as_get, now);
            state_.watch().purged(observe::purge_kind::url, false, 1);
        }
        state_.collapse().invalidate(key, now.steady);
        if (const search_rule rule = known_rule(*runtime_->searches, *route, as_get)) {
            make_search_key(key, *route, as_get, *rule);
            runtime_->stores[route->store]->erase(key, now);
            state_.collapse().invalidate(key, now.steady);
            state_.collapse().invalidate(search_flight(key, *rule), now.steady);
        }
        record_.why = reason::invalidated;
    }
}

}  // namespace etagere::exchange
