// The algorithms of RFC 9651 §4.2, one function each. Each cuts what it reads off the front of `in`, and answers false
// where parsing fails.
#include "etagere/http/structured_fields.hpp"

#include <algorithm>
#include <cstddef>

namespace etagere::http::structured {
namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_lower(char c) noexcept {
    return c >= 'a' && c <= 'z';
}
bool is_alpha(char c) noexcept {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_key_char(char c) noexcept {
    return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
}
bool is_token_char(char c) noexcept {  // tchar, and ":" and "/"
    return is_alpha(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~:/").contains(c);
}
bool is_visible(char c) noexcept {  // what may stand in a string: no control, nothing from 0x7f
    return c >= ' ' && c <= '~';
}

int base64_value(char c) noexcept {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

int lower_hex_value(char c) noexcept {
    if (is_digit(c)) return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool take(std::string_view& in, char c) noexcept {
    if (!in.starts_with(c)) return false;
    in.remove_prefix(1);
    return true;
}

void skip_spaces(std::string_view& in) noexcept {
    in.remove_prefix(std::min(in.find_first_not_of(' '), in.size()));
}

void skip_ows(std::string_view& in) noexcept {
    in.remove_prefix(std::min(in.find_first_not_of(" \t"), in.size()));
}

template <class Pred> std::string_view take_while(std::string_view& in, Pred is_part) noexcept {
    std::size_t n = 0;
    while (n < in.size() && is_part(in[n])) ++n;
    const std::string_view part = in.substr(0, n);
    in.remove_prefix(n);
    return part;
}

// ---------------------------------------------------------------- bare items (§4.2.3.1)

std::int64_t read_digits(std::string_view digits) noexcept {
    std::int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return value;
}

// §4.2.4: 15 digits, or 12 and a fraction of 1 to 3. All of that fits.
bool take_number(std::string_view& in, bare_item& out) noexcept {
    const bool negative = take(in, '-');
    const std::string_view whole = take_while(in, is_digit);
    if (whole.empty() || whole.size() > 15) return false;
    out = {.type = kind::integer, .number = read_digits(whole)};
    if (take(in, '.')) {
        const std::string_view fraction = take_while(in, is_digit);
        if (whole.size() > 12 || fraction.empty() || fraction.size() > 3) return false;
        constexpr std::int64_t unit[] = {1000, 100, 10, 1};
        out.type = kind::decimal;
        out.number = out.number * 1000 + read_digits(fraction) * unit[fraction.size()];
    }
    if (negative) out.number = -out.number;
    return true;
}

// §4.2.5
bool take_string(std::string_view& in, bare_item& out) noexcept {
    in.remove_prefix(1);
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (in[i] == '"') {
            out = {.type = kind::string, .number = 0, .text = in.substr(0, i)};
            in.remove_prefix(i + 1);
            return true;
        }
        if (in[i] == '\\') {
            ++i;
            if (i == in.size() || (in[i] != '"' && in[i] != '\\')) return false;
        }
        if (!is_visible(in[i])) return false;
    }
    return false;
}

// §4.2.6
bool take_token(std::string_view& in, bare_item& out) noexcept {
    out = {.type = kind::token, .number = 0, .text = take_while(in, is_token_char)};
    return true;
}

// §4.2.7: padding may be missing, but not be wrong; bits beyond the last octet do not count.
bool is_base64(std::string_view text) noexcept {
    const std::size_t size = std::min(text.find('='), text.size());
    const std::size_t padding = text.size() - size;
    if (size % 4 == 1 || (padding != 0 && padding != (4 - size % 4) % 4)) return false;
    return std::ranges::all_of(text.substr(0, size), [](char c) { return base64_value(c) >= 0; }) &&
           std::ranges::all_of(text.substr(size), [](char c) { return c == '='; });
}

bool take_bytes(std::string_view& in, bare_item& out) noexcept {
    const auto end = in.find(':', 1);
    if (end == std::string_view::npos || !is_base64(in.substr(1, end - 1))) return false;
    out = {.type = kind::bytes, .number = 0, .text = in.substr(1, end - 1)};
    in.remove_prefix(end + 1);
    return true;
}

// §4.2.8
bool take_boolean(std::string_view& in, bare_item& out) noexcept {
    if (!in.starts_with("?0") && !in.starts_with("?1")) return false;
    out = {.type = kind::boolean, .number = in[1] - '0'};
    in.remove_prefix(2);
    return true;
}

// §4.2.9
bool take_date(std::string_view& in, bare_item& out) noexcept {
    in.remove_prefix(1);
    if (!take_number(in, out) || out.type != kind::integer) return false;
    out.type = kind::date;
    return true;
}

// One octet of a display string, decoded; -1 where it is malformed.
int take_display_octet(std::string_view& text) noexcept {
    const char c = text.front();
    if (!is_visible(c)) return -1;
    if (c != '%') {
        text.remove_prefix(1);
        return c;
    }
    const int high = text.size() >= 3 ? lower_hex_value(text[1]) : -1;
    const int low = text.size() >= 3 ? lower_hex_value(text[2]) : -1;
    if (high < 0 || low < 0) return -1;
    text.remove_prefix(3);
    return high * 16 + low;
}

// One code point of UTF-8 (RFC 3629 §4: no surrogates, nothing overlong, nothing above U+10FFFF) off the front.
bool take_utf8(std::string_view& text) noexcept {
    const int first = take_display_octet(text);
    if (first < 0) return false;
    if (first < 0x80) return true;
    if (first < 0xc2 || first > 0xf4) return false;
    const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    for (int i = 0; i < more; ++i) {
        const int next = text.empty() ? -1 : take_display_octet(text);
        const bool second = i == 0;
        const int least = second && first == 0xe0 ? 0xa0 : second && first == 0xf0 ? 0x90 : 0x80;
        const int most = second && first == 0xed ? 0x9f : second && first == 0xf4 ? 0x8f : 0xbf;
        if (next < least || next > most) return false;
    }
    return true;
}

// §4.2.10
bool take_display_string(std::string_view& in, bare_item& out) noexcept {
    if (!in.starts_with("%\"")) return false;
    const auto end = in.find('"', 2);
    if (end == std::string_view::npos) return false;
    const std::string_view text = in.substr(2, end - 2);
    std::string_view rest = text;
    while (!rest.empty()) {
        if (!take_utf8(rest)) return false;
    }
    out = {.type = kind::display_string, .number = 0, .text = text};
    in.remove_prefix(end + 1);
    return true;
}

bool take_bare_item(std::string_view& in, bare_item& out) noexcept {
    if (in.empty()) return false;
    switch (const char c = in.front(); c) {
        case '"': return take_string(in, out);
        case ':': return take_bytes(in, out);
        case '?': return take_boolean(in, out);
        case '@': return take_date(in, out);
        case '%': return take_display_string(in, out);
        default:
            if (c == '-' || is_digit(c)) return take_number(in, out);
            return (c == '*' || is_alpha(c)) && take_token(in, out);
    }
}

// ---------------------------------------------------------------- containers

// §4.2.3.3
bool take_key(std::string_view& in, std::string_view& out) noexcept {
    if (in.empty() || (!is_lower(in.front()) && in.front() != '*')) return false;
    out = take_while(in, is_key_char);
    return true;
}

bool take_parameter(std::string_view& in, std::string_view& key, bare_item& value) noexcept {
    in.remove_prefix(1);  // ";"
    skip_spaces(in);
    if (!take_key(in, key)) return false;
    value = {};
    return !take(in, '=') || take_bare_item(in, value);
}

// §4.2.3.2
bool take_parameters(std::string_view& in, parameters& out) noexcept {
    const std::string_view all = in;
    while (in.starts_with(';')) {
        std::string_view key;
        bare_item value;
        if (!take_parameter(in, key, value)) return false;
    }
    out = parameters(all.substr(0, all.size() - in.size()));
    return true;
}

// §4.2.3
bool take_item(std::string_view& in, item& out) noexcept {
    return take_bare_item(in, out.value) && take_parameters(in, out.with);
}

// §4.2.1.2
bool take_inner_list(std::string_view& in, member& out) noexcept {
    in.remove_prefix(1);  // "("
    const std::string_view all = in;
    for (;;) {
        skip_spaces(in);
        if (in.starts_with(')')) break;
        item one;
        if (!take_item(in, one) || (!in.starts_with(' ') && !in.starts_with(')'))) return false;
    }
    out.is_inner_list = true;
    out.items = inner_list(all.substr(0, all.size() - in.size()));
    in.remove_prefix(1);
    return take_parameters(in, out.with);
}

// §4.2.1.1
bool take_item_or_inner_list(std::string_view& in, member& out) noexcept {
    if (in.starts_with('(')) return take_inner_list(in, out);
    return take_bare_item(in, out.value) && take_parameters(in, out.with);
}

bool take_dictionary_member(std::string_view& in, member& out) noexcept {
    out = {};
    if (!take_key(in, out.key)) return false;
    if (take(in, '=')) return take_item_or_inner_list(in, out);
    return take_parameters(in, out.with);
}

bool take_list_member(std::string_view& in, member& out) noexcept {
    out = {};
    return take_item_or_inner_list(in, out);
}

// Between two members: a comma and what follows it (§4.2.1, §4.2.2). False: there is no other member.
bool take_comma(std::string_view& in) noexcept {
    skip_ows(in);
    if (!take(in, ',')) return false;
    skip_ows(in);
    return true;
}

using take_member = bool(std::string_view&, member&) noexcept;

// §4.2, §4.2.1, §4.2.2: all members to the end; a comma at the end is an error.
bool is_sequence(std::string_view in, take_member& take_one) noexcept {
    if (in.empty()) return true;
    member one;
    do {
        if (!take_one(in, one)) return false;
    } while (take_comma(in));
    return in.empty();
}

bool next_member(std::string_view& rest, member& out, take_member& take_one) noexcept {
    if (rest.empty() || !take_one(rest, out)) return false;
    (void)take_comma(rest);
    return true;
}

// §4.2: spaces around a value as a whole.
std::string_view without_spaces(std::string_view text) noexcept {
    skip_spaces(text);
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(' ') + 1, text.size()));
    return text;
}

}  // namespace

std::optional<dictionary> parse_dictionary(std::string_view text) noexcept {
    text = without_spaces(text);
    if (!is_sequence(text, take_dictionary_member)) return std::nullopt;
    return dictionary(text);
}

std::optional<list> parse_list(std::string_view text) noexcept {
    text = without_spaces(text);
    if (!is_sequence(text, take_list_member)) return std::nullopt;
    return list(text);
}

std::optional<item> parse_item(std::string_view text) noexcept {
    text = without_spaces(text);
    item out;
    if (!take_item(text, out) || !text.empty()) return std::nullopt;
    return out;
}

std::optional<bare_item> parameters::find(std::string_view key) const noexcept {
    std::optional<bare_item> found;
    for_each([&](std::string_view k, const bare_item& value) {
        if (k == key) found = value;
    });
    return found;
}

std::optional<member> dictionary::find(std::string_view key) const noexcept {
    std::optional<member> found;
    for_each([&](const member& m) {
        if (m.key == key) found = m;
    });
    return found;
}

namespace detail {

bool next_parameter(std::string_view& rest, std::string_view& key, bare_item& value) noexcept {
    return !rest.empty() && take_parameter(rest, key, value);
}

bool next_item(std::string_view& rest, item& out) noexcept {
    skip_spaces(rest);
    return !rest.empty() && take_item(rest, out);
}

bool next_list_member(std::string_view& rest, member& out) noexcept {
    return next_member(rest, out, take_list_member);
}

bool next_dictionary_member(std::string_view& rest, member& out) noexcept {
    return next_member(rest, out, take_dictionary_member);
}

}  // namespace detail

// ---------------------------------------------------------------- values

namespace {

std::string decode_base64(std::string_view text) {
    std::string out;
    unsigned bits = 0;
    int have = 0;
    for (const char c : text) {
        if (c == '=') break;
        bits = (bits << 6U | static_cast<unsigned>(base64_value(c))) & 0xffffU;
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out += static_cast<char>(bits >> static_cast<unsigned>(have) & 0xffU);
    }
    return out;
}

}  // namespace

std::string bare_item::decoded() const {
    std::string out;
    switch (type) {
        case kind::bytes: return decode_base64(text);
        case kind::string:
            for (std::size_t i = 0; i < text.size(); ++i) {
                if (text[i] == '\\') ++i;
                out += text[i];
            }
            return out;
        case kind::display_string:
            for (std::string_view rest = text; !rest.empty();) out += static_cast<char>(take_display_octet(rest));
            return out;
        default: return std::string(text);
    }
}

}  // namespace etagere::http::structured
