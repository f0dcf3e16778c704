// How a new response joins the variants of its key: one rule for every store, so that all levels agree.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/cache/stored_response.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace etagere::store {

/// Two fetches of one resource may end in the other order than they began, here or in another process; the answer that
/// came last wins. One that seems to come from further ahead is a clock that was set back: it must not block the key.
inline constexpr seconds reordering{60};

inline bool outdates(const cache::stored_response& kept, const cache::stored_response& fresh) noexcept {
    return kept.response_time > fresh.response_time && kept.response_time - fresh.response_time <= reordering;
}

/// Position of the variant with equal selecting fields, or the end.
template <class Variant, class ResponseOf>
auto find_variant(std::vector<Variant>& variants, const cache::stored_response& like, ResponseOf response_of) {
    return std::ranges::find_if(variants, [&](const Variant& v) { return response_of(v).selecting == like.selecting; });
}

/// Puts `fresh` in, the newest last; beyond `max_variants` those that came first go. False, and nothing changed, where
/// a later answer is there already.
template <class Variant, class ResponseOf>
bool join(std::vector<Variant>& variants, Variant fresh, std::uint32_t max_variants, ResponseOf response_of) {
    const auto old = find_variant(variants, response_of(fresh), response_of);
    if (old != variants.end()) {
        if (outdates(response_of(*old), response_of(fresh))) return false;
        variants.erase(old);
    }
    variants.push_back(std::move(fresh));
    // `fresh` stays out of it: with a clock that was set back, it would be the one to go.
    while (variants.size() > std::max<std::uint32_t>(max_variants, 1)) {
        variants.erase(std::ranges::min_element(variants.begin(), variants.end() - 1, {},
                                                [&](const Variant& v) { return response_of(v).response_time; }));
    }
    return true;
}

}  // namespace etagere::store
