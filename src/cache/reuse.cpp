#include "etagere/cache/decisions.hpp"
#include "etagere/cache/ranges.hpp"

#include "freshness.hpp"

namespace etagere::cache {

using namespace std::chrono_literals;

request_decision classify(const http::request_head& request, const policy& rules) {
    // An unsafe request has to be seen by whoever invalidates, also where the route keeps nothing itself.
    if (!http::is_safe(request.verb)) {
        return {request_class::unsafe, request.upgrade.empty() ? reason::pass_method : reason::pass_upgrade};
    }
    const auto pass = [](reason why) { return request_decision{request_class::pass, why}; };
    if (!rules.enabled) return pass(reason::pass_route_off);
    if (!request.upgrade.empty()) return pass(reason::pass_upgrade);
    if (request.verb != http::method::get && request.verb != http::method::head) return pass(reason::pass_method);
    if (rules.stream) return pass(reason::pass_stream);
    // RFC 9110 §9.3.1: content of a GET has no meaning that a key could hold, but some origins read it.
    if (request.body.has_body()) return pass(reason::pass_request_body);
    if (rules.client == client_directives::honour && parse_request_directives(request.header).no_store) {
        return pass(reason::pass_client_directive);
    }
    return {};
}

namespace {

/// The client's wishes where the route honours them, otherwise none (RFC 9111 §5.2.1: they are advisory).
request_directives honoured_directives(const http::request_head& request, const policy& rules) {
    return rules.client == client_directives::honour ? parse_request_directives(request.header) : request_directives{};
}

/// RFC 9111 §5.2.1.1, §5.2.1.3, §5.2.1.4: what the client says about the answer, had we one. max-age=0 is how browsers
/// ask for a check, so it asks also in the second in which the answer was made and its age is still 0.
bool client_wants_to_ask(const request_directives& client, seconds age, seconds ttl) noexcept {
    return client.no_cache || client.no_store ||
           (client.max_age != absent && (client.max_age == 0 || age > seconds(client.max_age))) ||
           (client.min_fresh != absent && ttl < seconds(client.min_fresh));
}

/// RFC 9111 §3.3: what to do where a part cannot answer this request; nullopt where it can.
std::optional<reuse_action> beyond_the_part(const stored_response& r, const http::request_head& request) noexcept {
    const range_answer answer = answer_range(request, r);
    if (can_answer(r, answer)) return std::nullopt;
    const bool something_missing_only = missing_range(r).size() < r.rest->complete_length;
    return answer.what == range_answer::kind::whole && something_missing_only ? reuse_action::complete
                                                                              : reuse_action::fetch;
}

/// How stale an answer the client takes (RFC 9111 §5.2.1.2), where the origin does not forbid it.
bool client_takes_stale(const request_directives& client, seconds staleness) noexcept {
    return client.max_stale != absent && staleness <= seconds(client.max_stale);
}

}  // namespace

// RFC 9111 §4
reuse_decision decide_reuse(const stored_response* chosen, bool other_variants, const http::request_head& request,
                            const policy& rules, wall_time now, purge_state purge) noexcept {
    const request_directives client = honoured_directives(request, rules);
    reuse_decision decision;
    decision.reload = client.no_cache;
    const auto decide = [&](reuse_action what, reason why) {
        decision.what = what;
        decision.why = why;
        return decision;
    };
    const auto ask_origin = [&](reuse_action how, reason why) {
        // §5.2.1.7
        return client.only_if_cached ? decide(reuse_action::refuse, reason::only_if_cached) : decide(how, why);
    };
    if (chosen == nullptr) {
        return ask_origin(reuse_action::fetch, other_variants ? reason::miss_vary : reason::miss_cold);
    }

    if (purge.how == purged::hard) return ask_origin(reuse_action::fetch, reason::miss_purged);

    const stored_response& r = *chosen;
    decision.age = current_age(r, now);
    decision.ttl = freshness_lifetime(r, rules) - decision.age;
    if (purge.how == purged::soft) decision.ttl = std::min(decision.ttl, -time_since(purge, now));
    if (must_forget(r, rules)) return ask_origin(reuse_action::fetch, reason::revalidated_changed);

    if (r.is_partial()) {
        if (const auto beyond = beyond_the_part(r, request)) return ask_origin(*beyond, reason::miss_partial);
    }

    // §5.2.2.4: no-cache asks whatever the age.
    const bool must_ask =
        r.directives.no_cache || r.always_validate || client_wants_to_ask(client, decision.age, decision.ttl);
    if (!must_ask) {
        // §4.2: response_is_fresh = (freshness_lifetime > current_age)
        if (decision.ttl > 0s) return decide(reuse_action::serve, reason::hit_fresh);
        const seconds staleness = -decision.ttl;
        if (staleness < stale_while_revalidate_window(r, rules) ||
            (client_takes_stale(client, staleness) && !stale_forbidden(r, rules))) {
            return decide(reuse_action::serve_revalidate, reason::hit_stale_revalidating);
        }
    }
    // Without a validator the origin is asked in full; to the outside that is a revalidation that found a new answer.
    if (can_validate(r)) return ask_origin(reuse_action::validate, reason::revalidated);
    return ask_origin(reuse_action::fetch, reason::revalidated_changed);
}

choice choose(std::span<const stored_response* const> variants, const http::request_head& request, const policy& rules,
              wall_time now, credential_digest digest) {
    choice made;
    made.at = select_variant(variants, request, rules, digest);
    const stored_response* const chosen = made.at < 0 ? nullptr : variants[static_cast<std::size_t>(made.at)];
    made.decision = decide_reuse(chosen, !variants.empty(), request, rules, now);
    return made;
}

}  // namespace etagere::cache
