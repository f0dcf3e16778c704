#include "etagere/cache/decisions.hpp"

#include "reference.hpp"

#include <algorithm>

namespace etagere::cache {

// RFC 9111 §4.4. Methods that nobody knows are unsafe (RFC 9110 §9.2.1). Other origins' targets stay: else any origin
// could empty the cache of its neighbours.
std::vector<std::string> invalidated_targets(const http::request_head& request, const http::response_head& response) {
    std::vector<std::string> targets;
    const bool succeeded = response.status >= 200 && response.status < 400;
    if (http::is_safe(request.verb) || !succeeded || !request.target.starts_with('/')) return targets;

    targets.push_back(request.target);
    for (const http::field_id id : {http::field_id::location, http::field_id::content_location}) {
        const auto reference = response.header.find(id);
        if (!reference) continue;
        auto target = resolve_same_origin(*reference, request);
        if (target && std::ranges::find(targets, *target) == targets.end()) targets.push_back(std::move(*target));
    }
    return targets;
}

}  // namespace etagere::cache
