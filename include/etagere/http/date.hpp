// HTTP-date (RFC 9110 §5.6.7): reads IMF-fixdate, RFC 850 and asctime; writes IMF-fixdate.
#pragma once

#include "etagere/base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace etagere::http {

/// nullopt for everything that is not exactly one of the three formats with a real calendar date in GMT; letters in any
/// case (RFC 9111 §4.2), and the name of the day need not be that of the date. `now` decides
/// the century of a two-digit year (more than 50 years ahead means the past).
std::optional<wall_seconds> parse_date(std::string_view text, wall_time now) noexcept;
/// "Mon, 30 Nov 2026 12:00:00 GMT": always 29 bytes.
std::string format_date(wall_seconds t);
void append_date(std::string& out, wall_seconds t);

}  // namespace etagere::http
