// The target as it goes into a key, under a route's query rules. Leaving a parameter out of a key that the origin still
// reads is how caches are poisoned, so a rule applies only where étagère and every common origin read the query alike.
#include "etagere/cache/key.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace etagere::cache {
namespace {

std::string_view name_of(std::string_view parameter) noexcept {
    return parameter.substr(0, parameter.find('='));
}

bool matches(std::string_view name, std::string_view pattern) noexcept {
    if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
    return name == pattern;
}

// Percent-encoded spellings of an ignored name are not ignored: they only cost a hit.
bool is_ignored(std::string_view parameter, const query_rules& rules) noexcept {
    return std::ranges::any_of(rules.ignore,
                               [&](const std::string& pattern) { return matches(name_of(parameter), pattern); });
}

std::string_view next_parameter(std::string_view& rest) noexcept {
    const auto end = rest.find('&');
    const std::string_view parameter = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return parameter;
}

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Takes one octet off the front as an origin decodes it.
unsigned char next_octet(std::string_view& text) noexcept {
    char c = text.front();
    std::size_t used = 1;
    if (c == '+') {
        c = ' ';
    } else if (c == '%' && text.size() >= 3 && hex_value(text[1]) >= 0 && hex_value(text[2]) >= 0) {
        c = static_cast<char>(hex_value(text[1]) * 16 + hex_value(text[2]));
        used = 3;
    }
    text.remove_prefix(used);
    return static_cast<unsigned char>(c);
}

bool name_less(std::string_view a, std::string_view b) noexcept {
    a = name_of(a);
    b = name_of(b);
    while (!a.empty() && !b.empty()) {
        const unsigned char x = next_octet(a);
        const unsigned char y = next_octet(b);
        if (x != y) return x < y;
    }
    return a.empty() && !b.empty();
}

// In place and stable, without memory of its own. Names are compared decoded, and parameters of one name keep their
// order: "a=1&%61=2" and "%61=2&a=1" are two queries, and an origin tells them apart.
template <class It> void sort_by_name(It begin, It end) noexcept {
    for (It next = begin; next != end; ++next)
        std::rotate(std::upper_bound(begin, next, *next, name_less), next, next + 1);
}

}  // namespace

void append_key_target(std::string& out, std::string_view target, const query_rules& rules) {
    const auto question = target.find('?');
    if (question == std::string_view::npos || (!rules.sort && rules.ignore.empty())) {
        out += target;
        return;
    }
    std::string_view rest = target.substr(question + 1);
    // Ruby's Rack 2 and others separate at ';' too: "utm_x=1;id=2" hides a parameter in an ignored one, and sorting
    // would tear such pairs apart. The bytes as they are cannot be wrong.
    constexpr std::size_t most_parameters = 64;
    const bool plain = !rest.contains(';') && static_cast<std::size_t>(std::ranges::count(rest, '&')) < most_parameters;
    if (!plain) {
        out += target;
        return;
    }

    std::array<std::string_view, most_parameters> kept;
    std::size_t count = 0;
    bool more = true;
    while (more) {
        const bool last = !rest.contains('&');
        const std::string_view parameter = next_parameter(rest);
        if (!is_ignored(parameter, rules)) kept[count++] = parameter;
        more = !last;
    }
    const auto end = kept.begin() + static_cast<std::ptrdiff_t>(count);
    if (rules.sort) sort_by_name(kept.begin(), end);
    out += target.substr(0, question);
    char separator = '?';
    for (auto parameter = kept.begin(); parameter != end; ++parameter) {
        out += separator;
        out += *parameter;
        separator = '&';
    }
}

}  // namespace etagere::cache
