#include "etagere/http/authority.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace etagere::http {
namespace {

constexpr std::size_t max_host = 255;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

enum class octet : std::uint8_t { forbidden, of_label, dot };

constexpr std::array<octet, 256> name_octets = [] {
    std::array<octet, 256> table{};
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = octet::of_label;
    for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = octet::of_label;
    table['-'] = table['_'] = table['~'] = octet::of_label;
    table['.'] = octet::dot;
    return table;
}();

// Letters, digits and -._~ of RFC 3986's unreserved, in labels that are not empty; one dot at the end is allowed.
bool is_name(std::string_view text) noexcept {
    octet before = octet::dot;
    for (const char c : text) {
        const octet now = name_octets[static_cast<unsigned char>(c)];
        if (now == octet::forbidden || (now == octet::dot && before == octet::dot)) return false;
        before = now;
    }
    return !text.empty();
}

bool is_ipv4(std::string_view text) noexcept {
    for (int part = 0; part < 4; ++part) {
        std::size_t n = 0;
        int value = 0;
        while (n < text.size() && n < 4 && is_digit(text[n])) value = value * 10 + (text[n++] - '0');
        if (n == 0 || value > 255 || (n > 1 && text[0] == '0')) return false;
        text.remove_prefix(n);
        if (part == 3) break;
        if (!text.starts_with('.')) return false;
        text.remove_prefix(1);
    }
    return text.empty();
}

// IPv6address of RFC 3986 §3.2.2: eight groups of one to four hex digits, one "::" for a run of zeros, the last two
// groups also as an IPv4 address.
bool is_ipv6(std::string_view text) noexcept {
    int groups = 0;
    bool gap = false;
    if (text.starts_with("::")) {
        gap = true;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        if (text.find(':') == std::string_view::npos && text.find('.') != std::string_view::npos) {
            groups += 2;
            if (!is_ipv4(text)) return false;
            break;
        }
        const auto n = static_cast<std::size_t>(std::ranges::find_if_not(text, is_hex) - text.begin());
        if (n == 0 || n > 4) return false;
        ++groups;
        text.remove_prefix(n);
        if (text.empty()) break;
        if (text.starts_with("::")) {
            if (gap) return false;
            gap = true;
            text.remove_prefix(2);
        } else if (text.starts_with(':') && text.size() > 1) {
            text.remove_prefix(1);
        } else {
            return false;
        }
    }
    return gap ? groups < 8 : groups == 8;
}

// False where it is no port. "" leaves `port` alone: RFC 3986 §3.2.3 allows "host:".
bool read_port(std::string_view text, std::optional<std::uint16_t>& port) noexcept {
    if (text.size() > 5 || !std::ranges::all_of(text, is_digit)) return false;
    if (text.empty()) return true;
    std::uint32_t value = 0;
    for (const char c : text) value = value * 10 + static_cast<std::uint32_t>(c - '0');
    if (value == 0 || value > 0xFFFFU) return false;  // nobody can be reached on port 0, and it stands for "not named"
    port = static_cast<std::uint16_t>(value);
    return true;
}

}  // namespace

std::optional<authority> parse_authority(std::string_view text) noexcept {
    authority found;
    const bool literal = text.starts_with('[');
    const auto host_end = literal ? text.find(']') : text.find(':');
    if (literal && host_end == std::string_view::npos) return std::nullopt;
    found.host = text.substr(0, literal ? host_end + 1 : host_end);
    if (found.host.size() > max_host) return std::nullopt;
    const bool valid = literal ? is_ipv6(found.host.substr(1, found.host.size() - 2)) : is_name(found.host);
    if (!valid) return std::nullopt;

    std::string_view rest = text.substr(found.host.size());
    if (rest.empty()) return found;
    if (rest.front() != ':') return std::nullopt;
    rest.remove_prefix(1);
    if (!read_port(rest, found.port)) return std::nullopt;
    return found;
}

std::uint16_t default_port(std::string_view scheme) noexcept {
    return scheme == "https" || scheme == "wss" ? 443 : 80;
}

}  // namespace etagere::http
