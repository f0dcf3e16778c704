// The memcached store as a class: what the tiers need besides the contract.
#pragma once

#include "etagere/store/memcached.hpp"

#include "counters.hpp"
#include "entity_guesses.hpp"
#include "journal_keeper.hpp"
#include "lane.hpp"
#include "placement.hpp"
#include "publisher.hpp"

#include <array>
#include <memory>
#include <vector>

namespace etagere::store {

/// Thread-safe. Reads go straight to the lane of their key; writes through the publisher; erases to the lane, where
/// they overtake everything. No call of libmemcached that could wait happens on the caller's thread.
class memcached_store final : public store, private shelf {
public:
    explicit memcached_store(memcached_options options);
    ~memcached_store() override;

    found peek(std::string_view, moment) override { return {}; }
    bool has_remote() const noexcept override { return true; }
    void load(std::string_view key, moment now, found_handler done) override {
        question q{.key = key, .whole = false, .done = std::move(done)};
        load_all(std::span(&q, 1), now);
    }
    void load_all(std::span<question> asked, moment now) override;
    void inspect(std::string_view key, moment now, found_handler done) override { load(key, now, std::move(done)); }
    void load_body(std::string_view key, object_ptr head, moment now, body_handler done) override;
    void put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) override {
        put_then(key, std::move(o), max_variants, now, {});
    }
    void freshen(std::string_view key, object_ptr o, moment now) override {
        freshen_or_restore(key, std::move(o), now, false);
    }
    void keep_forms(std::string_view, const object&, moment) override {}
    void erase(std::string_view key, moment now) override;
    purge_table& purges() noexcept override { return journal_.purges(); }
    void purge(std::span<const cache::purge_target> groups, bool soft, moment now, purge_handler done) override {
        journal_.purge(groups, soft, now.wall, std::move(done));
    }
    totals memory_totals() const override { return {}; }
    store_stats stats() const override;

    // ---- for the tiers

    /// put(); `after` is called when it was written or given up, unless it was dropped at once.
    void put_then(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now,
                  std::move_only_function<void()> after);
    /// freshen(); with `restore` it also puts the response back where the servers have lost it.
    void freshen_or_restore(std::string_view key, object_ptr o, moment now, bool restore);
    /// False while the server of this key is left alone.
    bool available(std::string_view key);

private:
    struct gathering;
    struct both;

    std::string meta_key(std::string_view key) const override;
    std::string entity_key(std::string_view piece) const override;
    lane& lane_of(const std::string& record_key) override;

    epoch& epoch_of(std::string_view key) noexcept;
    /// `guess`: what was asked for together with the meta record; null without.
    result<found> read_meta(std::string_view key, const reply& got, moment now, const both* guess);
    result<found> count_load(steady_time start, result<found> out);
    shared_bytes guessed_body(const both& guess, const record::variant& v);
    /// What has to be asked of servers for it.
    void add_requests(question& q, moment now, std::vector<request_ptr>& to);
    void ask(std::string record_key, request::handler done);
    void ask_for_piece(const std::shared_ptr<gathering>& g, std::uint32_t index);
    void finish(gathering& g);
    void lose(const gathering& g);
    bool freshened_lately(std::string_view key, moment now) noexcept;

    memcached_options options_;
    record::seal seal_;
    std::string prefix_;
    counters counted_;
    std::array<epoch, 1024> epochs_{};
    entity_guesses guesses_;
    std::array<std::atomic<std::uint64_t>, 1024> freshened_{};
    placement placement_;
    watchdog watchdog_;
    std::vector<std::unique_ptr<lane>> lanes_;
    publisher publisher_;
    journal_keeper journal_;
};

}  // namespace etagere::store
