// Text of a client made harmless for a log: whatever it holds, it stays inside its value and its line.
// Appending only; no locale, no format strings. Thread-safe (no state).
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/base/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::observe {

/// Values longer than this are cut in log lines, "…" marks the place: one request cannot fill a buffer.
inline constexpr std::size_t max_logged_value = 8192;

/// Appends the inside of a JSON string (RFC 8259 §7). Control characters (C0, DEL, C1), line separators and direction
/// overrides become \uXXXX, bytes that are not UTF-8 become \ufffd: the result is one line of valid UTF-8 that cannot
/// steer a terminal.
void append_json_escaped(std::string& out, std::string_view text);
/// `"text"`.
void append_json_string(std::string& out, std::string_view text);
/// The same, with room for most_json(text).
void append_json_string(writer& out, std::string_view text) noexcept;
/// The same, sooner, where it is one entity tag as RFC 9110 §8.8.3 writes it.
void append_json_tag(writer& out, std::string_view text) noexcept;
constexpr std::size_t most_json(std::string_view text) noexcept {
    constexpr std::size_t longest_escape = 6, frame = 8;  // two quotes, and "…"
    return longest_escape * std::min(text.size(), max_logged_value) + frame;
}

/// The same for lines of plain text: what JSON would escape, and spaces where `escape_space`, become \xHH.
void append_plain_escaped(std::string& out, std::string_view text, bool escape_space);

void append_number(std::string& out, std::uint64_t n);
void append_number(std::string& out, std::int64_t n);
/// Shortest form that reads back equal, never with an exponent; a NaN or infinity as 0.
void append_number(std::string& out, double n);
/// Microseconds as milliseconds: 1234 → "1.234".
void append_milliseconds(std::string& out, std::uint64_t microseconds);
/// Room: writer::most_digits + 4.
void append_milliseconds(writer& out, std::uint64_t microseconds) noexcept;

/// Dates are made once a second. Not thread-safe: one for each writer of lines.
class timestamp {
public:
    /// RFC 3339: "2026-11-30T16:05:08.042Z".
    void append_rfc3339(std::string& out, wall_time at);
    void append_rfc3339(writer& out, wall_time at);  // room: 24
    /// Common log format: "30/Nov/2026:16:05:08 +0000".
    void append_clf(std::string& out, wall_time at);

private:
    void refresh(wall_time at);

    wall_seconds second_{wall_seconds::min()};
    std::string rfc3339_, clf_;
};

}  // namespace etagere::observe
