// What a worker of the program has, without its thread: configuration, stores, proxy, metrics and access log.
#pragma once

#include "etagere/exchange/proxy.hpp"
#include "etagere/observe/access_log.hpp"
#include "etagere/observe/log_writer.hpp"
#include "etagere/observe/metrics.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace etagere::bench {

class stage final : private exchange::observer {
public:
    stage();
    ~stage() override;

    net::worker& worker() noexcept { return on_; }
    exchange::proxy& proxy() noexcept { return proxy_; }
    /// Keeps a 200 with this body as the answer to that request (a whole head).
    store::object_ptr keep(const std::string& request, std::string_view fields, std::string body);
    /// The key that keep() keeps it under.
    std::string key_of(const std::string& request);
    store::store& store() noexcept { return *state_.current()->stores.front(); }
    std::uint64_t observed() const noexcept { return observed_; }

private:
    void began(std::uint32_t listener) override { counters_.in_flight(listener, 1); }
    void observe(const observe::record& r) override;
    void refreshed(std::uint32_t, refresh) override {}
    void audited(std::uint32_t, audit) override {}
    void purged(observe::purge_kind, bool, std::size_t) override {}

    observe::metrics metrics_;
    observe::worker_counters& counters_;
    observe::log_writer writer_;
    observe::access_log access_;
    net::worker on_{0};
    exchange::collapse_table collapse_;
    exchange::worker_state state_;
    exchange::proxy proxy_;
    std::uint64_t observed_ = 0;
};

}  // namespace etagere::bench
