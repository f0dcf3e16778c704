// No-Vary-Search: an origin's word on which parts of a query do not matter (draft-ietf-httpbis-no-vary-search).
// Pure. Where étagère's reading of a query and an origin's might differ, nothing is left out of it: a parameter that is
// left out although the origin reads it is how caches are poisoned.
#pragma once

#include "etagere/cache/key.hpp"
#include "etagere/cache/policy.hpp"
#include "etagere/http/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// The draft's "URL search variance", other than the default one (every query is a resource of its own).
struct search_variance {
    bool any_order = false;          // key-order: the order of different names does not matter
    bool only_named = false;         // params: nothing matters but `names` (except); else all but `names` matters
    std::vector<std::string> names;  // decoded
    std::string text;                // the field as it came: two responses have one rule where this is equal

    friend bool operator==(const search_variance&, const search_variance&) = default;
};

/// nullopt: none, not valid, or without effect. Strict as RFC 9651 is; keys that are not known are ignored.
std::optional<search_variance> find_search_variance(const http::fields& response);
/// Whether that response came with exactly this rule. Allocates nothing.
bool carries(const http::fields& response, const search_variance& rule) noexcept;

/// Appends the target without what the rule makes irrelevant: all targets that are equivalent give one, itself
/// equivalent to them. What is kept is kept octet for octet. The whole target as it is, where its query has a ';', an
/// octet sequence that is not UTF-8, a '%' that escapes nothing, a control, or more than 64 parameters.
void append_simplified_target(std::string& out, std::string_view target, const search_variance& rule);

/// make_key() of the simplified target: the key under which all equivalent requests find one answer.
void make_search_key(std::string& out, std::string_view route, const http::request_head& request,
                     const search_variance& rule, const policy& rules, credential_digest digest);

}  // namespace etagere::cache
