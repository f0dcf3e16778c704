// What things in memory really cost: the budget counts the allocator's blocks, not only the bytes asked for.
#pragma once

#include "etagere/store/store.hpp"

#include <cstddef>
#include <string>

namespace etagere::store {

/// Of one block as glibc's malloc hands it out on 64 bits: a header of 8 bytes, rounded up to 16, at least 32.
constexpr std::size_t block_cost(std::size_t bytes) noexcept {
    if (bytes == 0) return 0;
    constexpr std::size_t header = 8, unit = 16, least = 32;
    const std::size_t block = (bytes + header + unit - 1) / unit * unit;
    return block < least ? least : block;
}

/// What a string has outside itself.
inline std::size_t heap_cost(const std::string& s) noexcept {
    constexpr std::size_t inline_capacity = 15;  // libstdc++
    return s.capacity() <= inline_capacity ? 0 : block_cost(s.capacity() + 1);
}

/// A set with all its objects and bodies.
std::size_t cost(const variant_set& set) noexcept;

}  // namespace etagere::store
