// The primary cache key (RFC 9111 §2): length-prefixed parts, so that ("ab","c") and ("a","bc") differ.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/http/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// Makes credentials unreadable in keys: a keyed or cryptographic digest of `value`, printable. Injected, because the
/// pure core has no OpenSSL.
using credential_digest = std::string (*)(std::string_view value);

/// Writes the full key material into `out` (its capacity is kept: no allocation in the steady state): schema version,
/// route, scheme, authority with explicit port, target bytes as forwarded (query rules applied), then the key fields.
/// GET and HEAD share a key. No normalisation of the path: what the origin may tell apart, the key tells apart.
void make_key(std::string& out, std::string_view route, const http::request_head& request, const policy& rules,
              credential_digest digest);

/// The target with the route's query rules applied, as it goes into the key (not upstream).
void append_key_target(std::string& out, std::string_view target, const query_rules& rules);

/// One part of a key, for people. Values of credentials are digests in the key itself.
struct key_part {
    std::string what;  // "schema", "route", "scheme", "authority", "target", "field", "cookie", "credential"
    std::string name;  // of a field, cookie or credential
    std::vector<std::string> values;  // absent and empty differ
};
/// What make_key() wrote, taken apart again; nullopt for anything else.
std::optional<std::vector<key_part>> read_key(std::string_view key);

}  // namespace etagere::cache
