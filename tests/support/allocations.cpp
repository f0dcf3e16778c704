#include "support/allocations.hpp"

#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

thread_local std::size_t count = 0;

void* counted(std::size_t size) noexcept {
    ++count;
    return std::malloc(size == 0 ? 1 : size);
}
void* or_throw(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

}  // namespace

std::size_t etagere::test::allocations() noexcept {
    return count;
}

// The array forms call these. std::stable_sort asks with nothrow, and AddressSanitizer minds who frees what.
void* operator new(std::size_t size) {
    return or_throw(counted(size));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

#if !__has_feature(address_sanitizer)
// Takes the place of the library's; glibc frees what memalign gave.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
    ++count;
    return ::memalign(alignment, size);
}
#endif
