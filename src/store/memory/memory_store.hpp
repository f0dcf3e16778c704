// The memory store as a class: what the tiers need besides the contract.
#pragma once

#include "etagere/store/memory.hpp"
#include "etagere/store/purges.hpp"

#include "shard.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace etagere::store {

/// Thread-safe. Keys are spread over shards by their hash; each has a mutex that is held for less than a microsecond on
/// a hit, and never while a body is freed.
class memory_store final : public store {
public:
    /// `trust`: how long an entry answers peek() before another level has to be asked; without: for ever.
    explicit memory_store(const memory_options& options, std::optional<milliseconds> trust = std::nullopt);

    found peek(std::string_view key, moment now) override;
    bool has_remote() const noexcept override { return false; }
    void load(std::string_view key, moment now, found_handler done) override;
    void inspect(std::string_view key, moment now, found_handler done) override;
    void load_body(std::string_view key, object_ptr head, moment now, body_handler done) override;
    void put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) override;
    void freshen(std::string_view key, object_ptr o, moment now) override { freshen_here(key, std::move(o), now); }
    void keep_forms(std::string_view key, const object& with, moment now) override;
    void erase(std::string_view key, moment now) override;
    purge_table& purges() noexcept override { return purges_; }
    void purge(std::span<const cache::purge_target> groups, bool soft, moment now, purge_handler done) override;
    totals memory_totals() const override;
    store_stats stats() const override;

    // ---- for the tiers

    /// What is here, trusted or not, and the number of changes this key's shard has seen.
    struct seen {
        variant_set set;
        std::uint64_t changes = 0;
        bool trusted = false;
    };
    seen look(std::string_view key, moment now);
    /// Takes over what another level said, unless something changed since `changes` was read: a put or an erase of
    /// this process is newer than an answer that was on its way.
    void adopt(std::string_view key, std::vector<object_ptr> variants, std::uint64_t changes, moment now);
    /// Replaces `head` by `whole` where it is still there.
    void attach(std::string_view key, const object& head, object_ptr whole, moment now);
    /// Forgets this one answer, if it is still here and still without its body.
    void drop(std::string_view key, const object& like, moment now);
    /// Whether this body may be kept here.
    bool fits(const object& o) const noexcept;
    /// freshen(), telling whether the variant was there.
    bool freshen_here(std::string_view key, object_ptr o, moment now);

private:
    struct alignas(64) guarded_shard {
        explicit guarded_shard(std::size_t budget) : entries(budget) {}
        mutable std::mutex mutex;
        shard entries;
        std::uint64_t changes = 0;
        store_stats counted;
    };
    struct place {
        hashed_key key;
        guarded_shard& in;
    };
    place find_place(std::string_view key);
    steady_time trusted_until(moment now) const noexcept;
    /// The entry with every variant that is past its time taken out; null where nothing is left.
    static shard::entry* live_entry(place& at, moment now, shard::leavers& gone);
    /// Changes the variants of a key with `edit(std::vector<object_ptr>&) -> bool` (whether to keep the result).
    template <class Edit> bool edit_variants(std::string_view key, moment now, operation what, Edit edit);

    template <class Predicate> void drop_if(std::string_view key, moment now, Predicate predicate);

    memory_options options_;
    std::optional<milliseconds> trust_;
    key_hasher hasher_;
    purge_table purges_{false};
    std::vector<std::unique_ptr<guarded_shard>> shards_;  // a power of two of them
};

}  // namespace etagere::store
