#include "shard.hpp"

#include "cost.hpp"

#include <algorithm>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace etagere::store {

static_assert(XXH3_SECRET_DEFAULT_SIZE == 192);

key_hasher::key_hasher(std::uint64_t seed) {
    XXH3_generateSecret_fromSeed(secret_.data(), seed);
}

std::uint64_t key_hasher::operator()(std::string_view key) const noexcept {
    return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
}

shard::shard(const key_hasher& hasher, std::size_t budget)
    : table_(0, table_hash{&hasher}, table_equal{}), budget_(budget) {}

shard::entry* shard::find(const hashed_key& key) {
    const auto at = table_.find(key);
    return at == table_.end() ? nullptr : &at->second;
}

std::size_t shard::entry_cost(std::string_view key, const variant_set& set) {
    // A node of the table: next, hash, key, entry.
    constexpr std::size_t node = 2 * sizeof(void*) + sizeof(table::value_type);
    constexpr std::size_t inline_capacity = 15;
    return block_cost(node) + (key.size() <= inline_capacity ? 0 : block_cost(key.size() + 1)) + cost(set);
}

bool shard::keep(const hashed_key& key, std::vector<object_ptr> variants, steady_time trusted_until, leavers& gone) {
    entry* e = find(key);
    if (variants.empty()) {
        if (e != nullptr) remove(*e, gone);
        return true;
    }
    variants.shrink_to_fit();
    auto set = std::make_shared<variant_set>();
    set->variants = std::move(variants);
    const std::size_t needed = entry_cost(key.text, *set);
    if (needed > budget_) {
        if (e != nullptr) remove(*e, gone);
        return false;
    }
    if (e != nullptr) {
        bytes_ -= e->bytes;
        gone.push_back(std::move(e->set));
        e->bytes = 0;
    }
    make_room(needed, e, gone);
    if (e == nullptr) {
        const auto at = table_.try_emplace(std::string(key.text)).first;
        e = &at->second;
        e->key = &at->first;
        link(*e);
    }
    e->first_expiry = std::ranges::min(set->variants, {}, &object::keep_until)->keep_until;
    e->trusted_until = trusted_until;
    e->set = std::move(set);
    e->bytes = needed;
    bytes_ += needed;
    return true;
}

void shard::remove(entry& e, leavers& gone) {
    bytes_ -= e.bytes;
    if (e.set) gone.push_back(std::move(e.set));
    unlink(e);
    table_.erase(table_.find(*e.key));
}

void shard::make_room(std::size_t needed, const entry* spared, leavers& gone) {
    // The walk ends: every step evicts, or clears a flag that nothing sets meanwhile, or passes the one that is spared.
    while (bytes() + needed > budget_ && oldest_ != nullptr && (oldest_ != spared || newest_ != spared)) {
        if (hand_ == nullptr) hand_ = oldest_;
        entry& e = *hand_;
        hand_ = e.newer;
        if (&e == spared || std::exchange(e.used, false)) continue;
        ++evictions_;
        remove(e, gone);
    }
}

void shard::link(entry& e) noexcept {
    e.older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = &e;
    newest_ = &e;
}

void shard::unlink(entry& e) noexcept {
    if (hand_ == &e) hand_ = e.newer;
    (e.newer != nullptr ? e.newer->older : newest_) = e.older;
    (e.older != nullptr ? e.older->newer : oldest_) = e.newer;
}

}  // namespace etagere::store
