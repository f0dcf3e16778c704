#include "etagere/cache/decisions.hpp"

#include "derive.hpp"
#include "freshness.hpp"
#include "reference.hpp"
#include "vary.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace etagere::cache {
namespace {

using namespace std::chrono_literals;
using http::field_id;

/// `names`: of fields without an id.
bool has_any(const http::fields& in, std::span<const std::string_view> names) noexcept {
    if (!in.has_others()) return false;
    return std::ranges::any_of(names, [&](std::string_view name) { return in.find(name).has_value(); });
}

// The body is not in the message: a web server in front is to send a file instead.
constexpr std::array<std::string_view, 4> sendfile_fields{"X-Sendfile", "X-Accel-Redirect", "X-Lighttpd-Send-File",
                                                          "X-Reproxy-URL"};
// A GET that asks its origin to be taken for something else: the answer is not the one to this key.
constexpr std::array<std::string_view, 3> method_override_fields{"X-HTTP-Method-Override", "X-HTTP-Method",
                                                                 "X-Method-Override"};

/// Whether the key tells apart who sent that request field, because the route says so.
bool key_covers(field_id credential, const http::request_head& request, const policy& rules) noexcept {
    if (!request.header.has(credential)) return true;
    const auto is_it = [credential](const std::string& name) { return http::find_field_id(name) == credential; };
    return std::ranges::any_of(rules.per_credential, is_it) || std::ranges::any_of(rules.key_headers, is_it);
}

/// Whether an answer meant for one user may be kept for that user: always in a private cache, in a shared one only
/// where the route asks for it; and only where the key holds every credential that came with the request.
bool may_keep_for_one_user(const http::request_head& request, const policy& rules) noexcept {
    if (rules.shared && (rules.on_private == private_rule::leave || rules.per_credential.empty())) return false;
    return key_covers(field_id::authorization, request, rules) && key_covers(field_id::cookie, request, rules);
}

/// RFC 9111 §3.5: directives that let a shared cache keep the answer to a request with Authorization.
bool permits_authorized(const response_directives& d) noexcept {
    return d.public_ || d.must_revalidate || d.s_maxage != absent;
}

/// RFC 9111 §7.3 and the rule of this house (README.md): whoever sends a cookie may get an answer made for that cookie,
/// so its origin has to say that the answer is for everybody, or that it depends on the cookie.
bool permits_cookie(const http::response_head& response, const response_directives& d) noexcept {
    return d.public_ || d.s_maxage != absent || varies_on(response.header, "Cookie");
}

/// Whose answer it is. `none` where it may be kept.
reason judge_ownership(const http::request_head& request, const http::response_head& response, const policy& rules,
                       const response_directives& d, bool& for_one_user) noexcept {
    const bool unpermitted_authorization = request.header.has(field_id::authorization) && !permits_authorized(d);
    const bool personal = d.private_ || unpermitted_authorization;
    if (personal && !may_keep_for_one_user(request, rules)) {
        return d.private_ ? reason::nostore_private : reason::nostore_authorization;
    }
    for_one_user = personal && rules.shared;
    if (rules.cookies == cookie_rule::plain) return reason::none;
    if (!key_covers(field_id::cookie, request, rules) && !permits_cookie(response, d)) return reason::nostore_cookie;
    // The field itself is never kept. That the rest is for everybody needs the origin's explicit word.
    const bool sets_cookie = response.header.has(field_id::set_cookie) || response.header.find("Set-Cookie2");
    if (rules.shared && sets_cookie && (!d.public_ || for_one_user)) return reason::nostore_set_cookie;
    return reason::none;
}

/// What cannot be kept whatever its directives say.
reason judge_form(const http::request_head& request, const http::response_head& response,
                  const policy& rules) noexcept {
    if (!rules.enabled) return reason::pass_route_off;
    if (request.verb != http::method::get && request.verb != http::method::head) return reason::pass_method;
    if (rules.stream || is_stream(response)) return reason::pass_stream;
    // RFC 9111 §3: final, and complete. 304, 412 and 416 answer one client's condition or range, and would be wrong for
    // everybody else; a 206 has a judge of its own (ranges.hpp).
    constexpr std::array of_one_request{206, 304, 412, 416};
    const bool final = response.status >= 200 && response.status <= 599;
    if (!final || std::ranges::find(of_one_request, response.status) != of_one_request.end()) {
        return reason::nostore_status;
    }
    if (has_any(request.header, method_override_fields)) return reason::nostore_policy;
    if (has_any(response.header, sendfile_fields)) return reason::nostore_sendfile;
    if (varies_on_everything(response.header)) return reason::nostore_vary_star;
    if (response.body.how == http::framing::kind::length && response.body.length > rules.max_object) {
        return reason::nostore_too_large;
    }
    return reason::none;
}

/// Whether a later request could make any use of it: served while fresh, validated, or stale where the origin itself
/// grants that. An error status without a lifetime falls out here (security: no poisoning by a 400 that says nothing).
reason judge_usefulness(const stored_response& facts, const policy& rules) noexcept {
    const response_directives& d = facts.directives;
    if (can_validate(facts)) return reason::none;
    const bool granted_stale = !stale_forbidden(facts, rules) && (d.stale_while_revalidate > 0 || d.stale_if_error > 0);
    const bool asks_first = d.no_cache || facts.always_validate;
    if (!asks_first && (freshness_lifetime(facts, rules) > 0s || granted_stale)) return reason::none;
    const bool silent_status = facts.status != 200 && !explicit_lifetime(facts, rules);
    return silent_status ? reason::nostore_status : reason::nostore_no_lifetime_no_validator;
}

}  // namespace

bool answers_later_gets(const http::request_head& request, const http::response_head& response, const policy& rules,
                        wall_time now) {
    if (request.verb != http::method::post || !rules.enabled) return false;
    const auto location = response.header.find(field_id::content_location);
    if (!location || resolve_same_origin(*location, request) != request.target) return false;
    stored_response facts;
    facts.status = response.status;
    facts.request_time = facts.response_time = now;
    govern(facts, response.header, rules);
    derive_from(facts, response.header);
    return explicit_lifetime(facts, rules).value_or(0s) > 0s;
}

// RFC 9111 §3
storability judge_storability(const http::request_head& request, const http::response_head& response,
                              const policy& rules, wall_time now) {
    const auto refuse = [](reason why) { return storability{.why = why}; };

    stored_response facts;
    facts.status = response.status;
    facts.request_time = facts.response_time = now;
    govern(facts, response.header, rules);
    derive_directives(facts, response.header);
    const response_directives& d = facts.directives;

    if (d.no_store) return refuse(d.must_understand ? reason::nostore_status : reason::nostore_no_store);
    // §5.2.1.5
    if (rules.client == client_directives::honour && parse_request_directives(request.header).no_store) {
        return refuse(reason::nostore_no_store);
    }
    if (const reason why = judge_form(request, response, rules); why != reason::none) return refuse(why);
    if (const reason why = judge_ownership(request, response, rules, d, facts.always_validate); why != reason::none) {
        return refuse(why);
    }
    derive_from(facts, response.header);
    if (const reason why = judge_usefulness(facts, rules); why != reason::none) return refuse(why);
    return {.store = true,
            .always_validate = facts.always_validate,
            .shareable = may_answer_others(facts, rules),
            .why = reason::none};
}

}  // namespace etagere::cache
