// Memory in front of memcached.
#pragma once

#include "etagere/store/tiers.hpp"

#include "memcached/memcached_store.hpp"
#include "memory/memory_store.hpp"

namespace etagere::store {

/// Thread-safe. Memory answers what it trusts; everything else is asked of memcached, and what that says is trusted for
/// `local_ttl` again: bodies that are here already are kept where the meta record still speaks of them.
class tiered_store final : public store {
public:
    explicit tiered_store(const tier_options& options);

    found peek(std::string_view key, moment now) override { return memory_.peek(key, now); }
    bool has_remote() const noexcept override { return true; }
    void load(std::string_view key, moment now, found_handler done) override {
        question q{.key = key, .whole = false, .done = std::move(done)};
        load_all(std::span(&q, 1), now);
    }
    void load_all(std::span<question> asked, moment now) override;
    void inspect(std::string_view key, moment now, found_handler done) override;
    void load_body(std::string_view key, object_ptr head, moment now, body_handler done) override;
    void put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) override;
    void freshen(std::string_view key, object_ptr o, moment now) override;
    void keep_forms(std::string_view key, const object& with, moment now) override {
        memory_.keep_forms(key, with, now);
    }
    void erase(std::string_view key, moment now) override;
    purge_table& purges() noexcept override { return remote_.purges(); }
    void purge(std::span<const cache::purge_target> groups, bool soft, moment now, purge_handler done) override {
        remote_.purge(groups, soft, now, std::move(done));
    }
    totals memory_totals() const override { return memory_.memory_totals(); }
    store_stats stats() const override;

private:
    /// What memcached says, together with what is here; changes neither.
    result<found> combine(result<found> remote, const memory_store::seen& here) const;
    /// combine(), which memory takes over.
    result<found> settle(std::string_view key, result<found> remote, const memory_store::seen& here, moment now);

    store_failure on_failure_;
    memory_store memory_;
    memcached_store remote_;  // last: its completions use memory_, and end before it does
};

}  // namespace etagere::store
