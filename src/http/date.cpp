#include "etagere/http/date.hpp"

#include "etagere/http/fields.hpp"

#include <array>
#include <cstddef>

namespace etagere::http {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 7> long_days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                    "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Three letters of whatever case as one number; no two days, and no two months, have the same.
constexpr std::uint32_t first_letters(std::string_view text) noexcept {
    const auto letter = [text](std::size_t at) { return static_cast<std::uint32_t>(text[at] | 0x20); };
    return letter(0) << 16U | letter(1) << 8U | letter(2);
}

// Reads a fixed text from left to right; the first thing that does not fit makes the rest fail.
struct reader {
    std::string_view rest;
    bool ok = true;

    void literal(char c) noexcept {
        ok = ok && rest.starts_with(c);
        if (ok) rest.remove_prefix(1);
    }
    // RFC 9111 §4.2: caches read dates whatever the case of their letters.
    void literal(std::string_view text) noexcept {
        ok = ok && iequals(rest.substr(0, text.size()), text);
        if (ok) rest.remove_prefix(text.size());
    }
    unsigned digits(std::size_t n) noexcept {
        unsigned value = 0;
        ok = ok && rest.size() >= n;
        for (std::size_t i = 0; ok && i < n; ++i) {
            ok = rest[i] >= '0' && rest[i] <= '9';
            value = value * 10 + static_cast<unsigned>(rest[i] - '0');
        }
        if (ok) rest.remove_prefix(n);
        return value;
    }
    // The index of the one of `names` that comes next, told by its first three letters.
    template <std::size_t N> unsigned one_of(const std::array<std::string_view, N>& names) noexcept {
        ok = ok && rest.size() >= 3;
        const std::uint32_t next = ok ? first_letters(rest) : 0;
        for (unsigned i = 0; ok && i < N; ++i) {
            if (next != first_letters(names[i])) continue;
            literal(names[i]);
            return i;
        }
        ok = false;
        return 0;
    }
};

struct parts {
    int year = 0;
    unsigned month = 0;  // from 0
    unsigned day = 0;
    seconds time_of_day{};
};

void read_time_of_day(reader& in, parts& out) noexcept {
    const unsigned hour = in.digits(2);
    in.literal(':');
    const unsigned minute = in.digits(2);
    in.literal(':');
    const unsigned second = in.digits(2);
    in.ok = in.ok && hour < 24 && minute < 60 && second <= 60;  // 60: a leap second, counted into the next minute
    out.time_of_day = std::chrono::hours(hour) + std::chrono::minutes(minute) + seconds(second);
}

// Sun, 06 Nov 1994 08:49:37 GMT
bool read_imf_fixdate(std::string_view text, parts& out) noexcept {
    reader in{text};
    in.one_of(days);
    in.literal(", ");
    out.day = in.digits(2);
    in.literal(' ');
    out.month = in.one_of(months);
    in.literal(' ');
    out.year = static_cast<int>(in.digits(4));
    in.literal(' ');
    read_time_of_day(in, out);
    in.literal(" GMT");
    return in.ok && in.rest.empty();
}

// Sunday, 06-Nov-94 08:49:37 GMT. The year is left at its two digits.
bool read_rfc850(std::string_view text, parts& out) noexcept {
    reader in{text};
    in.one_of(long_days);
    in.literal(", ");
    out.day = in.digits(2);
    in.literal('-');
    out.month = in.one_of(months);
    in.literal('-');
    out.year = static_cast<int>(in.digits(2));
    in.literal(' ');
    read_time_of_day(in, out);
    in.literal(" GMT");
    return in.ok && in.rest.empty();
}

// Sun Nov  6 08:49:37 1994
bool read_asctime(std::string_view text, parts& out) noexcept {
    reader in{text};
    in.one_of(days);
    in.literal(' ');
    out.month = in.one_of(months);
    in.literal(' ');
    const bool padded = in.rest.starts_with(' ');
    if (padded) in.literal(' ');
    out.day = in.digits(padded ? 1 : 2);
    in.literal(' ');
    read_time_of_day(in, out);
    in.literal(' ');
    out.year = static_cast<int>(in.digits(4));
    return in.ok && in.rest.empty();
}

std::optional<wall_seconds> to_time(const parts& in) noexcept {
    const year_month_day date{year(in.year), month(in.month + 1), day(in.day)};
    if (!date.ok()) return std::nullopt;
    return sys_days(date) + in.time_of_day;
}

// RFC 9110 §5.6.7: a two-digit year more than 50 years in the future is the most recent past one.
int full_year(int two_digits, wall_time now) noexcept {
    const int this_year = static_cast<int>(year_month_day(std::chrono::floor<std::chrono::days>(now)).year());
    const int guess = this_year - this_year % 100 + two_digits;
    if (guess > this_year + 50) return guess - 100;
    return guess + 100 <= this_year + 50 ? guess + 100 : guess;
}

void append_digits(std::string& out, unsigned value, unsigned divisor) {
    for (; divisor != 0; divisor /= 10) out.push_back(static_cast<char>('0' + value / divisor % 10));
}

}  // namespace

std::optional<wall_seconds> parse_date(std::string_view text, wall_time now) noexcept {
    parts found;
    if (read_imf_fixdate(text, found) || read_asctime(text, found)) return to_time(found);
    if (!read_rfc850(text, found)) return std::nullopt;
    found.year = full_year(found.year, now);
    return to_time(found);
}

void append_date(std::string& out, wall_seconds t) {
    const auto midnight = std::chrono::floor<std::chrono::days>(t);
    const year_month_day date(midnight);
    const auto in_day = static_cast<unsigned>((t - midnight).count());
    out.append(days[weekday(midnight).c_encoding()]).append(", ");
    append_digits(out, static_cast<unsigned>(date.day()), 10);
    out.append(" ").append(months[static_cast<unsigned>(date.month()) - 1]).append(" ");
    append_digits(out, static_cast<unsigned>(static_cast<int>(date.year())), 1000);
    out.append(" ");
    append_digits(out, in_day / 3600, 10);
    out.append(":");
    append_digits(out, in_day / 60 % 60, 10);
    out.append(":");
    append_digits(out, in_day % 60, 10);
    out.append(" GMT");
}

std::string format_date(wall_seconds t) {
    std::string out;
    out.reserve(29);
    append_date(out, t);
    return out;
}

}  // namespace etagere::http
