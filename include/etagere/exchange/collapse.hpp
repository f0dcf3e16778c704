// Collapsed forwarding: requests for one key at one time are one upstream request, for misses and for revalidations.
// Also what that needs to remember about keys: which answers were not kept, and when a key was invalidated.
#pragma once

#include "etagere/base/reason.hpp"
#include "etagere/net/worker.hpp"
#include "etagere/store/store.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace etagere::exchange {

/// How a flight ended, as its followers see it.
struct outcome {
    enum class kind : std::uint8_t {
        published,      // `object` is complete and may answer whoever it matches
        not_shareable,  // the answer is for its asker only: everybody asks for himself
        failed,         // the origin did not answer: `error` for everybody (a second herd would not help it)
        abandoned,      // the leader is gone without a result: somebody else should lead
    };
    kind how = kind::abandoned;
    store::object_ptr object;
    reason why = reason::none;
    error_code error;
};

class flight;

/// Shared by all workers. Thread-safe: sharded, short locks, nothing is called while one is held.
class collapse_table {
public:
    collapse_table();
    ~collapse_table();
    collapse_table(const collapse_table&) = delete;
    collapse_table& operator=(const collapse_table&) = delete;

    struct memory {
        steady_time until{};
        reason why = reason::none;
    };
    struct joined {
        std::shared_ptr<flight> with;  // null: go alone, the last answers for this key were not kept
        bool leads = false;
        memory not_kept{};  // of which that is known, where `with` is null
    };
    /// Leads the flight for `key`, or follows the one that is under way, or neither.
    joined join(std::string_view key, steady_time now);
    /// A follower's wait, at most `patience`; nullopt when that is over.
    static net::task<std::optional<outcome>> wait(std::shared_ptr<flight> with, net::worker& on, milliseconds patience);
    /// The leader's result: wakes the followers and ends the flight. Only the first call counts.
    void finish(const std::shared_ptr<flight>& f, outcome result);

    /// Requests for `key` are not collapsed for `how_long` (hit-for-miss: else N clients would wait in line for answers
    /// that are never shared). forget_not_kept() when an answer was kept after all.
    void remember_not_kept(std::string_view key, steady_time now, milliseconds how_long, reason why);
    bool not_kept(std::string_view key, steady_time now) const;
    void forget_not_kept(std::string_view key);

    /// An unsafe request succeeded for `key` (RFC 9111 §4.4): what was asked before `now` is not stored any more,
    /// though it may arrive later.
    void invalidate(std::string_view key, steady_time now);
    bool invalidated_since(std::string_view key, steady_time asked) const;

    /// What is known of a key, for explain: changes nothing.
    struct knowledge {
        reason not_kept = reason::none;  // why the last answer was not kept, as long as that is remembered
        milliseconds remembered_for{0};
        bool in_flight = false;
    };
    knowledge know(std::string_view key, steady_time now) const;

private:
    struct memory_of_key {
        memory not_kept;
        steady_time invalidated_at{};
    };
    struct hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
    };
    template <class T> using by_key = std::unordered_map<std::string, T, hash, std::equal_to<>>;
    struct shard {
        mutable std::mutex mutex;
        by_key<std::shared_ptr<flight>> flights;
        by_key<memory_of_key> remembered;
    };
    static constexpr std::size_t shard_count = 16;
    static constexpr std::size_t most_remembered = 4096;  // a shard; beyond that the stale ones go, then all

    shard& shard_of(std::string_view key) { return shards_[hash{}(key) % shard_count]; }
    const shard& shard_of(std::string_view key) const { return shards_[hash{}(key) % shard_count]; }
    static memory_of_key& remember(shard& s, std::string_view key, steady_time now);

    std::array<shard, shard_count> shards_;
};

/// A leader's duty to tell its followers, whatever happens: destroyed without a result, it says `abandoned`.
class leadership {
public:
    leadership() = default;
    leadership(collapse_table& table, std::shared_ptr<flight> f) : table_(&table), flight_(std::move(f)) {}
    leadership(leadership&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)), flight_(std::move(other.flight_)) {}
    leadership& operator=(leadership&& other) noexcept {
        finish({});
        table_ = std::exchange(other.table_, nullptr);
        flight_ = std::move(other.flight_);
        return *this;
    }
    ~leadership() { finish({}); }

    explicit operator bool() const noexcept { return table_ != nullptr; }
    void finish(outcome result) {
        if (table_ == nullptr) return;
        std::exchange(table_, nullptr)->finish(flight_, std::move(result));
        flight_.reset();
    }

private:
    collapse_table* table_ = nullptr;
    std::shared_ptr<flight> flight_;
};

}  // namespace etagere::exchange
