// List-based fields (RFC 9110 §5.6.1) and directives with arguments (Cache-Control, §5.6.4 quoted strings).
#pragma once

#include "etagere/http/fields.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace etagere::http {

/// Without SP and HTAB at both ends.
constexpr std::string_view trim(std::string_view text) noexcept {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Cuts one list member off the front of `rest`: split at commas outside quoted strings, white space trimmed, empty
/// members skipped. nullopt at the end. An unterminated quoted string runs to the end of the value.
std::optional<std::string_view> next_member(std::string_view& rest) noexcept;

/// Calls `each(member)` for every member of every line of that field, in order; stops where it answers false.
template <class F> bool for_each_member(const fields& in, field_id id, F&& each) {
    if (!in.has(id)) return true;
    for (const fields::entry f : in) {
        if (f.id != id) continue;
        std::string_view rest = f.value;
        while (const auto member = next_member(rest)) {
            if (!each(*member)) return false;
        }
    }
    return true;
}

/// name, or name=token, or name="quoted": argument without quotes, escapes left as they are. `quoted` tells them apart.
struct directive {
    std::string_view name;
    std::optional<std::string_view> argument;
    bool quoted = false;
};
directive split_directive(std::string_view member) noexcept;

/// delta-seconds (RFC 9111 §1.2.2): digits only; what does not fit is 2^31. nullopt for anything else.
std::optional<std::int64_t> parse_delta_seconds(std::string_view text) noexcept;

}  // namespace etagere::http
