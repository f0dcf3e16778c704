#include "etagere/observe/metrics.hpp"

#include <algorithm>
#include <utility>

namespace etagere::observe {
namespace {

using kind = exposition::kind;

using worker_list = std::vector<std::unique_ptr<worker_counters>>;

/// Sum over the workers of what `read` finds in the counters of one route.
template <class Read> std::uint64_t sum_route(const worker_list& workers, std::uint32_t route, Read read) {
    std::uint64_t sum = 0;
    for (const auto& w : workers) {
        if (const auto* const r = w->route(route)) sum += read(*r);
    }
    return sum;
}

/// Samples that never counted are left out: a route has far more of them than it uses.
void sample_if_any(exposition& out, exposition::labels l, std::uint64_t value) {
    if (value != 0) out.sample(l, value);
}

}  // namespace

metrics::metrics(unsigned workers, build_info build) : build_(std::move(build)) {
    workers_.reserve(workers);
    for (unsigned i = 0; i < workers; ++i) workers_.push_back(std::make_unique<worker_counters>(names_));
}

void metrics::read_from(fact_sources sources) {
    const std::scoped_lock lock(sources_mutex_);
    sources_ = std::move(sources);
}

void metrics::config_loaded(wall_time at) noexcept {
    loaded_at_ms_.store(at.time_since_epoch().count());
}

void metrics::config_reloaded(bool ok, wall_time at) noexcept {
    (ok ? reloads_ok_ : reloads_failed_).fetch_add(1);
    if (ok) config_loaded(at);
}

std::string metrics::render() const {
    std::string text;
    exposition out(text);
    out.family("etagere_build_info", kind::gauge, "What runs here.");
    out.sample({{"version", build_.version}, {"revision", build_.revision}}, std::uint64_t{1});
    write_requests(out);
    write_histograms(out);
    write_cache(out);
    write_compression(out);
    write_purges(out);
    write_upstream_calls(out);
    write_config(out);

    fact_sources sources;
    {
        const std::scoped_lock lock(sources_mutex_);
        sources = sources_;
    }
    if (sources.connections) write_connections(out, sources.connections());
    if (sources.stores) write_stores(out, sources.stores());
    if (sources.upstreams) write_upstreams(out, sources.upstreams());
    if (sources.log_lines_dropped) {
        out.family("etagere_log_dropped_total", kind::counter, "Log lines lost to a slow or failing output.");
        out.sample({}, sources.log_lines_dropped());
    }
    return text;
}

void metrics::write_requests(exposition& out) const {
    out.family("etagere_http_requests_total", kind::counter, "Requests answered or given up.");
    for (std::uint32_t route = 0; route < names_.routes.size(); ++route) {
        for (std::uint32_t listener = 0; listener < names_.listeners.size(); ++listener) {
            for (std::size_t method = 0; method < method_labels.size(); ++method) {
                for (std::size_t code = 0; code < code_labels.size(); ++code) {
                    const auto n = sum_route(workers_, route, [=](const route_counters& r) {
                        const auto* const requests = r.by_listener.find(listener);
                        return requests == nullptr ? 0 : requests->by_method[method][code].get();
                    });
                    sample_if_any(out,
                                  {{"listener", names_.listeners[listener]},
                                   {"route", names_.routes[route]},
                                   {"method", method_labels[method]},
                                   {"code", code_labels[code]}},
                                  n);
                }
            }
        }
    }
    out.family("etagere_http_requests_in_flight", kind::gauge, "Requests being dealt with.");
    for (std::uint32_t listener = name_table::overflow + 1; listener < names_.listeners.size(); ++listener) {
        std::uint64_t ended = 0;
        std::uint64_t started = 0;
        // Ends before starts: a request that ends between the two reads must not make the gauge negative.
        for (const auto& w : workers_) ended += w->ended(listener);
        for (const auto& w : workers_) started += w->started(listener);
        out.sample({{"listener", names_.listeners[listener]}}, started - std::min(started, ended));
    }
}

void metrics::write_histograms(exposition& out) const {
    const auto write = [&](histogram route_counters::by_class::* which) {
        for (std::uint32_t route = 0; route < names_.routes.size(); ++route) {
            for (std::size_t c = 0; c < class_labels.size(); ++c) {
                histogram_values values;
                for (const auto& w : workers_) {
                    if (const auto* const r = w->route(route)) (r->classes[c].*which).add_to(values);
                }
                if (values.count() == 0) continue;
                out.histogram({{"route", names_.routes[route]}, {"cache", class_labels[c]}}, values);
            }
        }
    };
    out.family("etagere_http_request_duration_seconds", kind::histogram,
               "From the request's head to the answer's end.");
    write(&route_counters::by_class::duration);
    out.family("etagere_http_first_byte_seconds", kind::histogram,
               "From the request's head to the answer's first byte.");
    write(&route_counters::by_class::first_byte);

    out.family("etagere_http_response_bytes_total", kind::counter, "Bytes sent to clients, heads included.");
    for (std::uint32_t route = 0; route < names_.routes.size(); ++route) {
        for (std::size_t c = 0; c < class_labels.size(); ++c) {
            sample_if_any(out, {{"route", names_.routes[route]}, {"cache", class_labels[c]}},
                          sum_route(workers_, route, [=](const auto& r) { return r.classes[c].bytes_out.get(); }));
        }
    }
}

void metrics::write_cache(exposition& out) const {
    const auto routes = names_.routes.size();
    out.family("etagere_cache_decisions_total", kind::counter, "Requests by the reason for what the cache did.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        for (std::size_t why = 0; why < static_cast<std::size_t>(reason::count_); ++why) {
            sample_if_any(out, {{"route", names_.routes[route]}, {"reason", name(static_cast<reason>(why))}},
                          sum_route(workers_, route, [=](const auto& r) { return r.decisions[why].get(); }));
        }
    }
    const auto write = [&](std::uint32_t route, std::string_view label, std::string_view value,
                           counter route_counters::* which) {
        sample_if_any(out, {{"route", names_.routes[route]}, {label, value}},
                      sum_route(workers_, route, [=](const auto& r) { return (r.*which).get(); }));
    };
    out.family("etagere_cache_not_modified_total", kind::counter, "304 answers, to clients and from upstreams.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        write(route, "side", "client", &route_counters::not_modified_client);
        write(route, "side", "upstream", &route_counters::not_modified_upstream);
    }
    out.family("etagere_cache_saved_bytes_total", kind::counter,
               "Content not sent to clients because of a 304, and not fetched from upstreams because it was stored.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        write(route, "side", "client", &route_counters::saved_client_bytes);
        write(route, "side", "upstream", &route_counters::saved_upstream_bytes);
    }
    out.family("etagere_cache_collapsed_requests_total", kind::counter, "Requests answered by another one's fetch.");
    for (std::uint32_t route = 0; route < routes; ++route) write(route, "scope", "local", &route_counters::collapsed);
    out.family("etagere_cache_background_refresh_total", kind::counter,
               "Stale responses asked for again, no client waiting.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        for (std::size_t result = 0; result < refresh_labels.size(); ++result) {
            sample_if_any(out, {{"route", names_.routes[route]}, {"result", refresh_labels[result]}},
                          sum_route(workers_, route, [=](const auto& r) { return r.refreshes[result].get(); }));
        }
    }
    out.family("etagere_etag_audit_total", kind::counter,
               "304s of the origin that a fetch in full has shown to be true, wrong, or needless changes of the tag.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        for (std::size_t result = 0; result < audit_labels.size(); ++result) {
            sample_if_any(out, {{"route", names_.routes[route]}, {"result", audit_labels[result]}},
                          sum_route(workers_, route, [=](const auto& r) { return r.audits[result].get(); }));
        }
    }
}

void metrics::write_compression(exposition& out) const {
    const auto routes = names_.routes.size();
    const auto sum = [&](std::uint32_t route, std::size_t coding, counter route_counters::by_coding::* which) {
        return sum_route(workers_, route, [=](const auto& r) { return (r.codings[coding].*which).get(); });
    };
    out.family("etagere_compression_responses_total", kind::counter, "Answers sent in a content coding of ours.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        for (std::size_t c = 0; c < coding_labels.size(); ++c) {
            sample_if_any(out, {{"route", names_.routes[route]}, {"coding", coding_labels[c]}},
                          sum(route, c, &route_counters::by_coding::responses));
        }
    }
    out.family("etagere_compression_bytes_total", kind::counter,
               "Their content, as the origin sent it and as the client got it.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        for (std::size_t c = 0; c < coding_labels.size(); ++c) {
            const auto write = [&](std::string_view side, counter route_counters::by_coding::* which) {
                sample_if_any(out, {{"route", names_.routes[route]}, {"coding", coding_labels[c]}, {"side", side}},
                              sum(route, c, which));
            };
            write("upstream", &route_counters::by_coding::uncoded_bytes);
            write("client", &route_counters::by_coding::coded_bytes);
        }
    }
    out.family("etagere_compression_encoded_bytes_total", kind::counter,
               "Content that an encoder worked on; the rest was sent in a form made before.");
    for (std::uint32_t route = 0; route < routes; ++route) {
        sample_if_any(out, {{"route", names_.routes[route]}},
                      sum_route(workers_, route, [](const auto& r) { return r.encoded_bytes.get(); }));
    }
}

void metrics::write_purges(exposition& out) const {
    out.family("etagere_cache_purges_total", kind::counter,
               "Generations moved on: purges, not the responses they hit.");
    for (std::size_t what = 0; what < purge_kinds.size(); ++what) {
        for (const bool soft : {false, true}) {
            sample_if_any(out, {{"kind", purge_kinds.at(what)}, {"soft", soft ? "true" : "false"}},
                          purges_.at(what).at(soft ? 1 : 0).load(std::memory_order_relaxed));
        }
    }
}

void metrics::write_upstream_calls(exposition& out) const {
    const auto upstreams = names_.upstreams.size();
    out.family("etagere_upstream_requests_total", kind::counter, "Requests for an upstream; code none: no answer.");
    for (std::uint32_t i = 0; i < upstreams; ++i) {
        for (std::size_t code = 0; code < code_labels.size(); ++code) {
            std::uint64_t n = 0;
            for (const auto& w : workers_) {
                if (const auto* const u = w->upstream(i)) n += u->requests[code].get();
            }
            sample_if_any(out, {{"upstream", names_.upstreams[i]}, {"code", code_labels[code]}}, n);
        }
    }
    out.family("etagere_upstream_duration_seconds", kind::histogram, "Phases of upstream calls.");
    for (std::uint32_t i = 0; i < upstreams; ++i) {
        for (std::size_t p = 0; p < phase_labels.size(); ++p) {
            histogram_values values;
            for (const auto& w : workers_) {
                if (const auto* const u = w->upstream(i)) u->phases[p].add_to(values);
            }
            if (values.count() == 0) continue;
            out.histogram({{"upstream", names_.upstreams[i]}, {"phase", phase_labels[p]}}, values);
        }
    }
}

void metrics::write_config(exposition& out) const {
    out.family("etagere_config_reloads_total", kind::counter, "Reloads of the configuration.");
    out.sample({{"result", "ok"}}, reloads_ok_.load());
    out.sample({{"result", "error"}}, reloads_failed_.load());
    out.family("etagere_config_last_reload_success_timestamp_seconds", kind::gauge,
               "When the configuration in use was read.");
    out.sample({}, static_cast<double>(loaded_at_ms_.load()) / 1e3);
}

}  // namespace etagere::observe
