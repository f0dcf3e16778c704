#include "etagere/base/writer.hpp"
#include "etagere/observe/record.hpp"

#include <cstddef>

namespace etagere::observe {
namespace {

/// How a reason says whether the request went forward: RFC 9211 §2.1 (hit) or §2.2 (fwd).
constexpr std::string_view form(reason why) noexcept {
    switch (why) {
        case reason::hit_fresh:
        case reason::hit_not_modified:
        case reason::hit_precondition_failed:
        case reason::hit_stale_revalidating:
        case reason::hit_stale_error: return "etagere; hit";
        case reason::revalidated:
        case reason::revalidated_changed: return "etagere; fwd=stale";
        case reason::miss_cold:
        case reason::nostore_private:
        case reason::nostore_no_store:
        case reason::nostore_authorization:
        case reason::nostore_set_cookie:
        case reason::nostore_cookie:
        case reason::nostore_vary_star:
        case reason::nostore_no_lifetime_no_validator:
        case reason::nostore_status:
        case reason::nostore_too_large:
        case reason::nostore_incomplete:
        case reason::nostore_policy:
        case reason::nostore_sendfile:
        case reason::nostore_hit_for_miss: return "etagere; fwd=uri-miss";
        case reason::miss_vary: return "etagere; fwd=vary-miss";
        case reason::miss_partial: return "etagere; fwd=partial";
        // "miss" where the two are not told apart: a follower does not know what its leader found.
        case reason::miss_evicted_body:
        case reason::miss_purged:
        case reason::collapsed_local:
        case reason::pass_range: return "etagere; fwd=miss";
        case reason::pass_method:
        case reason::invalidated: return "etagere; fwd=method";
        case reason::pass_client_directive: return "etagere; fwd=request";
        case reason::pass_upgrade:
        case reason::pass_stream:
        case reason::pass_route_off:
        case reason::pass_store_down:
        case reason::pass_request_body: return "etagere; fwd=bypass";
        // Answered by us: neither a hit, nor has an origin answered.
        case reason::only_if_cached:
        case reason::refused:
        case reason::failed:
        case reason::none:
        case reason::count_: return "etagere";
    }
    return "etagere";
}

constexpr bool goes_forward(std::string_view form) noexcept {
    return form.find("fwd=") != std::string_view::npos;
}

void write(writer& out, const record& r, std::string_view start) noexcept {
    out += start;
    if (goes_forward(start)) {
        if (r.upstream_status != 0) {
            out += "; fwd-status=";
            out.number(r.upstream_status);
        }
        if (r.stored) out += "; stored";
        if (r.collapsed) out += "; collapsed";
    }
    if (r.has_ttl) {
        out += "; ttl=";
        out.number(r.ttl_s);
    }
    if (r.why != reason::none) {
        out += "; detail=";
        out += name(r.why);
    }
}

}  // namespace

void append_cache_status(std::string& out, const record& r) {
    constexpr std::size_t most_words = 96;  // all there are, without the texts
    const std::string_view start = form(r.why);
    append_at_most(out, start.size() + name(r.why).size() + 2 * writer::most_digits + most_words,
                   [&](writer& to) { write(to, r, start); });
}

}  // namespace etagere::observe
