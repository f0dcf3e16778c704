// What origins said about queries, by path: the rule of the last answer with a No-Vary-Search that was kept.
#pragma once

#include "etagere/cache/search_variance.hpp"
#include "etagere/http/message.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace etagere::exchange {

using search_rule = std::shared_ptr<const cache::search_variance>;

/// A hint of where to look, never a permission: whoever finds an answer by a rule checks that the answer carries it. So
/// paths are known by a hash only, and one that collides costs a hit. Thread-safe: short locks. Bounded: of the paths
/// of one set the one that was not used for longest goes. Takes its memory with the first rule.
class search_rules {
public:
    /// Null where none is known. Allocates nothing; while no rule at all is known it reads one atomic.
    search_rule find(std::string_view route, const http::request_head& request);
    void learn(std::string_view route, const http::request_head& request, cache::search_variance rule);

    static constexpr std::size_t sets = 2048;
    static constexpr std::size_t ways = 8;  // paths a set

private:
    struct known_path {
        std::uint64_t path = 0;
        std::uint64_t used = 0;  // 0: a free place
        search_rule rule;
    };
    struct stripe {
        std::mutex mutex;
        std::uint64_t clock = 0;
        std::vector<known_path> paths;
    };
    static constexpr std::size_t stripe_count = 16;

    static std::uint64_t hash(std::string_view route, const http::request_head& request) noexcept;
    stripe& stripe_of(std::uint64_t path) noexcept { return stripes_[path % stripe_count]; }
    /// The places of its set; the stripe is locked and has its memory.
    static std::span<known_path> places(stripe& s, std::uint64_t path) noexcept;

    std::array<stripe, stripe_count> stripes_;
    std::atomic<bool> any_ = false;
};

}  // namespace etagere::exchange
