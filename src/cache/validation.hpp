// Whose is this 304 (RFC 9111 §4.3.4)? Room-internal.
#pragma once

#include "etagere/cache/stored_response.hpp"

#include <string_view>

namespace etagere::cache {

/// Weak comparison; malformed tags by their octets.
bool same_tag(std::string_view a, std::string_view b) noexcept;

/// A 304 that varies on more than the stored response was chosen by: the values that it was made for are not known any
/// more, so it cannot be kept for any request.
bool widens_selection(const stored_response& r, const http::fields& not_modified) noexcept;

}  // namespace etagere::cache
