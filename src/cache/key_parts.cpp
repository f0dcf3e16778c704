// A key taken apart again, for people who ask what it is made of.
#include "etagere/cache/key.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace etagere::cache {
namespace {

/// "3:abc" off the front.
std::optional<std::string> take_part(std::string_view& rest) {
    std::size_t length = 0;
    const auto [end, ec] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (ec != std::errc{} || digits == rest.size() || *end != ':') return std::nullopt;
    if (rest.size() - digits - 1 < length) return std::nullopt;
    std::string text(rest.substr(digits + 1, length));
    rest.remove_prefix(digits + 1 + length);
    return text;
}

std::string_view kind_of(char c) noexcept {
    switch (c) {
        case 'h': return "field";
        case 'c': return "cookie";
        case 'p': return "credential";
        default: return {};
    }
}

}  // namespace

std::optional<std::vector<key_part>> read_key(std::string_view key) {
    std::vector<key_part> parts;
    for (const std::string_view what : {"schema", "route", "scheme", "authority", "target"}) {
        auto text = take_part(key);
        if (!text) return std::nullopt;
        parts.push_back({std::string(what), {}, {std::move(*text)}});
    }
    while (!key.empty()) {
        const std::string_view what = kind_of(key.front());
        if (what.empty()) return std::nullopt;
        key.remove_prefix(1);
        auto name = take_part(key);
        if (!name) return std::nullopt;
        key_part part{std::string(what), std::move(*name), {}};
        while (!key.starts_with('.')) {
            auto value = take_part(key);
            if (!value) return std::nullopt;
            part.values.push_back(std::move(*value));
        }
        key.remove_prefix(1);
        parts.push_back(std::move(part));
    }
    return parts;
}

}  // namespace etagere::cache
