#include "etagere/exchange/search_rules.hpp"

#include "etagere/base/bytes.hpp"

#include <algorithm>
#include <utility>

namespace etagere::exchange {

std::uint64_t search_rules::hash(std::string_view route, const http::request_head& request) noexcept {
    std::uint64_t h = request.port;
    for (const std::string_view part :
         {route, std::string_view(request.scheme), std::string_view(request.host), request.path()}) {
        const digest128 d = xxh3_128(part);
        h = (h ^ d.low) * 0x9E3779B97F4A7C15U + d.high;
    }
    return h;
}

std::span<search_rules::known_path> search_rules::places(stripe& s, std::uint64_t path) noexcept {
    const std::size_t set = path / stripe_count % (sets / stripe_count);
    return std::span(s.paths).subspan(set * ways, ways);
}

search_rule search_rules::find(std::string_view route, const http::request_head& request) {
    if (!any_.load(std::memory_order_acquire)) return nullptr;
    const std::uint64_t path = hash(route, request);
    stripe& s = stripe_of(path);
    const std::scoped_lock lock(s.mutex);
    if (s.paths.empty()) return nullptr;
    for (known_path& known : places(s, path)) {
        if (known.used == 0 || known.path != path) continue;
        known.used = ++s.clock;
        return known.rule;
    }
    return nullptr;
}

void search_rules::learn(std::string_view route, const http::request_head& request, cache::search_variance rule) {
    const std::uint64_t path = hash(route, request);
    stripe& s = stripe_of(path);
    search_rule forgotten;  // destroyed behind the lock
    const std::scoped_lock lock(s.mutex);
    if (s.paths.empty()) s.paths.resize(sets / stripe_count * ways);
    const auto among = places(s, path);
    auto at = std::ranges::find_if(among, [&](const known_path& k) { return k.used != 0 && k.path == path; });
    if (at == among.end()) at = std::ranges::min_element(among, {}, &known_path::used);
    at->used = ++s.clock;
    if (at->path == path && at->rule && *at->rule == rule) return;
    at->path = path;
    forgotten = std::exchange(at->rule, std::make_shared<const cache::search_variance>(std::move(rule)));
    any_.store(true, std::memory_order_release);
}

}  // namespace etagere::exchange
