// Which body was last wanted under a key, so that the next time it can be asked for together with the meta record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace etagere::store {

/// Thread-safe. A wrong or forgotten guess costs a transfer or a round, never an answer: what it names counts only
/// where the meta record names it too.
class entity_guesses {
public:
    /// Larger bodies are asked for when they are known to be wanted: to bring one for nothing costs more than a round.
    static constexpr std::uint64_t largest = std::uint64_t{64} << 10U;

    /// "" where there is none.
    std::string find(std::string_view key) {
        const std::uint64_t hash = hash_of(key);
        const std::lock_guard lock(mutex_);
        const slot& s = slots_[hash % slots_.size()];
        return s.hash == hash ? s.entity : std::string{};
    }
    void learn(std::string_view key, std::string_view entity) {
        const std::uint64_t hash = hash_of(key);
        const std::lock_guard lock(mutex_);
        slot& s = slots_[hash % slots_.size()];
        s.hash = hash;
        s.entity = entity;
    }
    void forget(std::string_view key) {
        const std::uint64_t hash = hash_of(key);
        const std::lock_guard lock(mutex_);
        slot& s = slots_[hash % slots_.size()];
        if (s.hash == hash) s.entity.clear();
    }

private:
    struct slot {
        std::uint64_t hash = 0;
        std::string entity;
    };
    static std::uint64_t hash_of(std::string_view key) noexcept { return std::hash<std::string_view>{}(key); }

    std::mutex mutex_;
    std::array<slot, 4096> slots_;
};

}  // namespace etagere::store
