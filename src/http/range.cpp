#include "etagere/http/range.hpp"

#include "etagere/http/lists.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace etagere::http {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
/// What one more part of a multipart costs: boundary, Content-Type, Content-Range. RFC 9110 §15.3.7.2 says about 80.
constexpr std::uint64_t part_overhead = 80;
/// RFC 9110 §14.2: "more than two overlapping ranges" mark a broken client or an attack.
constexpr std::size_t most_overlaps = 2;

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// 1*DIGIT cut off the front. What does not fit is the largest number there is.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
    const auto end = std::ranges::find_if_not(text, is_digit);
    const std::string_view digits(text.begin(), end);
    if (digits.empty()) return std::nullopt;
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(digits.begin(), digits.end(), value);
    text.remove_prefix(digits.size());
    return error == std::errc{} ? value : largest;
}

bool take(std::string_view& text, char c) noexcept {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<range_spec> parse_spec(std::string_view text) noexcept {
    range_spec spec;
    spec.first = take_number(text);
    if (!take(text, '-')) return std::nullopt;
    spec.last = take_number(text);
    if (!text.empty() || (!spec.first && !spec.last)) return std::nullopt;
    // §14.1.1: "An int-range is invalid if the last-pos value is present and less than first-pos."
    if (spec.first && spec.last && *spec.last < *spec.first) return std::nullopt;
    return spec;
}

/// The range units are case-insensitive (RFC 9110 §14.1).
bool take_unit(std::string_view& value, char separator) noexcept {
    constexpr std::string_view bytes = "bytes";
    if (value.size() <= bytes.size() || !iequals(value.substr(0, bytes.size()), bytes)) return false;
    value.remove_prefix(bytes.size());
    return take(value, separator);
}

std::optional<byte_range> place(const range_spec& spec, std::uint64_t length) noexcept {
    if (length == 0) return std::nullopt;
    if (!spec.first) {  // the last so many
        const std::uint64_t suffix = spec.last.value_or(0);
        if (suffix == 0) return std::nullopt;
        return byte_range{length - std::min(suffix, length), length - 1};
    }
    if (*spec.first >= length) return std::nullopt;
    return byte_range{*spec.first, std::min(spec.last.value_or(largest), length - 1)};
}

/// Whether to send both as one part costs less than to send two.
bool belong_together(const byte_range& a, const byte_range& b) noexcept {
    const byte_range& left = a.first <= b.first ? a : b;
    const byte_range& right = a.first <= b.first ? b : a;
    return right.first <= left.last || right.first - left.last <= part_overhead;
}

bool overlap(const byte_range& a, const byte_range& b) noexcept {
    return a.first <= b.last && b.first <= a.last;
}

void append_number(std::string& out, std::uint64_t value) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

}  // namespace

bool byte_ranges::add(byte_range r) noexcept {
    if (count_ == at_.size()) return false;
    at_[count_++] = r;
    return true;
}

bool range_request::add(range_spec s) noexcept {
    if (count_ == at_.size()) return false;
    at_[count_++] = s;
    return true;
}

std::optional<range_request> parse_range(const fields& request) noexcept {
    if (request.count(field_id::range) != 1) return std::nullopt;
    std::string_view value = request.get(field_id::range);
    if (!take_unit(value, '=')) return std::nullopt;
    range_request out;
    while (const auto member = next_member(value)) {
        const auto spec = parse_spec(*member);
        if (!spec || !out.add(*spec)) return std::nullopt;
    }
    if (out.size() == 0) return std::nullopt;
    return out;
}

std::string to_string(const range_request& ranges) {
    std::string out = "bytes=";
    for (const range_spec& s : ranges.all()) {
        if (out.back() != '=') out += ',';
        if (s.first) append_number(out, *s.first);
        out += '-';
        if (s.last) append_number(out, *s.last);
    }
    return out;
}

range_verdict resolve(const range_request& asked, std::uint64_t length, byte_ranges& out) noexcept {
    std::array<byte_range, most_ranges> placed{};
    std::size_t count = 0;
    std::size_t overlaps = 0;
    for (const range_spec& spec : asked.all()) {
        const auto range = place(spec, length);
        if (!range) continue;
        const auto before = std::span(placed).first(count);
        overlaps += static_cast<std::size_t>(
            std::ranges::count_if(before, [&](const byte_range& r) { return overlap(r, *range); }));
        placed[count++] = *range;
    }
    if (overlaps > most_overlaps) return range_verdict::ignored;
    if (count == 0) {
        // §14.1.2: the last octets of nothing are satisfiable, yet no Content-Range can say so.
        const auto is_suffix = [](const range_spec& s) { return !s.first && *s.last > 0; };
        return length == 0 && std::ranges::any_of(asked.all(), is_suffix) ? range_verdict::ignored
                                                                          : range_verdict::unsatisfiable;
    }
    for (std::size_t i = 0; i < count; ++i) {
        // What joins the i-th may bring it near to others behind it, never to one before it: that would have been near
        // to one of the two.
        for (std::size_t j = i + 1; j < count;) {
            if (!belong_together(placed[i], placed[j])) {
                ++j;
                continue;
            }
            placed[i] = {std::min(placed[i].first, placed[j].first), std::max(placed[i].last, placed[j].last)};
            std::ranges::copy(std::span(placed).subspan(j + 1, count - j - 1), placed.begin() + j);
            --count;
            j = i + 1;
        }
        out.add(placed[i]);
    }
    return range_verdict::satisfiable;
}

std::optional<content_range> parse_content_range(std::string_view value) noexcept {
    if (!take_unit(value, ' ')) return std::nullopt;
    content_range out;
    if (!take(value, '*')) {
        const auto first = take_number(value);
        if (!first || !take(value, '-')) return std::nullopt;
        const auto last = take_number(value);
        if (!last || *last < *first || *last == largest) return std::nullopt;
        out.range = byte_range{*first, *last};
    }
    if (!take(value, '/')) return std::nullopt;
    if (!take(value, '*')) {
        out.length = take_number(value);
        if (!out.length || *out.length == largest) return std::nullopt;
    }
    if (!value.empty()) return std::nullopt;
    if (!out.range && !out.length) return std::nullopt;
    // §14.4: invalid where the complete length is not beyond the last position.
    if (out.range && out.length && *out.length <= out.range->last) return std::nullopt;
    return out;
}

std::optional<content_range> parse_content_range(const fields& response) noexcept {
    if (response.count(field_id::content_range) != 1) return std::nullopt;
    return parse_content_range(response.get(field_id::content_range));
}

void append_content_range(std::string& out, byte_range r, std::uint64_t length) {
    out += "bytes ";
    append_number(out, r.first);
    out += '-';
    append_number(out, r.last);
    out += '/';
    append_number(out, length);
}

void append_unsatisfied_range(std::string& out, std::uint64_t length) {
    out += "bytes */";
    append_number(out, length);
}

}  // namespace etagere::http
