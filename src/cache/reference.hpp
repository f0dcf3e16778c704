// URI references (RFC 3986) as far as Location and Content-Location need them. Room-internal.
#pragma once

#include "etagere/http/message.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace etagere::cache {

/// The origin-form of `reference`, resolved against the target of `request` (RFC 3986 §5.2); nullopt where it is of
/// another origin (RFC 6454: scheme, host and port) or no reference to http or https.
std::optional<std::string> resolve_same_origin(std::string_view reference, const http::request_head& request);

}  // namespace etagere::cache
