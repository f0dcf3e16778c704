// Selecting fields (RFC 9111 §4.1): which request fields a response depends on, and when two values of one mean the
// same. Room-internal.
#pragma once

#include "etagere/cache/key.hpp"
#include "etagere/cache/policy.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/fields.hpp"

#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// True where no later request can match: "*" anywhere in Vary, on any line, a member that is no field name, or one
/// whose value the proxy makes for each client.
bool varies_on_everything(const http::fields& response) noexcept;
bool varies_on(const http::fields& response, std::string_view name) noexcept;

/// The nominated fields, and Accept-Encoding for an answer with a content coding, with the values that `request` has,
/// sorted by name so that equal selections compare equal.
std::vector<selector> selecting_fields(const http::fields& response, const http::fields& request, const policy& rules,
                                       credential_digest digest);

/// Appends the value of that field in the form in which it is compared: lines combined, white space around commas gone,
/// and, for Accept, Accept-Encoding and Accept-Language where the route says so, values of one meaning made one. Of
/// what may be a credential, the digest. False where the request has no such field.
bool append_selecting_value(std::pmr::string& out, const http::fields& request, std::string_view name,
                            const policy& rules, credential_digest digest);

}  // namespace etagere::cache
