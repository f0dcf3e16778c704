#include "etagere/http/field_id.hpp"

#include "etagere/http/fields.hpp"

#include <array>
#include <cstddef>

namespace etagere::http {
namespace {

constexpr std::size_t known = static_cast<std::size_t>(field_id::count_);

// In the order of the enum.
// clang-format off
constexpr std::array<std::string_view, known> names{
    "", "Accept", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Age", "Allow", "Alt-Svc", "Authorization",
    "Cache-Control", "CDN-Cache-Control", "Cache-Status", "Connection", "Content-Encoding", "Content-Length",
    "Content-Location", "Content-Range", "Content-Type", "Cookie", "Date", "ETag", "Expect", "Expires", "Forwarded",
    "Host", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive",
    "Last-Modified", "Link", "Location", "Max-Forwards", "Origin", "Pragma", "Proxy-Authenticate",
    "Proxy-Authentication-Info", "Proxy-Authorization", "Proxy-Connection", "Range", "Retry-After", "Server",
    "Set-Cookie", "TE", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "Via", "Warning", "X-Forwarded-For",
    "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Proto", "X-Request-Id", "X-Real-IP",
    "Sec-WebSocket-Key",
};
// clang-format on

// A hash of length and four characters that keeps all known names apart: the multiplier is searched for at compile
// time, so a new name needs no hand work. `| 0x20` folds the case of letters and keeps '-' apart from them.
constexpr std::size_t table_bits = 9;

constexpr std::uint32_t hash(std::string_view name, std::uint32_t multiplier) noexcept {
    const auto at = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(name[i]) | 0x20U);
    };
    const std::size_t n = name.size();
    const std::uint32_t mixed =
        static_cast<std::uint32_t>(n) ^ at(0) << 5U ^ at(n / 2) << 12U ^ at(n - 1) << 19U ^ at(n * 3 / 4) << 25U;
    return (mixed * multiplier) >> (32U - table_bits);
}

using table = std::array<std::uint8_t, std::size_t{1} << table_bits>;

constexpr bool fill(table& slots, std::uint32_t multiplier) noexcept {
    slots.fill(0);
    for (std::size_t id = 1; id < known; ++id) {
        std::uint8_t& slot = slots[hash(names[id], multiplier)];
        if (slot != 0) return false;
        slot = static_cast<std::uint8_t>(id);
    }
    return true;
}

constexpr std::uint32_t find_multiplier() noexcept {
    table slots{};
    std::uint32_t multiplier = 0x9E3779B1U;
    while (!fill(slots, multiplier)) multiplier = multiplier * 1664525U + 1013904223U | 1U;
    return multiplier;
}

constexpr std::uint32_t multiplier = find_multiplier();
constexpr table slots = [] {
    table filled{};
    fill(filled, multiplier);
    return filled;
}();
constexpr std::size_t longest = [] {
    std::size_t most = 0;
    for (const std::string_view name : names) most = name.size() > most ? name.size() : most;
    return most;
}();

}  // namespace

field_id find_field_id(std::string_view name) noexcept {
    if (name.empty() || name.size() > longest) return field_id::other;
    const std::uint8_t id = slots[hash(name, multiplier)];
    // Most senders write names as the RFCs do.
    return id != 0 && (names[id] == name || iequals(names[id], name)) ? static_cast<field_id>(id) : field_id::other;
}

std::string_view canonical_name(field_id id) noexcept {
    const auto at = static_cast<std::size_t>(id);
    return at < known ? names[at] : std::string_view();
}

}  // namespace etagere::http
