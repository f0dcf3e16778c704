#include "etagere/http/lists.hpp"

#include <algorithm>

namespace etagere::http {
namespace {

// Where the list member at the front of `text` ends: a comma outside quoted strings, or the end.
std::size_t member_end(std::string_view text) noexcept {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted && c == '\\') {
            ++i;  // quoted-pair: the next octet is only itself
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            return i;
        }
    }
    return text.size();
}

}  // namespace

std::optional<std::string_view> next_member(std::string_view& rest) noexcept {
    while (!rest.empty()) {
        const std::size_t end = member_end(rest);
        const std::string_view member = trim(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!member.empty()) return member;
    }
    return std::nullopt;
}

directive split_directive(std::string_view member) noexcept {
    const auto equals = member.find('=');
    if (equals == std::string_view::npos) return {.name = member, .argument = std::nullopt};
    directive found{.name = member.substr(0, equals), .argument = member.substr(equals + 1)};
    std::string_view& argument = *found.argument;
    if (argument.size() >= 2 && argument.front() == '"' && argument.back() == '"') {
        argument = argument.substr(1, argument.size() - 2);
        found.quoted = true;
    }
    return found;
}

std::optional<std::int64_t> parse_delta_seconds(std::string_view text) noexcept {
    constexpr std::int64_t most = std::int64_t{1} << 31;  // RFC 9111 §1.2.2: what overflows counts as 2^31
    if (text.empty()) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        value = std::min(value * 10 + (c - '0'), most);
    }
    return value;
}

}  // namespace etagere::http
