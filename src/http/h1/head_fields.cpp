#include "head_fields.hpp"

#include "etagere/http/field_policy.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <array>
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

/// One transfer coding that is none of the registered ones (RFC 9112 §7): what those did to the bytes is known, and
/// would have to be undone.
bool is_foreign(std::string_view coding) noexcept {
    constexpr std::array<std::string_view, 7> registered{"chunked", "gzip",       "x-gzip",  "compress",
                                                         "deflate", "x-compress", "identity"};
    return is_token(coding) && std::ranges::none_of(registered, [coding](auto r) { return iequals(coding, r); });
}

void take_options(head_fields& out, std::string_view value) noexcept {
    if (out.connections < out.connection.size()) out.connection[out.connections] = value;
    ++out.connections;
    while (const auto option = next_member(value)) {
        ++out.options;
        if (iequals(*option, "keep-alive")) {
            out.keep_alive = true;
        } else if (iequals(*option, "close")) {
            out.close = true;
        } else if (iequals(*option, "upgrade")) {
            out.upgrade_named = true;
        } else {
            out.others_named = true;
        }
    }
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
            foreign_coding = is_foreign(value);
            break;
        case field_id::connection: take_options(*this, value); break;
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

void head_fields::erase_named(fields& header) const {
    if (!others_named) return;
    for (std::string_view rest : connection) {
        while (const auto option = next_member(rest)) {
            if (find_field_id(*option) == field_id::other) header.erase(*option);
        }
    }
}

std::string_view head_fields::usable_upgrade() const noexcept {
    if (upgrades != 1 || !upgrade_named) return {};
    std::string_view rest = upgrade;
    while (const auto protocol = next_member(rest)) {
        if (iequals(protocol->substr(0, protocol->find('/')), "h2c")) return {};
    }
    return upgrade;
}

}  // namespace etagere::http::h1
