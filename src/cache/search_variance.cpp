#include "etagere/cache/search_variance.hpp"

#include "etagere/http/structured_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace etagere::cache {
namespace {

namespace structured = http::structured;

constexpr std::string_view field_name = "No-Vary-Search";

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// One octet of application/x-www-form-urlencoded off the front, decoded. -1: a '%' that escapes nothing, or a control,
// at which origins do not agree.
int take_octet(std::string_view& text) noexcept {
    int octet = static_cast<unsigned char>(text.front());
    std::size_t used = 1;
    if (octet == '+') {
        octet = ' ';
    } else if (octet == '%') {
        const int high = text.size() >= 3 ? hex_value(text[1]) : -1;
        const int low = text.size() >= 3 ? hex_value(text[2]) : -1;
        if (high < 0 || low < 0) return -1;
        octet = high * 16 + low;
        used = 3;
    }
    text.remove_prefix(used);
    return octet < 0x20 || octet == 0x7f ? -1 : octet;
}

// Whether everybody decodes it to the same text: UTF-8 (RFC 3629 §4) behind valid escapes.
bool is_clear(std::string_view text) noexcept {
    while (!text.empty()) {
        const int first = take_octet(text);
        if (first < 0) return false;
        if (first < 0x80) continue;
        if (first < 0xc2 || first > 0xf4) return false;
        const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        for (int i = 0; i < more; ++i) {
            const int next = text.empty() ? -1 : take_octet(text);
            const bool second = i == 0;
            const int least = second && first == 0xe0 ? 0xa0 : second && first == 0xf0 ? 0x90 : 0x80;
            const int most = second && first == 0xed ? 0x9f : second && first == 0xf4 ? 0x8f : 0xbf;
            if (next < least || next > most) return false;
        }
    }
    return true;
}

std::string_view name_of(std::string_view parameter) noexcept {
    return parameter.substr(0, parameter.find('='));
}

// < 0, 0, > 0: the decoded name of a clear parameter against octets.
int compare_name(std::string_view encoded, std::string_view name) noexcept {
    while (!encoded.empty() && !name.empty()) {
        const int x = take_octet(encoded);
        const int y = static_cast<unsigned char>(name.front());
        name.remove_prefix(1);
        if (x != y) return x - y;
    }
    if (encoded.empty() && name.empty()) return 0;
    return encoded.empty() ? -1 : 1;
}

char to_lower(int c) noexcept {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// Some origins do not mind the case of a name.
bool same_but_for_case(std::string_view encoded, std::string_view name) noexcept {
    while (!encoded.empty() && !name.empty()) {
        if (to_lower(take_octet(encoded)) != to_lower(static_cast<unsigned char>(name.front()))) return false;
        name.remove_prefix(1);
    }
    return encoded.empty() && name.empty();
}

// Of characters that no framework gives a meaning in a name: Rails and PHP read "id[]" as "id", PHP reads "a.b" as
// "a_b".
bool is_plain_name(std::string_view encoded) noexcept {
    if (encoded.empty()) return false;
    while (!encoded.empty()) {
        const int c = take_octet(encoded);
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!plain) return false;
    }
    return true;
}

bool matters(std::string_view parameter, const search_variance& rule) noexcept {
    const std::string_view name = name_of(parameter);
    if (rule.only_named) {
        return !is_plain_name(name) ||
               std::ranges::any_of(rule.names, [name](std::string_view kept) { return same_but_for_case(name, kept); });
    }
    return std::ranges::none_of(rule.names,
                                [name](std::string_view dropped) { return compare_name(name, dropped) == 0; });
}

// By decoded name up to a '[': "a[x]=1&a[y]=2" fills one structure, whose order an origin may see.
bool name_less(std::string_view a, std::string_view b) noexcept {
    a = name_of(a);
    b = name_of(b);
    while (!a.empty() && !b.empty()) {
        const int x = take_octet(a);
        const int y = take_octet(b);
        if (x == '[' || y == '[') return x == '[' && y != '[';
        if (x != y) return x < y;
    }
    return a.empty() && !b.empty() && take_octet(b) != '[';
}

// ---------------------------------------------------------------- the rule

// The draft's "parse a key". A name that is not clear cannot be compared with what origins read.
bool add_names(search_variance& out, const structured::inner_list& list) {
    bool ok = true;
    list.for_each([&](const structured::item& i) {
        const std::string encoded = i.value.decoded();
        ok = ok && i.value.is(structured::kind::string) && is_clear(encoded);
        if (!ok) return;
        std::string name;
        for (std::string_view rest = encoded; !rest.empty();) name += static_cast<char>(take_octet(rest));
        out.names.push_back(std::move(name));
    });
    std::ranges::sort(out.names);
    const auto twice = std::ranges::unique(out.names);
    out.names.erase(twice.begin(), twice.end());
    return ok;
}

bool is_boolean(const structured::member& m) noexcept {
    return !m.is_inner_list && m.value.is(structured::kind::boolean);
}

bool has_effect(const search_variance& v) noexcept {
    return v.any_order || v.only_named || !v.names.empty();
}

}  // namespace

std::optional<search_variance> find_search_variance(const http::fields& response) {
    auto text = response.combined(field_name);
    if (!text) return std::nullopt;
    const auto field = structured::parse_dictionary(*text);
    if (!field) return std::nullopt;
    search_variance out;
    if (const auto order = field->find("key-order")) {
        if (!is_boolean(*order)) return std::nullopt;
        out.any_order = order->value.is_true();
    }
    const auto params = field->find("params");
    if (params) {
        if (!params->is_inner_list && !is_boolean(*params)) return std::nullopt;
        out.only_named = is_boolean(*params) && params->value.is_true();
        if (params->is_inner_list && !add_names(out, params->items)) return std::nullopt;
    }
    if (const auto except = field->find("except")) {
        if (!out.only_named || !except->is_inner_list || !add_names(out, except->items)) return std::nullopt;
    }
    if (!has_effect(out)) return std::nullopt;
    out.text = std::move(*text);
    return out;
}

bool carries(const http::fields& response, const search_variance& rule) noexcept {
    std::string_view rest = rule.text;
    bool first = true;
    for (const http::fields::entry f : response) {
        if (f.id != http::field_id::other || !http::iequals(f.name, field_name)) continue;
        if (!first) {
            if (!rest.starts_with(", ")) return false;
            rest.remove_prefix(2);
        }
        first = false;
        if (!rest.starts_with(f.value)) return false;
        rest.remove_prefix(f.value.size());
    }
    return !first && rest.empty();
}

// ---------------------------------------------------------------- the target

void append_simplified_target(std::string& out, std::string_view target, const search_variance& rule) {
    const auto question = target.find('?');
    if (question == std::string_view::npos) {
        out += target;
        return;
    }
    // Rack 2 and others separate at ';' too: "utm_x=1;id=2" would hide a parameter in one that is left out.
    constexpr std::size_t most_parameters = 64;
    std::string_view rest = target.substr(question + 1);
    const bool clear = !rest.contains(';') && is_clear(rest) &&
                       static_cast<std::size_t>(std::ranges::count(rest, '&')) < most_parameters;
    if (!clear) {
        out += target;
        return;
    }
    std::array<std::string_view, most_parameters> kept;
    std::size_t count = 0;
    while (!rest.empty()) {
        const std::string_view parameter = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(parameter.size() + 1, rest.size()));
        if (parameter.empty() || !matters(parameter, rule)) continue;
        auto at = kept.begin() + static_cast<std::ptrdiff_t>(count);
        if (rule.any_order) at = std::upper_bound(kept.begin(), at, parameter, name_less);
        std::move_backward(at, kept.begin() + static_cast<std::ptrdiff_t>(count),
                           kept.begin() + static_cast<std::ptrdiff_t>(count + 1));
        *at = parameter;
        ++count;
    }
    out += target.substr(0, question);
    for (std::size_t i = 0; i < count; ++i) {
        out += i == 0 ? '?' : '&';
        out += kept[i];
    }
}

}  // namespace etagere::cache
