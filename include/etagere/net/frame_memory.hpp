// Memory of coroutine frames and of the operations they wait for: taken and given back many times a request, in sizes
// that come again. A thread keeps what was given back to it for the next of that size.
#pragma once

#include <array>
#include <cstddef>

namespace etagere::net {

/// At least `size` bytes, aligned like those of operator new. Throws std::bad_alloc.
void* take_frame(std::size_t size);
/// On any thread; `size` as it was taken.
void give_frame_back(void* frame, std::size_t size) noexcept;

/// For Asio: the memory of an operation comes from there too.
template <class T> struct frame_allocator {
    using value_type = T;
    frame_allocator() = default;
    template <class U> explicit(false) frame_allocator(const frame_allocator<U>&) noexcept {}
    T* allocate(std::size_t n) { return static_cast<T*>(take_frame(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) noexcept { give_frame_back(p, n * sizeof(T)); }
    template <class U> friend bool operator==(const frame_allocator&, const frame_allocator<U>&) noexcept {
        return true;
    }
};

}  // namespace etagere::net
