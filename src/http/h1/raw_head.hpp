// The strict look at the raw octets of a head, before Beast reads it: where it ends, and what must not be in it.
#pragma once

#include "etagere/http/h1/parser.hpp"

#include <cstddef>
#include <string_view>

namespace etagere::http::h1 {

enum class head_scan : unsigned char {
    incomplete,
    complete,
    malformed,  // bare LF, folded or indented line, empty start line
    too_large,  // more octets or fields than the limits allow, whether complete or not
};

struct raw_head {
    head_scan found = head_scan::incomplete;
    std::string_view start_line;  // without CRLF; empty while it is not complete
    std::string_view text;        // start line to empty line, both included; where complete
};

/// RFC 9112 §2.2, §5.2: every line ends in CRLF, no line after the first starts with white space. Bare CR, NUL and
/// other controls are left to Beast, which refuses them.
raw_head scan_head(std::string_view in, const head_limits& limits) noexcept;

}  // namespace etagere::http::h1
