// Everything that /metrics shows. Lives as long as the process; a reload registers its names again and gets the indexes
// they had. Names and labels are those of the README's table; a label value never comes from a request.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/observe/counters.hpp"
#include "etagere/observe/facts.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::observe {

struct build_info {
    std::string version, revision;
};

/// What a generation that moves on belongs to: the `kind` label.
enum class purge_kind : std::uint8_t { url, tag, prefix, route, group };
inline constexpr std::array<std::string_view, 5> purge_kinds{"url", "tag", "prefix", "route", "group"};

/// Thread-safe, but for of(): those counters belong to their worker.
class metrics {
public:
    metrics(unsigned workers, build_info build);

    /// Registers a name, or finds it. To be called for every name of a configuration before the first request is routed
    /// by it. `route` gives record::route_index.
    std::uint32_t route(std::string_view name) { return names_.routes.add(name); }
    std::uint32_t listener(std::string_view name) { return names_.listeners.add(name); }
    void upstream(std::string_view name) { names_.upstreams.add(name); }

    worker_counters& of(unsigned worker) noexcept { return *workers_[worker]; }

    /// Replaces the sources; after a reload, those of the new snapshot.
    void read_from(fact_sources sources);
    /// The configuration was read at the start (not counted) or again (counted).
    void config_loaded(wall_time at) noexcept;
    void config_reloaded(bool ok, wall_time at) noexcept;

    void purged(purge_kind kind, bool soft, std::size_t generations) noexcept {
        purges_.at(static_cast<std::size_t>(kind)).at(soft ? 1 : 0).fetch_add(generations, std::memory_order_relaxed);
    }

    /// Prometheus text format 0.0.4.
    std::string render() const;

private:
    void write_requests(exposition& out) const;
    void write_histograms(exposition& out) const;
    void write_cache(exposition& out) const;
    void write_compression(exposition& out) const;
    void write_purges(exposition& out) const;
    void write_upstream_calls(exposition& out) const;
    void write_config(exposition& out) const;

    const build_info build_;
    metric_names names_;
    std::vector<std::unique_ptr<worker_counters>> workers_;
    std::atomic<std::uint64_t> reloads_ok_{0}, reloads_failed_{0};
    std::array<std::array<std::atomic<std::uint64_t>, 2>, purge_kinds.size()> purges_{};  // [kind][soft]
    std::atomic<std::int64_t> loaded_at_ms_{0};
    mutable std::mutex sources_mutex_;
    fact_sources sources_;
};

}  // namespace etagere::observe
