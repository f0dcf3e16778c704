// The validator audit: a sampled share of what the origin answered 304 for is fetched in full, to see whether that was
// true. No client waits for it.
#include "etagere/cache/audit.hpp"

#include "etagere/crypto/digest.hpp"
#include "etagere/observe/log.hpp"

#include "exchange.hpp"
#include "keep.hpp"

namespace etagere::exchange {

namespace {

struct audit_job {
    worker_state& state;
    std::shared_ptr<const runtime> config;
    const routing::route& route;
    std::string key;
    http::request_head request;   // as the client sent it: its fields select the variant
    http::request_head upstream;  // as it goes to the origin
    store::object_ptr object;

    route_memory& memory() const noexcept { return config->memories[route.index]; }
    store::store& kept() const noexcept { return *config->stores[route.store]; }
};

void report(const audit_job& job, std::string_view now_body) {
    // Digests, not the URL: it may hold what is nobody's business.
    log::warn("cache", "wrong_304", "the origin answered 304 and has other bytes under the same validator",
              {{"route", job.route.name},
               {"key_sha256", crypto::sha256_hex(job.key)},
               {"etag", job.object->response.etag()},
               {"stored_sha256", crypto::sha256_hex(*job.object->body)},
               {"origin_sha256", crypto::sha256_hex(now_body)}});
}

/// What is stored is proven wrong: the origin's own word takes its place, or nothing does.
void replace(audit_job& job, const http::response_head& head, std::string_view body, moment asked,
             cache::purge_mark known) {
    const wall_time received = job.state.on().now().wall;
    const cache::policy& rules = job.route.policy;
    const cache::storability judged = cache::judge_storability(job.request, head, rules, received);
    if (!judged.store) {
        job.kept().erase(job.key, job.state.on().now());
        return;
    }
    (void)keep(job.state, *job.config, job.route, job.key,
               {&job.request, &head, store::share(body), {}, judged.always_validate, asked, received, known});
}

net::task<void> audit(audit_job& job) {
    if (!job.object->body) {
        auto [whole] = co_await job.state.reads().bodies.ask(job.kept(), job.key, job.object);
        if (!whole) co_return;
        job.object = std::move(*whole);
    }
    cache::strip_conditions(job.upstream.header);
    job.upstream.verb = http::method::get;
    job.upstream.method_name = "GET";
    const moment asked = job.state.on().now();
    const cache::purge_mark known = job.kept().purges().mark();
    const std::shared_ptr<upstream::cluster> cluster = job.state.cluster_for(*job.config, job.route.upstream);
    upstream::call_request rq;
    rq.head = &job.upstream;
    auto call = co_await cluster->send(std::move(rq));
    if (!call) co_return;
    result<std::string> body = co_await read_whole(**call, job.route.policy.max_object);
    if (!body) co_return;

    const http::response_head& head = (*call)->head();
    using enum cache::audit_verdict;
    const std::uint32_t label = job.config->labels[job.route.index];
    switch (cache::judge_audit(job.object->response, *job.object->body, head, *body, job.route.policy)) {
        case true_304: job.state.watch().audited(label, observer::audit::true_304); break;
        case churn: job.state.watch().audited(label, observer::audit::churn); break;
        case wrong_304:
            report(job, *body);
            replace(job, head, *body, asked, known);
            job.state.watch().audited(label, observer::audit::wrong_304);
            break;
        case inconclusive: break;
    }
}

net::task<void> run(std::unique_ptr<audit_job> job) {
    struct ending {
        route_memory& memory;
        ~ending() { memory.end_audit(); }
    } const ends{job->memory()};
    co_await audit(*job);
}

/// An audit must not stand in the way of a request: it takes a connection only where one is free.
bool has_room(const upstream::shared_state& origin, std::uint32_t most) {
    const upstream::totals t = upstream::read_totals(origin);
    return t.queued == 0 && t.active < most;
}

}  // namespace

void audit_in_background(worker_state& state, std::shared_ptr<const runtime> config, const routing::route& route,
                         const std::string& key, const http::request_head& request,
                         const http::request_head& upstream_head, store::object_ptr object) {
    if (route.policy.audit <= 0 || !cache::may_audit(request, object->response)) return;
    route_memory& memory = config->memories[route.index];
    if (!memory.sampled(route.policy.audit)) return;
    if (!has_room(*config->upstreams[route.upstream], config->config.upstreams[route.upstream].pool.max_connections)) {
        return;
    }
    if (!memory.begin_audit()) return;
    auto job = std::make_unique<audit_job>(
        audit_job{state, std::move(config), route, key, request, upstream_head, std::move(object)});
    net::spawn(state.on().executor(), run(std::move(job)));
}

}  // namespace etagere::exchange
