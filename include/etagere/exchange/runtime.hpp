// One configuration, ready to run: what all workers share, as an immutable snapshot that a reload replaces.
#pragma once

#include "etagere/exchange/collapse.hpp"
#include "etagere/exchange/route_memory.hpp"
#include "etagere/exchange/search_rules.hpp"
#include "etagere/exchange/store_reads.hpp"
#include "etagere/net/transaction.hpp"
#include "etagere/observe/metrics.hpp"
#include "etagere/observe/record.hpp"
#include "etagere/routing/table.hpp"
#include "etagere/settings/settings.hpp"
#include "etagere/store/purges.hpp"
#include "etagere/upstream/upstream.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace etagere::exchange {

struct runtime {
    settings::settings config;
    routing::tables routes;
    std::vector<std::shared_ptr<store::store>> stores;                          // by index in config.stores
    std::vector<std::shared_ptr<upstream::shared_state>> upstreams;             // by index in config.upstreams
    std::vector<std::uint32_t> labels;                                          // route index → index of its metrics
    std::shared_ptr<search_rules> searches = std::make_shared<search_rules>();  // like the stores, it outlives a reload
    std::unique_ptr<route_memory[]> memories;  // by route index; what is learned while this runs
};

/// Where finished exchanges are told: metrics and access log. Called on the worker; must not block.
class observer {
public:
    virtual ~observer() = default;
    /// An exchange began on the listener with that label; observe() ends it.
    virtual void began(std::uint32_t listener) = 0;
    virtual void observe(const observe::record& r) = 0;
    enum class refresh : std::uint8_t { revalidated, changed, failed };
    virtual void refreshed(std::uint32_t route, refresh how) = 0;
    enum class audit : std::uint8_t { true_304, wrong_304, churn };
    virtual void audited(std::uint32_t route, audit how) = 0;
    /// So many generations moved on, not by the admin listener.
    virtual void purged(observe::purge_kind kind, bool soft, std::size_t generations) = 0;
};

/// What one worker has of the running configuration. Not thread-safe: belongs to its worker.
class worker_state {
public:
    worker_state(net::worker& on, std::shared_ptr<const runtime> current, collapse_table& collapse, observer& watch);

    net::worker& on() noexcept { return on_; }
    const std::shared_ptr<const runtime>& current() const noexcept { return current_; }
    /// This worker's cluster for an upstream of `of`, which may be a configuration that a reload has replaced
    /// meanwhile.
    std::shared_ptr<upstream::cluster> cluster_for(const runtime& of, std::size_t upstream);
    collapse_table& collapse() noexcept { return collapse_; }
    observer& watch() noexcept { return watch_; }
    store_reads& reads() noexcept { return reads_; }
    /// Requests that are under way finish with what they started with. Upstreams that did not change keep their
    /// connections.
    void adopt(std::shared_ptr<const runtime> next);
    /// Closes idle upstream connections; for shutdown.
    void drain() noexcept;

    /// What try_now() found out of a cacheable request that it hands on. Its key is in `key`. For handle(), which
    /// begins at once, and takes it away.
    struct handed_on {
        const net::transaction* request = nullptr;
        const routing::route* route = nullptr;
        store::found found;     // what memory has under that key
        bool may_load = false;  // nothing; another level may have it, and no other key comes into question
    };
    handed_on looked_at;

    std::string key;                                        // scratch of the hit path: keeps its capacity
    std::string search_key;                                 // likewise
    std::vector<const cache::stored_response*> candidates;  // likewise
    std::string cache_status;                               // likewise
    std::string scratch;                                    // likewise
    std::string new_request_id();

private:
    net::worker& on_;
    std::shared_ptr<const runtime> current_;
    std::vector<std::shared_ptr<upstream::cluster>> clusters_;
    collapse_table& collapse_;
    observer& watch_;
    store_reads reads_;
    std::array<char, 16> id_high_{};  // in hexadecimal
    std::uint64_t id_low_ = 0;
};

}  // namespace etagere::exchange
