// One member of a proactive negotiation field: a value with its weight (RFC 9110 §12.4.2).
#pragma once

#include <optional>
#include <string_view>

namespace etagere::http {

/// qvalue in thousandths: "0" or "1" with up to three decimals, never above 1. nullopt for anything else.
std::optional<unsigned> parse_weight(std::string_view text) noexcept;

/// `weight` in thousandths, 0 to 1000: 0 is "not acceptable". `name` is a view into the member.
struct preference {
    std::string_view name;
    unsigned weight = 1000;
};
/// "gzip", "gzip;q=0.5", "*;q=0", "de-CH". nullopt where the value is no token or its weight is no qvalue, and for
/// other parameters.
std::optional<preference> parse_preference(std::string_view member) noexcept;

}  // namespace etagere::http
