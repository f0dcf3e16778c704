// Counts what is allocated: compile tests/support/allocations.cpp in, which replaces operator new for the whole binary.
// Not under ThreadSanitizer, which has an operator new of its own.
#pragma once

#include <cstddef>
#include <utility>

namespace etagere::test {

/// By this thread since it began, with operator new and aligned_alloc (Asio's coroutine frames).
std::size_t allocations() noexcept;

template <class F> std::size_t allocations_of(F&& work) {
    const std::size_t before = allocations();
    std::forward<F>(work)();
    return allocations() - before;
}

}  // namespace etagere::test
