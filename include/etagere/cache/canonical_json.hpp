// One form for JSON texts (RFC 8259) that mean the same but for the members that do not count: what a weak tag of ours
// is made of on routes with `etag: { json_ignore: … }`.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/http/fields.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace etagere::cache {

/// Members sorted by name, white space and the spelling of strings gone, what the JSON pointers (RFC 6901) name left
/// out. Not JSON itself: every part carries its length, so that different values never give one text. Numbers keep
/// their spelling: 1 and 1.0 differ, and no digit is lost. nullopt for what cannot be said with certainty: no JSON, no
/// UTF-8, a member twice, nesting deeper than 64. Takes time and space linear in `text`, but for sorting.
std::optional<std::string> canonical_json(std::string_view text, std::span<const std::string> ignored);

/// application/json or …+json, in UTF-8 and without a coding, on a route that ignores something.
bool counts_as_json(const http::fields& response, const policy& rules) noexcept;

}  // namespace etagere::cache
