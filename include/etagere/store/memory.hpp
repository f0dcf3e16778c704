// The memory store: complete responses in this process, within a budget of bytes.
#pragma once

#include "etagere/store/store.hpp"

#include <cstdint>
#include <memory>

namespace etagere::store {

struct memory_options {
    std::uint64_t size = std::uint64_t{64} << 20U;       // bytes, everything counted; 0 keeps nothing
    std::uint64_t max_object = std::uint64_t{1} << 20U;  // bytes of body; larger ones are not kept
    /// Keys the hash table, so that nobody outside can choose keys that collide. Secret: random per process.
    std::uint64_t hash_seed = 0;
};
std::unique_ptr<store> make_memory_store(const memory_options& options);

}  // namespace etagere::store
