// One shard of the memory store: a hash table, a budget and the order of eviction. Not thread-safe by itself.
//
// Eviction is SIEVE: entries stand in the order they came; a hand walks from the oldest to the newest, spares those
// that were used since it last passed (and forgets that they were), and takes the first that was not. A scan of keys
// that are used once is eaten by the hand while what is used again stays; a hit writes one flag and moves nothing.
#pragma once

#include "etagere/store/store.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace etagere::store {

/// A key with its hash, computed once a call.
struct hashed_key {
    std::string_view text;
    std::uint64_t hash;
};

/// xxh3-64 under a secret.
class key_hasher {
public:
    explicit key_hasher(std::uint64_t seed);
    std::uint64_t operator()(std::string_view key) const noexcept;

private:
    std::array<unsigned char, 192> secret_{};
};

/// What is kept under a key. One block of memory with the octets of its key behind it: a look-up that finds it has read
/// everything that it needs to know the set.
struct table_entry {
    table_entry* next = nullptr;  // of the same bucket
    std::uint64_t hash = 0;
    variant_set set;
    wall_time first_expiry{};     // of the variant that goes first
    steady_time trusted_until{};  // without another level behind: for ever
    table_entry* newer = nullptr;
    table_entry* older = nullptr;
    std::size_t bytes = 0;
    std::uint32_t key_size = 0;
    bool used = false;  // since the hand passed

    std::string_view key() const noexcept { return {reinterpret_cast<const char*>(this + 1), key_size}; }
};

/// The hash table of a shard: chains of entries, which it owns. Doubles when it has as many entries as buckets.
class entry_table {
public:
    entry_table() = default;
    ~entry_table();
    entry_table(const entry_table&) = delete;
    entry_table& operator=(const entry_table&) = delete;

    table_entry* find(const hashed_key& key) const noexcept;
    /// The key must not be there.
    table_entry& add(const hashed_key& key);
    void remove(table_entry& e) noexcept;

    std::size_t size() const noexcept { return size_; }
    /// Of the buckets; the entries are charged by who adds them.
    std::size_t bytes() const noexcept { return buckets_.size() * sizeof(table_entry*); }
    static std::size_t entry_bytes(std::string_view key) noexcept { return sizeof(table_entry) + key.size(); }

private:
    table_entry*& bucket_of(std::uint64_t hash) noexcept { return buckets_[hash & (buckets_.size() - 1)]; }
    void grow();

    std::vector<table_entry*> buckets_;  // a power of two of them, or none
    std::size_t size_ = 0;
};

class shard {
public:
    using entry = table_entry;
    /// Sets that left, to be destroyed after the lock is released: freeing a body may take longer than a lock should.
    using leavers = std::vector<variant_set>;

    explicit shard(std::size_t budget) : budget_(budget) {}

    entry* find(const hashed_key& key) const noexcept { return table_.find(key); }
    /// Makes `set` what is kept under `key`; an empty one removes it. False where it does not fit.
    bool keep(const hashed_key& key, std::vector<object_ptr> variants, steady_time trusted_until, leavers& gone);
    /// Whether keep() of these would fit, if everything else left.
    bool fits(const hashed_key& key, const std::vector<object_ptr>& variants) const {
        return entry_cost(key.text, variant_set{variants}) <= budget_;
    }
    void remove(entry& e, leavers& gone);

    std::size_t bytes() const noexcept { return bytes_ + table_.bytes(); }
    std::size_t entries() const noexcept { return table_.size(); }
    std::uint64_t evictions() const noexcept { return evictions_; }

private:
    static std::size_t entry_cost(std::string_view key, const variant_set& set);
    void make_room(std::size_t needed, const entry* spared, leavers& gone);
    void link(entry& e) noexcept;
    void unlink(entry& e) noexcept;

    entry_table table_;
    std::size_t budget_;
    std::size_t bytes_ = 0;
    std::uint64_t evictions_ = 0;
    entry* newest_ = nullptr;
    entry* oldest_ = nullptr;
    entry* hand_ = nullptr;
};

}  // namespace etagere::store
