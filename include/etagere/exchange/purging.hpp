// From what somebody wants purged to groups in stores: for the admin listener, for purge_on_success and for
// Cache-Group-Invalidation.
#pragma once

#include "etagere/exchange/runtime.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::exchange {

/// Each of these is a generation that moves on.
struct purge_order {
    std::vector<std::string> urls;      // http://host[:port]/path?query, host/path, or /path for every host
    std::vector<std::string> tags;      // of Surrogate-Key, Cache-Groups and the routes' own
    std::vector<std::string> prefixes;  // as urls, of paths; without a query
    std::vector<std::string> routes;    // names
    bool soft = false;                  // what is purged counts as stale, instead of not being there

    bool empty() const noexcept { return urls.empty() && tags.empty() && prefixes.empty() && routes.empty(); }
};

struct purge_plan {
    struct part {
        std::size_t store = 0;  // index in the runtime
        std::vector<cache::purge_target> groups;
    };
    std::vector<part> parts;
    std::array<std::size_t, observe::purge_kinds.size()> generations{};  // by observe::purge_kind
    bool soft = false;

    std::size_t total() const noexcept;
};
/// What is not of the right form is refused, with a sentence; what no route keeps gives no generation.
std::expected<purge_plan, std::string> plan_purge(const runtime& of, const purge_order& order);

/// From here on, in this process. `done` comes once, from any thread: whether every store has it published.
void carry_out(const runtime& in, const purge_plan& plan, moment now, std::function<void(bool published)> done);

}  // namespace etagere::exchange
