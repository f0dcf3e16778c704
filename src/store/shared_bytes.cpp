#include "etagere/store/shared_bytes.hpp"

#include "memory/cost.hpp"

#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace etagere::store {
namespace {

std::atomic<std::uint64_t> open_files{0};

/// Counts a file, where one more may be.
bool may_open() noexcept {
    constexpr rlim_t share_of_files = 4;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    if (open_files.fetch_add(1, std::memory_order_relaxed) < limit.rlim_cur / share_of_files) return true;
    open_files.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

bool write_all(int file, std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), bytes.size());
        if (n <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

}  // namespace

shared_bytes::file_block* shared_bytes::in_file(std::string_view bytes) {
    if (!may_open()) return nullptr;
    if (const int file = ::memfd_create("etagere-body", MFD_CLOEXEC); file >= 0) {
        // Written, not copied into the mapping: that would fault in page after page.
        void* const at =
            write_all(file, bytes) ? ::mmap(nullptr, bytes.size(), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
        if (at != MAP_FAILED) {
            auto* const made = new file_block;
            made->file = file;
            made->size = bytes.size();
            made->mapped = at;
            return made;
        }
        ::close(file);
    }
    open_files.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
}

void shared_bytes::free(block* b) noexcept {
    if (b->file < 0) {
        b->~block();
        ::operator delete(b);
        return;
    }
    auto* const f = static_cast<file_block*>(b);
    ::munmap(f->mapped, f->size);
    ::close(f->file);
    open_files.fetch_sub(1, std::memory_order_relaxed);
    delete f;
}

std::size_t shared_bytes::memory() const noexcept {
    constexpr std::size_t page = 4096;
    if (block_->file < 0) return block_cost(sizeof(block) + block_->size);
    return block_cost(sizeof(file_block)) + (block_->size + page - 1) / page * page;
}

shared_bytes share(std::string_view bytes) {
    using block = shared_bytes::block;
    if (bytes.size() >= shared_bytes::file_from) {
        if (block* const made = shared_bytes::in_file(bytes)) return shared_bytes(made);
    }
    auto* const made = new (::operator new(sizeof(block) + bytes.size())) block;
    made->size = bytes.size();
    if (!bytes.empty()) std::memcpy(made + 1, bytes.data(), bytes.size());
    return shared_bytes(made);
}

}  // namespace etagere::store
