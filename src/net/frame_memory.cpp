#include "etagere/net/frame_memory.hpp"

#include <new>

namespace etagere::net {

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ETAGERE_FRAMES_ARE_WATCHED
#endif
#endif

#ifndef ETAGERE_FRAMES_ARE_WATCHED

constexpr std::size_t step = 64;
constexpr std::size_t classes = 48;                         // larger ones go straight to the heap
constexpr std::size_t most_kept = std::size_t{512} * 1024;  // bytes a thread

struct block {
    block* next;
};

struct kept_blocks {
    std::array<block*, classes> first{};
    std::size_t bytes = 0;
};

constinit thread_local kept_blocks kept;

constexpr std::size_t class_of(std::size_t size) noexcept {
    return (size - 1) / step;
}

/// Frees what its thread keeps, at the thread's end.
struct sweeper {
    ~sweeper() {
        for (block*& first : kept.first) {
            while (first != nullptr) {
                block* const b = first;
                first = b->next;
                ::operator delete(b);
            }
        }
        kept.bytes = most_kept;  // what is given back from here on is not kept
    }
};

#endif

}  // namespace

#ifdef ETAGERE_FRAMES_ARE_WATCHED

// A block that is used again at once would hide from the sanitizers who still uses the old one.
void* take_frame(std::size_t size) {
    return ::operator new(size);
}

void give_frame_back(void* frame, std::size_t) noexcept {
    ::operator delete(frame);
}

#else

void* take_frame(std::size_t size) {
    const std::size_t at = class_of(size);
    if (at >= classes) return ::operator new(size);
    if (block* const b = kept.first[at]; b != nullptr) {
        kept.first[at] = b->next;
        kept.bytes -= (at + 1) * step;
        return b;
    }
    thread_local const sweeper at_the_end;
    (void)&at_the_end;
    return ::operator new((at + 1) * step);
}

void give_frame_back(void* frame, std::size_t size) noexcept {
    const std::size_t at = class_of(size);
    const std::size_t bytes = (at + 1) * step;
    if (at >= classes || kept.bytes + bytes > most_kept) {
        ::operator delete(frame);
        return;
    }
    kept.first[at] = new (frame) block{kept.first[at]};
    kept.bytes += bytes;
}

#endif

}  // namespace etagere::net
