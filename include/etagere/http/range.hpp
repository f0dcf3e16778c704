// Byte ranges: Range and Content-Range (RFC 9110 §14). Parsing and arithmetic only; whether a Range applies is for the
// cache to say. Nothing here allocates, except what appends to a string. Stateless, thread-safe.
#pragma once

#include "etagere/http/fields.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace etagere::http {

/// Octets `first` to `last`, both included: never empty.
struct byte_range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t size() const noexcept { return last - first + 1; }
    bool contains(const byte_range& r) const noexcept { return first <= r.first && r.last <= last; }
    friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// More in one request than this is no reader but an attack, or broken (RFC 9110 §14.2, §17.15; CVE-2011-3192).
inline constexpr std::size_t most_ranges = 16;

/// A few ranges, in place.
class byte_ranges {
public:
    std::span<const byte_range> all() const noexcept { return {at_.data(), count_}; }
    std::size_t size() const noexcept { return count_; }
    const byte_range& operator[](std::size_t i) const noexcept { return at_[i]; }
    /// False, and nothing added, beyond most_ranges.
    bool add(byte_range r) noexcept;

private:
    std::array<byte_range, most_ranges> at_{};
    std::size_t count_ = 0;
};

/// One range-spec of RFC 9110 §14.1.1: `first`-`last`, `first`- or -`last` (the last so many octets).
struct range_spec {
    std::optional<std::uint64_t> first;
    std::optional<std::uint64_t> last;
    friend bool operator==(const range_spec&, const range_spec&) = default;
};

/// What a Range field asks for, before the length is known.
class range_request {
public:
    std::span<const range_spec> all() const noexcept { return {at_.data(), count_}; }
    std::size_t size() const noexcept { return count_; }
    bool add(range_spec s) noexcept;

private:
    std::array<range_spec, most_ranges> at_{};
    std::size_t count_ = 0;
};

/// nullopt where there is no Range, or none that has to be obeyed: another unit, a syntax error, several lines, or more
/// than most_ranges. All of these mean the whole (RFC 9110 §14.2). Numbers that do not fit count as the largest.
std::optional<range_request> parse_range(const fields& request) noexcept;
/// "bytes=0-4,-5".
std::string to_string(const range_request& ranges);

enum class range_verdict : std::uint8_t {
    satisfiable,
    unsatisfiable,  // none of them touches the representation: 416
    ignored,        // abuse (RFC 9110 §14.2), or nothing that could be said: answered as if there were no Range
};
/// The ranges of a representation of `length` octets that were asked for, in the order of the request. Those that
/// overlap, touch, or are closer than a part of a multipart costs are one (RFC 9110 §15.3.7.2), so none overlap.
range_verdict resolve(const range_request& asked, std::uint64_t length, byte_ranges& out) noexcept;

/// Content-Range of bytes (RFC 9110 §14.4).
struct content_range {
    std::optional<byte_range> range;      // nullopt: "*", of a 416
    std::optional<std::uint64_t> length;  // of the whole; nullopt: "*"
    friend bool operator==(const content_range&, const content_range&) = default;
};
/// nullopt where there is none, or several, or one that is no Content-Range of bytes, or one that contradicts itself.
std::optional<content_range> parse_content_range(const fields& response) noexcept;
std::optional<content_range> parse_content_range(std::string_view value) noexcept;
/// "bytes 0-4/10".
void append_content_range(std::string& out, byte_range r, std::uint64_t length);
/// "bytes */10" (RFC 9110 §15.5.17).
void append_unsatisfied_range(std::string& out, std::uint64_t length);

}  // namespace etagere::http
