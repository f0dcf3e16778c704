// What other rooms tell the metrics when they are read: plain values, no types of those rooms.
#pragma once

#include "etagere/observe/exposition.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::observe {

struct connection_facts {
    std::string listener;
    std::string protocol;  // "http1", "tunnel": from a closed list
    std::uint64_t open = 0;
};

struct store_facts {
    struct operation {
        std::string_view op, result;
        std::uint64_t count = 0;
    };
    struct duration {
        std::string_view op;
        histogram_values values;
    };
    struct server {
        std::string name;
        bool breaker_open = false;
        std::uint64_t breaker_openings = 0, queue_depth = 0, reconnects = 0, erases_owed = 0, erases_lost = 0;
    };
    std::string name;
    std::uint64_t bytes = 0, entries = 0, evictions = 0;  // of the memory level
    std::vector<operation> operations;
    std::vector<duration> durations;
    std::vector<server> servers;
    std::uint64_t corrupt = 0, other_version = 0, lost_bodies = 0;  // records that were misses for that reason
    std::uint64_t dropped_writes = 0, deduplicated = 0, pending_writes = 0, pending_purges = 0;
};

struct upstream_facts {
    std::string name;
    std::uint64_t active = 0, idle = 0, queued = 0;
    std::uint64_t queue_rejected = 0, retries = 0, connects = 0, connect_failures = 0;
};

/// Called by metrics::render(), on the thread that renders. An empty function has nothing to tell.
struct fact_sources {
    std::function<std::vector<connection_facts>()> connections;
    std::function<std::vector<store_facts>()> stores;
    std::function<std::vector<upstream_facts>()> upstreams;
    std::function<std::uint64_t()> log_lines_dropped;
};

void write_connections(exposition& out, const std::vector<connection_facts>& all);
void write_stores(exposition& out, const std::vector<store_facts>& all);
void write_upstreams(exposition& out, const std::vector<upstream_facts>& all);

}  // namespace etagere::observe
