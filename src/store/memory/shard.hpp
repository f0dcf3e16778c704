// One shard of the memory store: a hash table, a budget and the order of eviction. Not thread-safe by itself.
//
// Eviction is SIEVE: entries stand in the order they came; a hand walks from the oldest to the newest, spares those
// that were used since it last passed (and forgets that they were), and takes the first that was not. A scan of keys
// that are used once is eaten by the hand while what is used again stays; a hit writes one flag and moves nothing.
#pragma once

#include "etagere/store/store.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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

class shard {
public:
    struct entry {
        variant_set_ptr set;
        wall_time first_expiry{};     // of the variant that goes first
        steady_time trusted_until{};  // without another level behind: for ever
        const std::string* key = nullptr;
        entry* newer = nullptr;
        entry* older = nullptr;
        std::size_t bytes = 0;
        bool used = false;  // since the hand passed
    };
    /// Sets that left, to be destroyed after the lock is released: freeing a body may take longer than a lock should.
    using leavers = std::vector<variant_set_ptr>;

    shard(const key_hasher& hasher, std::size_t budget);

    entry* find(const hashed_key& key);
    /// Makes `set` what is kept under `key`; an empty one removes it. False where it does not fit.
    bool keep(const hashed_key& key, std::vector<object_ptr> variants, steady_time trusted_until, leavers& gone);
    /// Whether keep() of these would fit, if everything else left.
    bool fits(const hashed_key& key, const std::vector<object_ptr>& variants) const {
        return entry_cost(key.text, variant_set{variants}) <= budget_;
    }
    void remove(entry& e, leavers& gone);

    std::size_t bytes() const noexcept { return bytes_ + table_.bucket_count() * sizeof(void*); }
    std::size_t entries() const noexcept { return table_.size(); }
    std::uint64_t evictions() const noexcept { return evictions_; }

private:
    // The hash of a stored key is kept in its node because these are not noexcept (libstdc++ recomputes cheap ones).
    struct table_hash {
        using is_transparent = void;
        const key_hasher* hasher;
        std::size_t operator()(const std::string& key) const { return (*hasher)(key); }
        std::size_t operator()(const hashed_key& key) const { return key.hash; }
    };
    struct table_equal {
        using is_transparent = void;
        static std::string_view text(const std::string& key) noexcept { return key; }
        static std::string_view text(const hashed_key& key) noexcept { return key.text; }
        template <class A, class B> bool operator()(const A& a, const B& b) const noexcept {
            return text(a) == text(b);
        }
    };
    using table = std::unordered_map<std::string, entry, table_hash, table_equal>;

    static std::size_t entry_cost(std::string_view key, const variant_set& set);
    void make_room(std::size_t needed, const entry* spared, leavers& gone);
    void link(entry& e) noexcept;
    void unlink(entry& e) noexcept;

    table table_;
    std::size_t budget_;
    std::size_t bytes_ = 0;
    std::uint64_t evictions_ = 0;
    entry* newest_ = nullptr;
    entry* oldest_ = nullptr;
    entry* hand_ = nullptr;
};

}  // namespace etagere::store
