#include "head_fields.hpp"

#include "etagere/http/field_policy.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <limits>

namespace etagere::http::h1 {
namespace {

// 1*DIGIT; what int64 cannot hold is refused, so that no sum of ours ever wraps.
std::optional<std::uint64_t> parse_length(std::string_view text) noexcept {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (most - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    return value;
}

// RFC 9110 §8.6: equal values may be repeated, as lines or as a list; anything else is refused.
void take_length(head_fields& out, std::string_view value) noexcept {
    for (;;) {
        const auto comma = value.find(',');
        const auto length = parse_length(trim(value.substr(0, comma)));
        if (!length || (out.content_length && *out.content_length != *length)) {
            out.bad_length = true;
            return;
        }
        out.content_length = length;
        if (comma == std::string_view::npos) return;
        value.remove_prefix(comma + 1);
    }
}

// Calls each(option) for all members of all Connection lines; true as soon as one call answers true.
template <class Each> bool any_option(const head_fields& in, Each each) {
    for (std::size_t i = 0; i < in.connections; ++i) {
        std::string_view rest = in.connection[i];
        while (const auto option = next_member(rest)) {
            if (each(*option)) return true;
        }
    }
    return false;
}

}  // namespace

bool head_fields::take(field_id id, std::string_view value) noexcept {
    if (!is_codec_owned(id)) return false;
    switch (id) {
        case field_id::host:
            ++hosts;
            host = value;
            break;
        case field_id::content_length: take_length(*this, value); break;
        case field_id::transfer_encoding:
            ++transfer_encodings;
            chunked = iequals(value, "chunked");
            break;
        case field_id::connection:
            if (connections < connection.size()) connection[connections] = value;
            ++connections;
            options += 1 + static_cast<std::size_t>(std::ranges::count(value, ','));
            break;
        case field_id::upgrade:
            ++upgrades;
            upgrade = value;
            break;
        case field_id::expect:
            expects = true;
            expects_only_continue = expects_only_continue && iequals(value, "100-continue");
            break;
        default: break;
    }
    return true;
}

bool head_fields::has_option(std::string_view option) const noexcept {
    return any_option(*this, [&](std::string_view named) { return iequals(named, option); });
}

void head_fields::erase_named(fields& header) const {
    any_option(*this, [&](std::string_view named) {
        if (find_field_id(named) == field_id::other) header.erase(named);
        return false;
    });
}

std::string_view head_fields::usable_upgrade() const noexcept {
    if (upgrades != 1 || !has_option("upgrade")) return {};
    std::string_view rest = upgrade;
    while (const auto protocol = next_member(rest)) {
        if (iequals(protocol->substr(0, protocol->find('/')), "h2c")) return {};
    }
    return upgrade;
}

}  // namespace etagere::http::h1
