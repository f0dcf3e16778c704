#include "etagere/http/entity_tag.hpp"

#include "etagere/http/lists.hpp"

#include <algorithm>

namespace etagere::http {
namespace {

// etagc of RFC 9110 §8.8.3: any visible octet except the double quote, and obs-text.
bool is_opaque(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) {
        const auto octet = static_cast<unsigned char>(c);
        return octet >= 0x21U && octet != '"' && octet != 0x7FU;
    });
}

// A member of If-None-Match that is no entity-tag, as a consumer sends it that cut the quotes off with [1..-2]:
// abc for "abc", /"abc for W/"abc".
std::optional<entity_tag> parse_cut_tag(std::string_view member) noexcept {
    const bool weak = member.starts_with("/\"");
    if (weak) member.remove_prefix(2);
    if (member.empty() || !is_opaque(member)) return std::nullopt;
    return entity_tag{.weak = weak, .opaque = member};
}

// Cuts one member off `rest`. Commas within a well-formed tag belong to it: unlike a quoted string, an opaque-tag knows
// no backslash, so the tag's own quotes decide and not next_member()'s.
std::optional<std::string_view> next_tag(std::string_view& rest) noexcept {
    for (;;) {
        const auto start = rest.find_first_not_of(" \t,");
        if (start == std::string_view::npos) return std::nullopt;
        rest.remove_prefix(start);
        std::size_t end = 0;
        const std::size_t open = rest.starts_with("W/\"") ? 2 : 0;
        if (rest[open] == '"') {
            const auto close = rest.find('"', open + 1);
            if (close != std::string_view::npos) end = close + 1;
        }
        const auto comma = rest.find(',', end);
        const std::string_view member = rest.substr(0, comma);
        rest.remove_prefix(member.size());
        return trim(member);
    }
}

template <class Equal>
tag_match match(const fields& request, field_id id, const std::optional<entity_tag>& current, tag_reading reading,
                Equal equal) noexcept {
    if (!request.has(id)) return tag_match::absent;
    bool star = false;
    bool tags = false;
    bool matches = false;
    for (const fields::entry f : request) {
        if (f.id != id) continue;
        std::string_view rest = f.value;
        while (const auto member = next_tag(rest)) {
            if (*member == "*") {
                star = true;
                continue;
            }
            tags = true;
            if (matches || !current) continue;
            auto tag = parse_entity_tag(*member);
            if (!tag && reading == tag_reading::lenient) tag = parse_cut_tag(*member);
            matches = tag && equal(*tag, *current);
        }
    }
    if (star && !tags) return tag_match::any;  // "*" stands alone; inside a list it is no tag and says nothing
    return matches ? tag_match::matches : tag_match::differs;
}

}  // namespace

std::string entity_tag::to_string() const {
    std::string out;
    out.reserve(opaque.size() + 4);
    out.append(weak ? "W/\"" : "\"").append(opaque).append("\"");
    return out;
}

std::optional<entity_tag> parse_entity_tag(std::string_view value) noexcept {
    value = trim(value);
    const bool weak = value.starts_with("W/");  // case-sensitive
    if (weak) value.remove_prefix(2);
    if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
    const std::string_view opaque = value.substr(1, value.size() - 2);
    if (!is_opaque(opaque)) return std::nullopt;
    return entity_tag{.weak = weak, .opaque = opaque};
}

bool strong_equal(const entity_tag& a, const entity_tag& b) noexcept {
    return !a.weak && !b.weak && a.opaque == b.opaque;
}

bool weak_equal(const entity_tag& a, const entity_tag& b) noexcept {
    return a.opaque == b.opaque;
}

tag_match match_if_none_match(const fields& request, const std::optional<entity_tag>& current,
                              tag_reading reading) noexcept {
    return match(request, field_id::if_none_match, current, reading, weak_equal);
}

tag_match match_if_match(const fields& request, const std::optional<entity_tag>& current) noexcept {
    return match(request, field_id::if_match, current, tag_reading::strict, strong_equal);
}

}  // namespace etagere::http
