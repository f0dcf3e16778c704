// The memory store in front of the memcached store.
#pragma once

#include "etagere/store/memcached.hpp"
#include "etagere/store/memory.hpp"

#include <cstdint>
#include <memory>

namespace etagere::store {

/// What answers while memcached cannot be asked.
enum class store_failure : std::uint8_t {
    bypass,       // nobody: the store counts as empty and keeps nothing, so that processes cannot diverge
    memory_only,  // what is in memory, however long ago memcached confirmed it
};

struct tier_options {
    memory_options memory;
    memcached_options memcached;
    /// A copy in memory answers that long without memcached being asked: the longest that an erase of another process
    /// goes unnoticed here. 0: memcached is always asked; memory then only saves the way of the bodies.
    milliseconds local_ttl{10'000};
    store_failure on_failure = store_failure::bypass;
};
std::unique_ptr<store> make_tiered_store(const tier_options& options);

}  // namespace etagere::store
