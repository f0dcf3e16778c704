#include "freshness.hpp"

#include <algorithm>
#include <array>

namespace etagere::cache {
namespace {

using std::chrono::floor;
using namespace std::chrono_literals;

// The Date of the response, or when it came (RFC 9110 §6.6.1).
wall_seconds date_value(const stored_response& r) noexcept {
    return r.date.value_or(floor<seconds>(r.response_time));
}

// RFC 9111 §4.2.3. Date says whole seconds, so apparent_age is whole seconds too; everything that we measured ourselves
// counts in milliseconds. A clock that was set back between request and response must not make a response younger.
milliseconds corrected_initial_age(const stored_response& r) noexcept {
    const seconds apparent_age = std::max(0s, floor<seconds>(r.response_time) - date_value(r));
    const milliseconds response_delay = std::max(0ms, r.response_time - r.request_time);
    const milliseconds corrected_age_value = r.age_value + response_delay;
    return std::max<milliseconds>(apparent_age, corrected_age_value);
}

// RFC 9111 §4.2.2: a tenth of the time since the last change, and a day at most.
seconds heuristic_lifetime(const stored_response& r) noexcept {
    if (!r.last_modified || !(is_heuristically_cacheable(r.status) || r.directives.public_)) return 0s;
    return std::min<seconds>((date_value(r) - *r.last_modified) / 10, std::chrono::hours(24));
}

// Whether the route's own lifetime may apply. An error is never kept by a general rule, only by one for its status.
bool is_successful_answer(int status) noexcept {
    return status < 400 && is_heuristically_cacheable(status);
}

// RFC 9111 §4.2.1. May be negative: an Expires before the Date.
std::optional<lifetime> origins_lifetime(const stored_response& r, const policy& rules) noexcept {
    const response_directives& d = r.directives;
    if (rules.shared && d.s_maxage != absent) return lifetime{seconds(d.s_maxage), lifetime_source::s_maxage};
    if (d.max_age != absent) return lifetime{seconds(d.max_age), lifetime_source::max_age};
    if (r.expires_invalid) return lifetime{0s, lifetime_source::expires_invalid};  // RFC 9111 §5.3
    if (r.expires) return lifetime{*r.expires - date_value(r), lifetime_source::expires};
    return std::nullopt;
}

lifetime uncapped_lifetime(const stored_response& r, const policy& rules) noexcept {
    if (rules.override_lifetime && is_successful_answer(r.status)) {
        return {rules.default_lifetime, lifetime_source::route_override};
    }
    if (const auto said = origins_lifetime(r, rules)) return *said;
    for (const auto& [status, lifetime] : rules.negative) {
        if (status == r.status) return {lifetime, lifetime_source::route_negative};
    }
    if (rules.has_default_lifetime && is_successful_answer(r.status)) {
        return {rules.default_lifetime, lifetime_source::route_default};
    }
    if (!rules.heuristic_freshness) return {};
    const seconds guessed = heuristic_lifetime(r);
    return {guessed, guessed > 0s ? lifetime_source::heuristic : lifetime_source::none};
}

}  // namespace

bool is_heuristically_cacheable(int status) noexcept {
    constexpr std::array statuses{200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501};
    return std::ranges::find(statuses, status) != statuses.end();
}

std::optional<seconds> explicit_lifetime(const stored_response& r, const policy& rules) noexcept {
    const auto said = origins_lifetime(r, rules);
    return said ? std::optional(said->value) : std::nullopt;
}

seconds current_age(const stored_response& r, wall_time now) noexcept {
    const milliseconds resident_time = std::max(0ms, now - r.response_time);
    return floor<seconds>(corrected_initial_age(r) + resident_time);
}

lifetime find_lifetime(const stored_response& r, const policy& rules) noexcept {
    lifetime found = uncapped_lifetime(r, rules);
    found.capped = rules.max_lifetime > 0s && found.value > rules.max_lifetime;
    if (found.capped) found.value = rules.max_lifetime;
    found.value = std::max(found.value, 0s);
    return found;
}

seconds freshness_lifetime(const stored_response& r, const policy& rules) noexcept {
    return find_lifetime(r, rules).value;
}

// RFC 9111 §4.2.4. s-maxage includes proxy-revalidate (§5.2.2.10); no-cache and a route's own condition mean that
// nothing may be used without asking.
bool stale_forbidden(const stored_response& r, const policy& rules) noexcept {
    const response_directives& d = r.directives;
    if (d.must_revalidate || d.no_cache || r.always_validate) return true;
    return rules.shared && (d.proxy_revalidate || d.s_maxage != absent);
}

bool must_forget(const stored_response& r, const policy& rules) noexcept {
    return r.directives.no_store || (rules.shared && r.directives.private_ && !r.always_validate);
}

bool can_validate(const stored_response& r) noexcept {
    return (r.status == 200 || r.is_partial()) && r.has_validator();
}

bool may_answer_others(const stored_response& r, const policy& rules) noexcept {
    return !r.always_validate && !r.directives.no_cache && !must_forget(r, rules);
}

seconds stale_while_revalidate_window(const stored_response& r, const policy& rules) noexcept {
    if (stale_forbidden(r, rules)) return 0s;
    if (r.directives.stale_while_revalidate != absent) return seconds(r.directives.stale_while_revalidate);
    // Without a lifetime it was kept on the understanding that the origin is asked each time; the route's window
    // extends a lifetime, it does not make one.
    return freshness_lifetime(r, rules) > 0s ? rules.stale_while_revalidate : 0s;
}

seconds stale_if_error_window(const stored_response& r, const policy& rules, origin_failure how) noexcept {
    if (stale_forbidden(r, rules)) return 0s;
    if (r.directives.stale_if_error != absent) return seconds(r.directives.stale_if_error);
    const seconds unreachable = how == origin_failure::no_answer ? rules.stale_if_unreachable : 0s;
    return std::max(rules.stale_if_error, unreachable);
}

seconds time_since(const purge_state& purge, wall_time now) noexcept {
    return floor<seconds>(std::max(0ms, now - purge.since));
}

bool may_serve_on_error(const stored_response& r, const policy& rules, origin_failure how, wall_time now,
                        purge_state purge) noexcept {
    if (must_forget(r, rules) || stale_forbidden(r, rules) || purge.how == purged::hard) return false;
    seconds staleness = current_age(r, now) - freshness_lifetime(r, rules);
    if (purge.how == purged::soft) staleness = std::max(staleness, time_since(purge, now));
    return staleness < stale_if_error_window(r, rules, how);
}

wall_time keep_until(const stored_response& r, const policy& rules) noexcept {
    if (must_forget(r, rules)) return r.response_time;
    const milliseconds fresh_for = std::max<milliseconds>(0ms, freshness_lifetime(r, rules) - corrected_initial_age(r));
    const seconds revival = can_validate(r) ? rules.validate_for : 0s;
    const seconds afterwards = std::max(
        {revival, stale_while_revalidate_window(r, rules), stale_if_error_window(r, rules, origin_failure::no_answer)});
    return r.response_time + fresh_for + afterwards;
}

}  // namespace etagere::cache
