#include "etagere/observe/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

namespace etagere::observe {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

/// One character of UTF-8 at the start of a text. Length 1 and not valid: a byte that belongs to none.
struct character {
    char32_t code = 0;
    std::size_t length = 1;
    bool valid = false;
};

/// RFC 3629 §4: shortest form only, no surrogates, nothing above U+10FFFF.
character next_character(std::string_view text) noexcept {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) [[likely]]
        return {lead, 1, true};
    const std::size_t length = lead >= 0xc2 && lead <= 0xdf   ? 2
                               : lead >= 0xe0 && lead <= 0xef ? 3
                               : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                              : 0;
    if (length == 0 || text.size() < length) return {};
    char32_t code = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        code = (code << 6U) | (byte(i) & 0x3fU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {};
    return {code, length, true};
}

/// Characters that are valid text but steer a terminal or end a line somewhere: C0, DEL, C1, U+2028 and U+2029, the
/// direction overrides and isolates.
constexpr bool is_hostile(char32_t c) noexcept {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

constexpr bool is_plain(char c) noexcept {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/// Whether all eight bytes are plain. Each term sets the top bit of the bytes it looks for (and perhaps of one above
/// such a byte, which does no harm here).
constexpr bool are_plain(std::uint64_t eight) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t tops = ones << 7U;
    const auto below = [](std::uint64_t w, std::uint64_t bound) { return (w - ones * bound) & ~w; };
    const auto equal = [&](std::uint64_t w, std::uint64_t byte) { return below(w ^ (ones * byte), 1); };
    return ((eight | below(eight, 0x20) | equal(eight, '"') | equal(eight, '\\') | equal(eight, 0x7f)) & tops) == 0;
}

/// How many bytes at the start can be copied without a look.
std::size_t plain_run(std::string_view text) noexcept {
    std::size_t run = 0;
    for (std::uint64_t eight = 0; text.size() - run >= sizeof eight; run += sizeof eight) {
        std::memcpy(&eight, text.data() + run, sizeof eight);
        if (!are_plain(eight)) break;
    }
    while (run < text.size() && is_plain(text[run])) ++run;
    return run;
}

/// `out` is a std::string or a writer with room for most_escaped(text).
template <class Out> void append_u(Out& out, char32_t code) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += hex_digits[(code >> static_cast<unsigned>(shift)) & 0xfU];
}

template <class Out> void append_x(Out& out, std::string_view bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += "\\x";
        out += hex_digits[byte >> 4U];
        out += hex_digits[byte & 0xfU];
    }
}

/// Walks through `text`: the first `run_of(rest)` bytes are appended as they are, the character behind them goes to
/// `odd(character, bytes)`.
template <class Out, class RunOf, class Odd> void transcribe(Out& out, std::string_view text, RunOf run_of, Odd odd) {
    const bool cut = text.size() > max_logged_value;
    if (cut) text = text.substr(0, max_logged_value);
    while (true) {
        const std::size_t run = run_of(text);
        out.append(text.substr(0, run));
        text.remove_prefix(run);
        if (text.empty()) break;
        const character c = next_character(text);
        odd(c, text.substr(0, c.length));
        text.remove_prefix(c.length);
    }
    if (cut) out += "\u2026";
}

/// Most texts are plain from end to end: looked at and copied in one go. False, and nothing was written, otherwise.
bool copy_if_plain(writer& out, std::string_view text) noexcept {
    const std::size_t n = text.size();
    std::uint64_t eight = 0;
    if (n < sizeof eight) {
        if (n >= 4) {  // two halves that may overlap
            std::memcpy(&eight, text.data(), 4);
            std::uint32_t last = 0;
            std::memcpy(&last, text.data() + n - 4, 4);
            eight = (eight & 0xffffffffU) | std::uint64_t{last} << 32U;
            if (!are_plain(eight)) return false;
        } else if (n > 0 && !(is_plain(text[0]) && is_plain(text[n / 2]) && is_plain(text[n - 1]))) {
            return false;
        }
        out += text;
        return true;
    }
    char* const to = out.at();
    const auto copy8 = [&](std::size_t at) {
        std::memcpy(&eight, text.data() + at, sizeof eight);
        std::memcpy(to + at, &eight, sizeof eight);
        return are_plain(eight);
    };
    std::size_t at = 0;
    for (; at + sizeof eight <= n; at += sizeof eight) {
        if (!copy8(at)) return false;
    }
    if (at < n && !copy8(n - sizeof eight)) return false;  // overlaps what was copied
    out.advance(n);
    return true;
}

template <class Out> void escape_json(Out& out, std::string_view text) {
    transcribe(out, text, plain_run, [&out](const character& c, std::string_view bytes) {
        if (!c.valid) {
            out += "\\ufffd";
        } else if (c.code == '"' || c.code == '\\') {
            out += '\\';
            out += bytes;
        } else if (is_hostile(c.code)) {
            append_u(out, c.code);
        } else {
            out += bytes;
        }
    });
}

template <class Number> void append_chars(std::string& out, Number n) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), n);
    out.append(digits.data(), end.ptr);
}

void append_padded(std::string& out, unsigned n, unsigned width) {
    std::array<char, 8> digits{};
    for (unsigned i = width; i > 0; --i, n /= 10) digits[i - 1] = static_cast<char>('0' + n % 10);
    out.append(std::string_view(digits.data(), width));
}

}  // namespace

void append_json_escaped(std::string& out, std::string_view text) {
    escape_json(out, text);
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_json_escaped(out, text);
    out += '"';
}

void append_json_string(writer& out, std::string_view text) noexcept {
    out += '"';
    if (text.size() > max_logged_value || !copy_if_plain(out, text)) escape_json(out, text);
    out += '"';
}

void append_json_tag(writer& out, std::string_view text) noexcept {
    const std::size_t opening = text.starts_with("W/") ? 2 : 0;
    const bool usual =
        text.size() <= max_logged_value && text.size() >= opening + 2 && text[opening] == '"' && text.back() == '"';
    if (!usual) return append_json_string(out, text);
    const writer before = out;
    out += '"';
    out += text.substr(0, opening);
    out += "\\\"";
    if (!copy_if_plain(out, text.substr(opening + 1, text.size() - opening - 2))) {
        out = before;
        return append_json_string(out, text);
    }
    out += "\\\"\"";
}

void append_plain_escaped(std::string& out, std::string_view text, bool escape_space) {
    const auto run_of = [escape_space](std::string_view rest) {
        const std::size_t run = plain_run(rest);
        return escape_space ? std::min(run, rest.find(' ')) : run;
    };
    transcribe(out, text, run_of, [&out](const character& c, std::string_view bytes) {
        if (!c.valid || c.code < 0x80 || is_hostile(c.code)) {
            append_x(out, bytes);
        } else {
            out += bytes;
        }
    });
}

void append_number(std::string& out, std::uint64_t n) {
    append_chars(out, n);
}

void append_number(std::string& out, std::int64_t n) {
    append_chars(out, n);
}

void append_number(std::string& out, double n) {
    // The largest double has 309 digits before the point, the smallest 1074 behind it.
    std::array<char, 1100> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), std::isfinite(n) ? n : 0.0,
                                   std::chars_format::fixed);
    out.append(digits.data(), end.ptr);
}

void append_milliseconds(std::string& out, std::uint64_t microseconds) {
    append_chars(out, microseconds / 1000);
    out += '.';
    append_padded(out, static_cast<unsigned>(microseconds % 1000), 3);
}

void append_milliseconds(writer& out, std::uint64_t microseconds) noexcept {
    out.number(microseconds / 1000);
    out += '.';
    out.three_digits(static_cast<unsigned>(microseconds % 1000));
}

void timestamp::refresh(wall_time at) {
    const auto second = std::chrono::floor<seconds>(at);
    if (second == second_) return;
    second_ = second;
    const auto midnight = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date{midnight};
    const std::chrono::hh_mm_ss time{second - midnight};
    const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
    const auto month = static_cast<unsigned>(date.month());
    const auto day = static_cast<unsigned>(date.day());
    const auto append_time = [&time](std::string& out) {
        append_padded(out, static_cast<unsigned>(time.hours().count()), 2);
        out += ':';
        append_padded(out, static_cast<unsigned>(time.minutes().count()), 2);
        out += ':';
        append_padded(out, static_cast<unsigned>(time.seconds().count()), 2);
    };

    rfc3339_.clear();
    append_padded(rfc3339_, year, 4);
    rfc3339_ += '-';
    append_padded(rfc3339_, month, 2);
    rfc3339_ += '-';
    append_padded(rfc3339_, day, 2);
    rfc3339_ += 'T';
    append_time(rfc3339_);
    rfc3339_ += '.';

    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    clf_.clear();
    append_padded(clf_, day, 2);
    clf_ += '/';
    clf_ += months.substr(std::size_t{3} * (month - 1), 3);
    clf_ += '/';
    append_padded(clf_, year, 4);
    clf_ += ':';
    append_time(clf_);
    clf_ += " +0000";
}

void timestamp::append_rfc3339(std::string& out, wall_time at) {
    refresh(at);
    out += rfc3339_;
    append_padded(out, static_cast<unsigned>((at - second_).count()), 3);
    out += 'Z';
}

void timestamp::append_rfc3339(writer& out, wall_time at) {
    refresh(at);
    out += std::string_view(rfc3339_);
    out.three_digits(static_cast<unsigned>((at - second_).count()));
    out += 'Z';
}

void timestamp::append_clf(std::string& out, wall_time at) {
    refresh(at);
    out += clf_;
}

}  // namespace etagere::observe
