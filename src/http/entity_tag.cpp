#include "etagere/http/entity_tag.hpp"

#include "etagere/http/lists.hpp"

#include <algorithm>
#include <array>

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

constexpr std::array<std::string_view, 4> suffix_codings{"gzip", "br", "zstd", "deflate"};
constexpr std::array<std::string_view, 3> suffix_marks{"--", "-", ";"};  // the longer one first

/// `rest` is a mark and a coding.
bool is_coding_suffix(std::string_view rest) noexcept {
    return std::ranges::any_of(suffix_marks, [rest](std::string_view mark) {
        return rest.starts_with(mark) &&
               std::ranges::find(suffix_codings, rest.substr(mark.size())) != suffix_codings.end();
    });
}

bool equal_but_for_suffix(const entity_tag& sent, const entity_tag& current) noexcept {
    return sent.opaque.starts_with(current.opaque) && !current.opaque.empty() &&
           is_coding_suffix(sent.opaque.substr(current.opaque.size()));
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

std::string_view suffix_coding(std::string_view opaque) noexcept {
    for (const std::string_view coding : suffix_codings) {
        if (!opaque.ends_with(coding)) continue;
        const std::string_view before = opaque.substr(0, opaque.size() - coding.size());
        for (const std::string_view mark : suffix_marks) {
            if (before.ends_with(mark) && before.size() > mark.size()) return coding;
        }
    }
    return {};
}

std::string_view without_suffix(std::string_view opaque) noexcept {
    const std::string_view coding = suffix_coding(opaque);
    if (coding.empty()) return opaque;
    opaque.remove_suffix(coding.size());
    for (const std::string_view mark : suffix_marks) {
        if (opaque.ends_with(mark) && opaque.size() > mark.size()) return opaque.substr(0, opaque.size() - mark.size());
    }
    return opaque;
}

// Unlike a quoted string, an opaque-tag knows no backslash, so the tag's own quotes decide and not next_member()'s.
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

tag_match match_if_none_match(const fields& request, const std::optional<entity_tag>& current, tag_reading reading,
                              suffix_reading suffixes) noexcept {
    if (suffixes == suffix_reading::kept) return match(request, field_id::if_none_match, current, reading, weak_equal);
    return match(request, field_id::if_none_match, current, reading, [](const entity_tag& a, const entity_tag& b) {
        return weak_equal(a, b) || equal_but_for_suffix(a, b);
    });
}

tag_match match_if_match(const fields& request, const std::optional<entity_tag>& current) noexcept {
    return match(request, field_id::if_match, current, tag_reading::strict, strong_equal);
}

}  // namespace etagere::http
