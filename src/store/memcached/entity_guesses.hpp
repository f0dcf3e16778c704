// Which body was last wanted under a key, so that the next time it can be asked for together with the meta record.
#pragma once

#include "etagere/store/record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace etagere::store {

/// Thread-safe. A wrong or forgotten guess costs a transfer or a round, never an answer: what it names counts only
/// where the meta record names it too. Keeps 65,536 of them in 2.6 MB, and takes that memory piece by piece, as keys
/// come.
class entity_guesses {
public:
    /// Larger bodies are asked for when they are known to be wanted: to bring one for nothing costs more than a round.
    static constexpr std::uint64_t largest = std::uint64_t{64} << 10U;

    std::optional<record::digest> find(std::string_view key) {
        const std::uint64_t hash = hash_of(key);
        const std::lock_guard lock(mutex_);
        const slot* const s = slot_of(hash);
        return s != nullptr ? std::optional(s->entity) : std::nullopt;
    }
    void learn(std::string_view key, const record::digest& entity) {
        const std::uint64_t hash = hash_of(key);
        const std::lock_guard lock(mutex_);
        slot* s = slot_of(hash);
        if (s == nullptr) {
            auto& p = page_of(hash);
            if (!p) p = std::make_unique<page>();
            const std::span<slot> set = set_of(*p, hash);
            const auto free = std::ranges::find(set, 0U, &slot::hash);
            s = free != set.end() ? &*free : &set[next_++ % ways];
        }
        *s = {.hash = hash, .entity = entity};
    }
    void forget(std::string_view key) {
        const std::lock_guard lock(mutex_);
        if (slot* const s = slot_of(hash_of(key))) *s = {};
    }

private:
    struct slot {
        std::uint64_t hash = 0;  // 0: free
        record::digest entity{};
    };
    // A key may lie in each slot of its set, so that it takes five of one set to lose one.
    static constexpr std::size_t ways = 4, sets_a_page = 256, pages = 64;
    using page = std::array<slot, sets_a_page * ways>;

    static std::uint64_t hash_of(std::string_view key) noexcept { return std::hash<std::string_view>{}(key) | 1U; }
    std::unique_ptr<page>& page_of(std::uint64_t hash) noexcept { return pages_[(hash >> 1U) % pages]; }
    static std::span<slot> set_of(page& p, std::uint64_t hash) noexcept {
        return std::span(p).subspan((hash >> 32U) % sets_a_page * ways, ways);
    }
    slot* slot_of(std::uint64_t hash) noexcept {
        page* const p = page_of(hash).get();
        if (p == nullptr) return nullptr;
        const std::span<slot> set = set_of(*p, hash);
        const auto at = std::ranges::find(set, hash, &slot::hash);
        return at != set.end() ? &*at : nullptr;
    }

    std::mutex mutex_;
    std::array<std::unique_ptr<page>, pages> pages_;
    std::size_t next_ = 0;  // which goes where all are taken
};

}  // namespace etagere::store
