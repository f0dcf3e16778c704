#include "etagere/cache/explain.hpp"

#include "etagere/cache/ranges.hpp"

#include "freshness.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace etagere::cache {

using namespace std::chrono_literals;
using http::field_id;

std::string_view name(course c) noexcept {
    switch (c) {
        case course::serve: return "serve";
        case course::serve_stale: return "serve_stale";
        case course::validate: return "validate";
        case course::fetch: return "fetch";
        case course::pass: return "pass";
        case course::refuse: break;
    }
    return "refuse";
}

std::string_view words(event e) noexcept {
    switch (e) {
        case event::not_modified: return "the origin answers 304 Not Modified";
        case event::kept: return "the origin answers in full and the answer may be kept";
        case event::not_kept: return "the origin answers as it did last time";
        case event::client_not_modified: return "the origin answers 304 to the client's own condition";
        case event::success: return "the origin answers with success";
        case event::error_status: return "the origin answers 500, 502, 503 or 504";
        case event::no_answer: return "the origin does not answer";
        case event::leader_answered: break;
    }
    return "the request for the same that is under way brings an answer for both";
}

namespace {

constexpr std::array condition_fields{field_id::if_match,          field_id::if_none_match,
                                      field_id::if_modified_since, field_id::if_unmodified_since,
                                      field_id::if_range,          field_id::range};

http::fields conditions_in(const http::fields& header) {
    http::fields found;
    for (const http::fields::entry f : header) {
        if (std::ranges::find(condition_fields, f.id) != condition_fields.end()) {
            std::ignore = found.add(f.id, f.name, f.value);
        }
    }
    return found;
}

void serve(explanation& e, const stored_response& r, const http::request_head& request, const policy& rules,
           std::span<const stored_response* const> variants, wall_time now) {
    const stored_hints hints = hints_of(r, request, rules, variants);
    e.condition = evaluate_preconditions(request, r.status, r.etag(), r.last_modified, rules, now, hints);
    e.why = served_as(e.why, e.condition);
    e.status = e.condition == precondition::not_modified ? 304 : e.condition == precondition::failed ? 412 : r.status;
    if (e.condition != precondition::proceed) return;
    switch (answer_range(request, r).what) {
        case range_answer::kind::single:
        case range_answer::kind::several: e.status = 206; break;
        case range_answer::kind::unsatisfiable: e.status = 416; break;
        case range_answer::kind::whole:
        case range_answer::kind::not_held: break;
    }
}

void ask(explanation& e, const stored_response* chosen, const http::request_head& request, const policy& rules,
         std::span<const stored_response* const> variants, const key_knowledge& known, wall_time now,
         credential_digest digest, purge_state purge) {
    // RFC 9111 §3.3: a part of what is not here whole is asked for as a part.
    const bool whole_is_here = chosen != nullptr && !chosen->is_partial();
    const auto part = whole_is_here ? std::nullopt : wanted_range(request);
    const bool alone = known.not_kept != reason::none;
    e.asks_in_full = e.what == course::validate || !alone;
    const bool offers =
        e.what == course::validate || (e.why == reason::miss_vary && !alone && request.verb != http::method::head);
    const tag_offer offer = offers ? make_offer(chosen, variants, &request, rules, digest, known.form) : tag_offer{};
    http::fields header = request.header;
    if (e.asks_in_full || part) {
        write_offer(header, offer);
    } else {
        add_repaired_tags(header, rules);
    }
    for (const field_id id : {field_id::range, field_id::if_range}) header.erase(id);
    if (!offer.empty()) {
        e.then.push_back({event::not_modified, reason::revalidated});
    }
    if (part) {
        header.append(field_id::range, http::to_string(*part));
    } else if (chosen != nullptr && e.why == reason::miss_partial) {
        add_completion(header, *chosen);
    }
    e.conditions = conditions_in(header);
    e.then.push_back({event::kept, e.what == course::validate ? reason::revalidated_changed : e.why});
    if (alone) e.then.push_back({event::not_kept, known.not_kept});
    if (!e.asks_in_full && !e.conditions.empty()) {
        e.then.push_back({event::client_not_modified, reason::nostore_hit_for_miss});
    }
    if (known.in_flight && rules.collapse && !alone) {
        e.then.push_back({event::leader_answered, reason::collapsed_local});
    }
    const auto stands_in = [&](origin_failure how) {
        return chosen != nullptr && may_serve_on_error(*chosen, rules, how, now, purge);
    };
    if (stands_in(origin_failure::error_status)) e.then.push_back({event::error_status, reason::hit_stale_error});
    e.then.push_back(
        {event::no_answer, stands_in(origin_failure::no_answer) ? reason::hit_stale_error : reason::failed});
}

course course_of(reuse_action a) noexcept {
    switch (a) {
        case reuse_action::serve: return course::serve;
        case reuse_action::serve_revalidate: return course::serve_stale;
        case reuse_action::validate: return course::validate;
        case reuse_action::refuse: return course::refuse;
        case reuse_action::complete:
        case reuse_action::fetch: break;
    }
    return course::fetch;
}

}  // namespace

explanation explain(const http::request_head& request, const policy& rules,
                    std::span<const stored_response* const> variants, const key_knowledge& known, wall_time now,
                    credential_digest digest) {
    explanation e;
    const request_decision klass = classify(request, rules);
    e.klass = klass.what;
    e.why = klass.why;
    if (e.klass != request_class::cacheable) {
        e.what = course::pass;
        e.conditions = conditions_in(request.header);
        return e;
    }
    choice made = choose(variants, request, rules, now, digest);
    const auto at = static_cast<std::size_t>(made.at);
    const stored_response* chosen = made.at < 0 ? nullptr : variants[at];
    const purge_state purge = chosen != nullptr && at < known.purges.size() ? known.purges[at] : purge_state{};
    if (purge.how != purged::no) made.decision = decide_reuse(chosen, true, request, rules, now, purge);
    if (purge.how == purged::hard) {  // nothing of it is used, its validators neither
        chosen = nullptr;
        made.at = -1;
    }
    e.at = made.at;
    e.age = made.decision.age;
    e.ttl = made.decision.ttl;
    e.why = made.decision.why;
    e.what = course_of(made.decision.what);
    switch (e.what) {
        case course::serve:
        case course::serve_stale:
            if (chosen != nullptr) serve(e, *chosen, request, rules, variants, now);
            break;
        case course::refuse: e.status = 504; break;  // RFC 9111 §5.2.1.7
        case course::validate:
        case course::fetch:
        case course::pass: ask(e, chosen, request, rules, variants, known, now, digest, purge); break;
    }
    return e;
}

freshness freshness_of(const stored_response& r, const policy& rules, wall_time now) {
    freshness f;
    f.age = current_age(r, now);
    f.fresh_for = find_lifetime(r, rules);
    f.ttl = f.fresh_for.value - f.age;
    f.while_revalidate = stale_while_revalidate_window(r, rules);
    f.if_error = stale_if_error_window(r, rules, origin_failure::error_status);
    f.if_unreachable = stale_if_error_window(r, rules, origin_failure::no_answer);
    f.stale_forbidden = stale_forbidden(r, rules);
    f.can_validate = can_validate(r);
    return f;
}

std::vector<phase> phases_of(const stored_response& r, const http::request_head& request, const policy& rules,
                             wall_time now) {
    const freshness f = freshness_of(r, rules, now);
    const seconds forgotten = std::max(0s, std::chrono::ceil<seconds>(keep_until(r, rules) - now) + 1s);
    // Only there can the decision change. Ages are whole seconds, so one is added where a fraction may be hidden.
    std::vector<seconds> borders{0s, f.ttl, f.ttl + 1s, f.ttl + f.while_revalidate, f.ttl + f.while_revalidate + 1s};
    std::ranges::sort(borders);
    std::vector<phase> found;
    for (const seconds after : borders) {
        if (after < 0s || after >= forgotten) continue;
        const reuse_decision d = decide_reuse(&r, true, request, rules, now + after);
        if (found.empty() || found.back().what != d.what) found.push_back({after, d.what, d.why});
    }
    found.push_back({forgotten, reuse_action::fetch, reason::miss_cold});
    return found;
}

fate foretell(const http::request_head& request, const http::response_head& response, const policy& rules,
              wall_time now, credential_digest digest) {
    fate f;
    f.may = judge_storability(request, response, rules, now);
    f.own_etag = wants_own_etag(request, response, rules);
    if (!f.may.store) return f;
    f.kept = make_stored(request, response, rules, now, now, digest);
    f.kept->always_validate = f.may.always_validate;
    f.phases = phases_of(*f.kept, request, rules, now);
    return f;
}

}  // namespace etagere::cache
