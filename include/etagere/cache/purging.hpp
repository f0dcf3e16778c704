// Purging by generations: a purge is a number for a group of responses, not a walk through the store. Pure functions
// between names (a URL, a tag, a prefix, a route) and groups. `store/purges.hpp` keeps the numbers.
//
// Every stored response belongs to the group of its URL, of its route, of each prefix of its path and of each of its
// tags. Only the tags are kept with it; the others follow from the request that would use it.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/cache/policy.hpp"
#include "etagere/http/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

struct stored_response;

/// Digest of a group's name. Two names with one digest would be purged together: a miss too many, nothing worse.
using group_id = std::uint64_t;
/// The group that everything belongs to.
inline constexpr group_id everything = 0;

/// What was known about purges when a request was sent to the origin. Numbers of two eras cannot be compared.
struct purge_mark {
    std::uint64_t era = 0;    // of the journal that counts; 0: none was known
    std::uint64_t seq = 0;    // the newest purge of that era
    std::uint64_t local = 0;  // the newest purge of this process, published or not; means nothing elsewhere
    friend bool operator==(const purge_mark&, const purge_mark&) = default;
};

/// Of what is put together of two answers. Of two eras nothing can be said: that counts as purged.
purge_mark older(const purge_mark& a, const purge_mark& b) noexcept;

enum class purged : std::uint8_t {
    no,
    soft,  // as if stale: may be validated, and served stale where that is allowed
    hard,  // as if it were not there: not even its validators are used
};
struct purge_state {
    purged how = purged::no;
    wall_time since{};  // of a soft purge: from then on it counts as stale
};

/// One group to be purged. Of a prefix, its length has to be known to whoever looks for it.
struct purge_target {
    group_id group = everything;
    std::uint16_t prefix_length = 0;  // octets of path; 0: no prefix
    friend bool operator==(const purge_target&, const purge_target&) = default;
};

/// At most so long is a prefix.
inline constexpr std::size_t longest_prefix = 1024;
/// Beyond so many tags a response counts as having every tag: any purge by tag takes it along. RFC 9875 §2 wants 32.
inline constexpr std::size_t most_tags = 512;

// ---------------------------------------------------------------- what to purge

/// `target` as in the key (append_key_target). An empty host: of every host, scheme and port.
void purge_url(std::vector<purge_target>& out, std::string_view scheme, std::string_view host, std::uint16_t port,
               std::string_view target);
/// Everything that carries the tag, whatever field it came in and whatever host it is of.
void purge_tag(std::vector<purge_target>& out, std::string_view tag);
/// RFC 9875 §2: a group of Cache-Groups, of one origin.
void purge_cache_group(std::vector<purge_target>& out, const http::request_head& of, std::string_view group);
/// Paths of `host` ("": of every host) that begin with `prefix`: octet by octet.
void purge_prefix(std::vector<purge_target>& out, std::string_view host, std::string_view prefix);
void purge_route(std::vector<purge_target>& out, std::string_view route);

/// The groups that Cache-Group-Invalidation of an answer names (RFC 9875 §3). Empty for safe requests, and where the
/// value is not what the RFC says.
std::vector<std::string> groups_to_invalidate(const http::request_head& request, const http::response_head& answer);

// ---------------------------------------------------------------- what a response belongs to

/// Reads the route's tag fields and writes `r.tags`: sorted, each once.
void collect_tags(stored_response& r, const http::request_head& request, const policy& rules);

/// The groups, tags aside, of what answers this request: URL, route, path.
struct request_groups {
    group_id url = everything;
    group_id url_of_any_host = everything;
    group_id path = everything;  // all URLs with this path: for responses that answer for several (No-Vary-Search)
    group_id path_of_any_host = everything;
    group_id route = everything;
};
/// `scratch` keeps its capacity.
request_groups groups_of(const http::request_head& request, std::string_view route, const policy& rules,
                         std::string& scratch);
group_id prefix_group(std::string_view host, std::string_view prefix) noexcept;

}  // namespace etagere::cache
