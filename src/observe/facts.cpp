#include "etagere/observe/facts.hpp"

#include <algorithm>

namespace etagere::observe {
namespace {

using kind = exposition::kind;

/// A family with one sample for each store or upstream.
template <class Facts>
void write_each(exposition& out, std::string_view name, kind k, std::string_view help, std::string_view label,
                const std::vector<Facts>& all, std::uint64_t Facts::* value) {
    out.family(name, k, help);
    for (const Facts& one : all) out.sample({{label, one.name}}, one.*value);
}

void write_server(exposition& out, std::string_view name, kind k, std::string_view help,
                  const std::vector<store_facts>& all, std::uint64_t store_facts::server::* value) {
    out.family(name, k, help);
    for (const store_facts& store : all) {
        for (const auto& server : store.servers) {
            out.sample({{"store", store.name}, {"server", server.name}}, server.*value);
        }
    }
}

}  // namespace

void write_connections(exposition& out, const std::vector<connection_facts>& all) {
    out.family("etagere_connections", kind::gauge, "Open client connections.");
    for (const auto& one : all) out.sample({{"listener", one.listener}, {"protocol", one.protocol}}, one.open);
}

void write_stores(exposition& out, const std::vector<store_facts>& all) {
    out.family("etagere_store_operations_total", kind::counter, "Operations on a store, by outcome.");
    for (const auto& store : all) {
        for (const auto& one : store.operations) {
            out.sample({{"store", store.name}, {"op", one.op}, {"result", one.result}}, one.count);
        }
    }
    out.family("etagere_store_operation_duration_seconds", kind::histogram,
               "Time an operation on the remote level took.");
    for (const auto& store : all) {
        for (const auto& one : store.durations) out.histogram({{"store", store.name}, {"op", one.op}}, one.values);
    }
    const auto write = [&](std::string_view name, kind k, std::string_view help, std::uint64_t store_facts::* value) {
        write_each(out, name, k, help, "store", all, value);
    };
    write("etagere_store_bytes", kind::gauge, "Bytes that the memory level holds, heads and bodies.",
          &store_facts::bytes);
    write("etagere_store_entries", kind::gauge, "Keys that the memory level holds.", &store_facts::entries);
    write("etagere_store_evictions_total", kind::counter, "Entries that made room for others in memory.",
          &store_facts::evictions);
    write("etagere_store_dropped_writes_total", kind::counter, "Writes given up: full queue or open breaker.",
          &store_facts::dropped_writes);
    write("etagere_store_pending_writes", kind::gauge, "Writes on their way to the remote level.",
          &store_facts::pending_writes);
    write("etagere_store_pending_purges", kind::gauge,
          "Purges that the processes sharing the store are still to be told.", &store_facts::pending_purges);
    write("etagere_store_deduplicated_total", kind::counter, "Bodies not written, equal bytes were there.",
          &store_facts::deduplicated);
    out.family("etagere_store_rejected_records_total", kind::counter, "Records read that were no answer, by cause.");
    for (const auto& store : all) {
        out.sample({{"store", store.name}, {"cause", "corrupt"}}, store.corrupt);
        out.sample({{"store", store.name}, {"cause", "other_version"}}, store.other_version);
        out.sample({{"store", store.name}, {"cause", "lost_body"}}, store.lost_bodies);
    }

    out.family("etagere_store_breaker_open", kind::gauge, "1 while a server is left alone after failures.");
    for (const auto& store : all) {
        for (const auto& server : store.servers) {
            out.sample({{"store", store.name}, {"server", server.name}}, std::uint64_t{server.breaker_open});
        }
    }
    using server = store_facts::server;
    write_server(out, "etagere_store_breaker_openings_total", kind::counter, "Times the breaker opened.", all,
                 &server::breaker_openings);
    write_server(out, "etagere_store_queue_depth", kind::gauge, "Operations waiting for a server.", all,
                 &server::queue_depth);
    write_server(out, "etagere_store_reconnects_total", kind::counter,
                 "Connections closed after a timeout or an answer that was none.", all, &server::reconnects);
    write_server(out, "etagere_store_owed_erases", kind::gauge, "Removals to be made up for when a server is back.",
                 all, &server::erases_owed);
    write_server(out, "etagere_store_lost_erases_total", kind::counter,
                 "Removals given up: those entries live until they expire.", all, &server::erases_lost);
}

void write_upstreams(exposition& out, const std::vector<upstream_facts>& all) {
    out.family("etagere_upstream_connections", kind::gauge, "Connections to an upstream.");
    for (const auto& one : all) {
        out.sample({{"upstream", one.name}, {"state", "active"}}, one.active);
        out.sample({{"upstream", one.name}, {"state", "idle"}}, one.idle);
    }
    write_each(out, "etagere_upstream_queue_depth", kind::gauge, "Requests waiting for a connection.", "upstream", all,
               &upstream_facts::queued);
    write_each(out, "etagere_upstream_queue_rejected_total", kind::counter,
               "Requests refused: queue full, or waited too long.", "upstream", all, &upstream_facts::queue_rejected);
    out.family("etagere_upstream_retries_total", kind::counter, "Requests sent again, by cause.");
    for (const auto& one : all) out.sample({{"upstream", one.name}, {"cause", "connection"}}, one.retries);
    out.family("etagere_upstream_connects_total", kind::counter, "Attempts to connect, by result.");
    for (const auto& one : all) {
        const auto made = one.connects - std::min(one.connects, one.connect_failures);
        out.sample({{"upstream", one.name}, {"result", "ok"}}, made);
        out.sample({{"upstream", one.name}, {"result", "error"}}, one.connect_failures);
    }
}

}  // namespace etagere::observe
