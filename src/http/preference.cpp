#include "etagere/http/preference.hpp"

#include "etagere/http/fields.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <cstddef>

namespace etagere::http {
std::optional<unsigned> parse_weight(std::string_view text) noexcept {
    if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
    if (text.size() > 1 && text[1] != '.') return std::nullopt;
    unsigned weight = text[0] == '1' ? 1000 : 0;
    unsigned unit = 100;
    for (const char c : text.substr(std::min<std::size_t>(2, text.size()))) {
        if (c < '0' || c > '9') return std::nullopt;
        weight += unit * static_cast<unsigned>(c - '0');
        unit /= 10;
    }
    return weight <= 1000 ? std::optional(weight) : std::nullopt;
}

std::optional<preference> parse_preference(std::string_view member) noexcept {
    const auto semicolon = member.find(';');
    preference p{.name = trim(member.substr(0, semicolon))};
    if (!is_token(p.name)) return std::nullopt;
    if (semicolon == std::string_view::npos) return p;
    std::string_view weight = trim(member.substr(semicolon + 1));
    if (!weight.starts_with("q=") && !weight.starts_with("Q=")) return std::nullopt;
    const auto value = parse_weight(weight.substr(2));
    if (!value) return std::nullopt;
    p.weight = *value;
    return p;
}

}  // namespace etagere::http
