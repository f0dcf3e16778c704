#include "stores.hpp"

#include "etagere/store/memcached.hpp"
#include "etagere/store/memory.hpp"
#include "etagere/store/tiers.hpp"

#include <random>

namespace etagere::app {

namespace {

std::uint64_t secret_seed() {
    std::random_device source;
    return (std::uint64_t{source()} << 32U) | source();
}

observe::histogram_values histogram_of(const store::durations& d) {
    observe::histogram_values v;
    static_assert(sizeof d.buckets == sizeof v.buckets);
    std::ranges::copy(d.buckets, v.buckets.begin());
    v.sum_us = d.nanoseconds / 1000;
    return v;
}

}  // namespace

std::shared_ptr<store::store> make_store(const settings::store& s) {
    store::memory_options m;
    m.size = s.memory.size;
    m.max_object = s.memory.max_object;
    m.hash_seed = secret_seed();
    if (!s.memcached) return store::make_memory_store(m);

    store::memcached_options r;
    for (const settings::memcached_server& server : s.memcached->servers)
        r.servers.push_back({server.host, server.port});
    r.key_prefix = s.memcached->key_prefix;
    r.timeout = s.memcached->timeout;
    r.connect_timeout = s.memcached->connect_timeout;
    r.max_object = s.memcached->max_object;
    r.chunk = s.memcached->chunk;
    r.purge_poll = s.memcached->purge_poll;
    r.sign_key = s.memcached->sign_key;
    if (s.memory.size == 0) return store::make_memcached_store(r);
    const auto on_failure = s.memcached->on_failure == settings::store_failure::memory_only
                                ? store::store_failure::memory_only
                                : store::store_failure::bypass;
    return store::make_tiered_store({m, std::move(r), s.memory.local_ttl, on_failure});
}

observe::store_facts facts_of(const std::string& name, const store::store& s) {
    observe::store_facts out;
    out.name = name;
    const store::store::totals totals = s.memory_totals();
    out.bytes = totals.bytes;
    out.entries = totals.entries;
    out.evictions = totals.evictions;
    const store::store_stats stats = s.stats();
    for (std::size_t op = 0; op < stats.operations.size(); ++op) {
        const auto operation = static_cast<store::operation>(op);
        for (std::size_t r = 0; r < stats.operations[op].size(); ++r) {
            out.operations.push_back(
                {store::name(operation), store::name(static_cast<store::outcome>(r)), stats.operations[op][r]});
        }
        if (stats.times[op].count > 0) out.durations.push_back({store::name(operation), histogram_of(stats.times[op])});
    }
    for (const store::server_stats& server : stats.servers) {
        out.servers.push_back({server.name, server.breaker != store::breaker_state::closed, server.opened,
                               server.queue_depth, server.reconnects, server.owed_erases, server.lost_erases});
    }
    out.corrupt = stats.corrupt;
    out.other_version = stats.other_version;
    out.lost_bodies = stats.lost_bodies;
    out.dropped_writes = stats.dropped_writes;
    out.deduplicated = stats.deduplicated;
    out.pending_writes = stats.pending_writes;
    out.pending_purges = stats.pending_purges;
    return out;
}

}  // namespace etagere::app
