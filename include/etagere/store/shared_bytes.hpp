// Immutable bytes that several readers share: a body in memory is sent to many clients without a copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace etagere::store {

/// Holds the bytes of one complete representation, or nothing. Copies share them; they go with the last holder.
/// Thread-safe to read; never written after share(). Two are equal where they share the same bytes.
///
/// Small bytes lie in one block of memory with their count. Large ones lie in a memory file (memfd_create(2)) that is
/// mapped as well: the kernel sends its pages as they are (sendfile(2)), and what leaves the cache goes back to the
/// system whole.
class shared_bytes {
public:
    shared_bytes() noexcept = default;
    shared_bytes(std::nullptr_t) noexcept {}
    shared_bytes(const shared_bytes& o) noexcept : block_(o.block_) {
        if (block_ != nullptr) block_->holders.fetch_add(1, std::memory_order_relaxed);
    }
    shared_bytes(shared_bytes&& o) noexcept : block_(std::exchange(o.block_, nullptr)) {}
    shared_bytes& operator=(shared_bytes o) noexcept {
        std::swap(block_, o.block_);
        return *this;
    }
    ~shared_bytes() {
        if (block_ != nullptr && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) free(block_);
    }

    explicit operator bool() const noexcept { return block_ != nullptr; }
    bool operator==(const shared_bytes&) const noexcept = default;

    // Of something only.
    std::string_view operator*() const noexcept { return {begin(), block_->size}; }
    std::size_t size() const noexcept { return block_->size; }
    /// The memory file that holds them from its first octet on; -1 where there is none.
    int file() const noexcept { return block_->file; }
    /// Memory that they occupy, with what comes with them.
    std::size_t memory() const noexcept;

    /// From so many octets on they go into a file: with 100 KB it pays (ADR 26). A small body would pay for the pages
    /// that a file rounds up to, and for the system calls that make, send and end it.
    static constexpr std::size_t file_from = std::size_t{64} * 1024;

private:
    struct block {
        std::atomic<std::uint32_t> holders{1};
        int file = -1;
        std::size_t size = 0;
        // The octets follow, or file_block's pointer to them.
    };
    struct file_block : block {
        void* mapped = nullptr;
    };
    explicit shared_bytes(block* b) noexcept : block_(b) {}
    const char* begin() const noexcept {
        return block_->file < 0 ? reinterpret_cast<const char*>(block_ + 1)
                                : static_cast<const char*>(static_cast<const file_block*>(block_)->mapped);
    }
    static void free(block* b) noexcept;
    static file_block* in_file(std::string_view bytes);

    friend shared_bytes share(std::string_view bytes);

    block* block_ = nullptr;
};

/// Copies `bytes`. A file is used while those of the process are fewer than a quarter of the descriptors it may have:
/// connections need them more.
shared_bytes share(std::string_view bytes);

}  // namespace etagere::store
