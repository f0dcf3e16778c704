#include "shard.hpp"

#include "cost.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace etagere::store {

namespace {

void destroy(table_entry* e) noexcept {
    e->~table_entry();
    ::operator delete(e);
}

}  // namespace

static_assert(XXH3_SECRET_DEFAULT_SIZE == 192);

key_hasher::key_hasher(std::uint64_t seed) {
    XXH3_generateSecret_fromSeed(secret_.data(), seed);
}

std::uint64_t key_hasher::operator()(std::string_view key) const noexcept {
    return XXH3_64bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
}

entry_table::~entry_table() {
    for (table_entry* e : buckets_) {
        while (e != nullptr) {
            table_entry* const next = e->next;
            destroy(e);
            e = next;
        }
    }
}

table_entry* entry_table::find(const hashed_key& key) const noexcept {
    if (buckets_.empty()) return nullptr;
    table_entry* e = buckets_[key.hash & (buckets_.size() - 1)];
    while (e != nullptr && (e->hash != key.hash || e->key() != key.text)) e = e->next;
    return e;
}

table_entry& entry_table::add(const hashed_key& key) {
    if (size_ == buckets_.size()) grow();
    auto* const block = static_cast<char*>(::operator new(entry_bytes(key.text)));
    auto* const e = new (block) table_entry;
    std::memcpy(block + sizeof(table_entry), key.text.data(), key.text.size());
    e->key_size = static_cast<std::uint32_t>(key.text.size());
    e->hash = key.hash;
    table_entry*& bucket = bucket_of(key.hash);
    e->next = bucket;
    bucket = e;
    ++size_;
    return *e;
}

void entry_table::remove(table_entry& e) noexcept {
    table_entry** at = &bucket_of(e.hash);
    while (*at != &e) at = &(*at)->next;
    *at = e.next;
    --size_;
    destroy(&e);
}

void entry_table::grow() {
    constexpr std::size_t fewest = 64;
    std::vector<table_entry*> old(std::max(fewest, buckets_.size() * 2));
    old.swap(buckets_);
    for (table_entry* e : old) {
        while (e != nullptr) {
            table_entry* const next = e->next;
            table_entry*& bucket = bucket_of(e->hash);
            e->next = bucket;
            bucket = e;
            e = next;
        }
    }
}

std::size_t shard::entry_cost(std::string_view key, const variant_set& set) {
    return block_cost(entry_table::entry_bytes(key)) + cost(set);
}

bool shard::keep(const hashed_key& key, std::vector<object_ptr> variants, steady_time trusted_until, leavers& gone) {
    entry* e = find(key);
    if (variants.empty()) {
        if (e != nullptr) remove(*e, gone);
        return true;
    }
    variants.shrink_to_fit();
    variant_set set(std::move(variants));
    const std::size_t needed = entry_cost(key.text, set);
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
        e = &table_.add(key);
        link(*e);
    }
    e->first_expiry = std::ranges::min(set, {}, &object::keep_until)->keep_until;
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
    table_.remove(e);
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
