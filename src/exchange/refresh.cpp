// RFC 5861 §3: the client got the stale response at once; this brings the fresh one without a client waiting.
#include "etagere/cache/compression.hpp"
#include "etagere/cache/offer.hpp"
#include "etagere/crypto/digest.hpp"

#include "exchange.hpp"
#include "keep.hpp"

#include <algorithm>

namespace etagere::exchange {

namespace {

struct refresh_job {
    worker_state& state;
    std::shared_ptr<const runtime> config;
    const routing::route& route;
    std::string key;
    http::request_head request;   // as the client sent it: its fields select the variant
    http::request_head upstream;  // as it goes to the origin
    store::object_ptr object;
};

net::task<observer::refresh> refresh(refresh_job& job, leadership& lead) {
    const cache::policy& rules = job.route.policy;
    const cache::stored_response& stored = job.object->response;
    route_memory& memory = job.config->memories[job.route.index];
    const cache::tag_offer offer =
        cache::make_offer(&stored, {}, nullptr, rules, crypto::sha256_hex, memory.form(job.state.on().steady_now()));
    cache::write_offer(job.upstream.header, offer);
    job.upstream.verb = http::method::get;
    job.upstream.method_name = "GET";

    if (cache::codes_answers(rules)) job.upstream.header.set(http::field_id::accept_encoding, "identity");

    const moment asked = job.state.on().now();
    store::store& kept = *job.config->stores[job.route.store];
    const cache::purge_mark known = kept.purges().mark();
    const std::shared_ptr<upstream::cluster> cluster = job.state.cluster_for(*job.config, job.route.upstream);
    upstream::call_request rq;
    rq.head = &job.upstream;
    rq.foreign_codings = rules.foreign_codings;
    auto call = co_await cluster->send(std::move(rq));
    if (!call) {
        lead.finish({outcome::kind::failed, {}, reason::failed, call.error()});
        co_return observer::refresh::failed;
    }
    const wall_time received = job.state.on().now().wall;
    const cache::offer_form form = cache::learn(offer, &stored, (*call)->head());
    if (form != offer.form) memory.learned(form, job.state.on().steady_now());
    const cache::validation verdict =
        offer.empty()
            ? cache::validation::changed
            : cache::judge_offer(offer, &stored, {}, job.request, (*call)->head(), rules, crypto::sha256_hex).what;
    if (verdict == cache::validation::freshened) {
        cache::stored_response fresh = cache::freshen(stored, (*call)->head(), rules, asked.wall, received);
        fresh.known = known;
        cache::collect_tags(fresh, job.request, rules);
        const wall_time until = cache::keep_until(fresh, rules);
        const store::object_ptr object = store::with_bytes_of(
            store::make_object(std::move(fresh), job.object->body, until, job.object->rest->entity), *job.object);
        const cache::purge_state purge =
            kept.purges().judge(*object, job.request, job.route.name, rules, job.state.scratch);
        if (purge.how == cache::purged::no) {
            (void)keep_freshened(job.state, *job.config, job.route, job.key, stored, object, asked);
        }
        if (cache::may_answer_others(object->response, rules)) {
            lead.finish({outcome::kind::published, object, reason::revalidated, {}});
        }
        call->reset();
        audit_in_background(job.state, job.config, job.route, job.key, job.request, job.upstream, object);
        co_return observer::refresh::revalidated;
    }
    const cache::storability judged = cache::judge_storability(job.request, (*call)->head(), rules, received);
    if (verdict != cache::validation::changed || !judged.store) co_return observer::refresh::failed;
    result<std::string> body = co_await read_whole(**call, rules.max_object);
    if (!body) co_return observer::refresh::failed;
    const store::shared_bytes bytes = store::share(*body);
    std::string own_etag;
    if (cache::wants_own_etag(job.request, (*call)->head(), rules) && bytes.size() <= rules.etag_max_body) {
        own_etag = etag_for(*bytes, (*call)->head().header, rules);
    }
    const store::object_ptr object =
        keep(job.state, *job.config, job.route, job.key,
             {&job.request, &(*call)->head(), bytes, own_etag, judged.always_validate, asked, received, known});
    if (object && judged.shareable) lead.finish({outcome::kind::published, object, reason::revalidated_changed, {}});
    co_return observer::refresh::changed;
}

net::task<void> run(std::unique_ptr<refresh_job> job, leadership lead) {
    const observer::refresh how = co_await refresh(*job, lead);
    lead.finish({});
    job->state.watch().refreshed(job->config->labels[job->route.index], how);
}

}  // namespace

net::task<result<std::string>> read_whole(upstream::call& call, std::uint64_t most) {
    std::string body;
    for (;;) {
        const result<std::string_view> piece = co_await call.read();
        if (!piece) co_return std::unexpected(piece.error());
        if (piece->empty()) co_return body;
        if (body.size() + piece->size() > most) co_return fail(errc::store_too_large);
        body += *piece;
    }
}

void refresh_in_background(worker_state& state, std::shared_ptr<const runtime> config, const routing::route& route,
                           const std::string& key, const std::string& flight_key, const http::request_head& request,
                           http::request_head upstream_head, store::object_ptr object) {
    const collapse_table::joined joined = state.collapse().join(flight_key, state.on().steady_now());
    if (!joined.leads) return;  // somebody is at it already
    leadership lead(state.collapse(), joined.with);
    // Or was, on another worker: between our look-up and our taking the lead its flight may have landed.
    const store::found fresh = config->stores[route.store]->peek(key, state.on().now());
    if (fresh.set && std::ranges::find(fresh.set, object) == fresh.set.end()) return;
    auto job = std::make_unique<refresh_job>(
        refresh_job{state, std::move(config), route, key, request, std::move(upstream_head), std::move(object)});
    net::spawn(state.on().executor(), run(std::move(job), std::move(lead)));
}

}  // namespace etagere::exchange
