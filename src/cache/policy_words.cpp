// A policy as sentences for people.
#include "etagere/cache/explain.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace etagere::cache {

using namespace std::chrono_literals;

std::string duration_text(milliseconds d) {
    if (d < 0ms) return "-" + duration_text(-d);
    if (d == 0ms) return "0s";
    constexpr std::array<std::pair<std::int64_t, std::string_view>, 5> units{
        {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}, {1, "ms"}}};
    std::string out;
    std::int64_t left = d.count();
    for (const auto& [unit, suffix] : units) {
        if (left / unit == 0) continue;
        out += std::to_string(left / unit);
        out += suffix;
        left %= unit;
    }
    return out;
}

bool is_secret_name(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 9> marks{"auth",    "cookie", "token",   "secret",    "password",
                                                    "api-key", "apikey", "session", "credential"};
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const auto holds = [&](std::string_view mark) { return !std::ranges::search(name, mark, {}, lower).empty(); };
    return std::ranges::any_of(marks, holds) && !http::iequals(name, ":authority");
}

namespace {

std::string join(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) {
        if (!out.empty()) out += ", ";
        out += name;
    }
    return out;
}

std::string lifetime_words(const policy& p) {
    std::string out = "what the origin says";
    if (p.override_lifetime) {
        out = duration_text(p.default_lifetime) + " for successful answers, whatever the origin says";
    } else if (p.has_default_lifetime) {
        out += ", or " + duration_text(p.default_lifetime) + " where it is silent";
    } else if (p.heuristic_freshness) {
        out += ", or a tenth of the time since Last-Modified where it is silent";
    } else {
        out += "; where it is silent, the answer is kept only with a validator and asked for every time";
    }
    for (const auto& [status, lifetime] : p.negative) {
        out += "; " + std::to_string(status) + ": " + duration_text(lifetime);
    }
    if (p.max_lifetime > 0s) out += "; never more than " + duration_text(p.max_lifetime);
    return out;
}

std::string stale_words(const policy& p) {
    std::string out;
    const auto add = [&out](seconds window, std::string_view when) {
        if (window <= 0s) return;
        out += (out.empty() ? "" : ", ") + duration_text(window);
        out += when;
    };
    add(p.stale_while_revalidate, " while it is refreshed");
    add(p.stale_if_error, " instead of an error");
    add(p.stale_if_unreachable, " while the origin cannot be reached");
    return out.empty() ? "only as far as the origin grants it" : out + ", where the origin does not forbid it";
}

std::string key_words(const policy& p) {
    std::string out = "route, scheme, host and port, target";
    if (p.query.sort) out += " with its query sorted";
    if (!p.query.ignore.empty()) out += " without " + join(p.query.ignore);
    if (!p.key_headers.empty()) out += "; fields " + join(p.key_headers);
    if (!p.key_cookies.empty()) out += "; cookies " + join(p.key_cookies);
    if (!p.per_credential.empty()) out += "; digests of " + join(p.per_credential);
    if (p.no_vary_search) out += "; No-Vary-Search of the origin is believed";
    return out;
}

std::string private_words(const policy& p) {
    if (!p.shared) return "kept: this is the private cache of one consumer";
    return p.on_private == private_rule::leave ? "not kept"
                                               : "kept for one user, under the digest of " + join(p.per_credential) +
                                                     ", and asked for before every use";
}

std::string vary_words(const policy& p) {
    std::vector<std::string> same;
    if (p.normalize_accept_encoding) same.emplace_back("Accept-Encoding");
    if (p.normalize_accept_language) same.emplace_back("Accept-Language");
    if (p.normalize_accept) same.emplace_back("Accept");
    return "at most " + std::to_string(p.max_variants) + " variants of a key; " +
           (same.empty() ? "values are compared as they are" : "equal meanings of " + join(same) + " are one");
}

std::string etag_words(const policy& p) {
    std::string out = p.etag_when_missing == etag_making::off    ? "none of our own"
                      : p.etag_when_missing == etag_making::weak ? "a weak one where the origin sends none"
                                                                 : "a strong one where the origin sends none";
    if (p.etag_when_missing != etag_making::off) {
        out += ", from the body, up to " + std::to_string(p.etag_max_body) + " bytes that arrive within " +
               duration_text(p.etag_max_hold);
    }
    if (!p.json_ignore.empty()) out += "; JSON without " + join(p.json_ignore);
    if (p.if_none_match == http::tag_reading::lenient) out += "; lost quotes are forgiven";
    if (p.repair_weak_prefix) out += "; W/ that was added on the way is undone";
    if (p.repair_suffix) out += "; -gzip and the like are undone";
    if (p.audit > 0) out += "; " + std::to_string(p.audit * 100).substr(0, 5) + " % of the 304s are audited";
    return out;
}

}  // namespace

std::vector<rule> describe(const policy& p) {
    if (!p.enabled) return {{"cache", "off: requests pass"}};
    if (p.stream) return {{"stream", "answers are never buffered, tagged or stored"}};
    std::vector<rule> out{
        {"mode", p.shared ? "shared between clients (RFC 9111 §1)" : "private to one consumer"},
        {"lifetime", lifetime_words(p)},
        {"stale", stale_words(p)},
        {"validate_for", duration_text(p.validate_for) + " after that a 304 can revive it"},
        {"private", private_words(p)},
        {"cookies", p.cookies == cookie_rule::guard
                        ? "an answer to a request with cookies is kept only where it says it is for everybody"
                        : "fields like others"},
        {"client_directives", p.client == client_directives::honour
                                  ? "honoured: no-cache, max-age, min-fresh, max-stale, no-store, only-if-cached"
                                  : "ignored: clients cannot ask past the cache"},
        {"targeted",
         p.targeted.empty() ? "Cache-Control alone" : join(p.targeted) + " go before Cache-Control (RFC 9213)"},
        {"key", key_words(p)},
        {"vary", vary_words(p)},
        {"collapse", p.collapse ? "requests for one thing at one time are one, waiting " +
                                      duration_text(p.collapse_wait) + " at most"
                                : "off: every request asks for itself"},
        {"max_object", std::to_string(p.max_object) + " bytes of body; larger ones pass unstored"},
        {"etag", etag_words(p)},
    };
    if (!p.tag_fields.empty() || !p.tags.empty()) {
        std::string text = p.tag_fields.empty() ? std::string{} : "from " + join(p.tag_fields);
        if (!p.tags.empty()) text += (text.empty() ? "" : "; ") + ("always " + join(p.tags));
        out.push_back({"tags", std::move(text)});
    }
    if (!p.compress.empty()) out.push_back({"compress", "bodies above " + std::to_string(p.compress_above) + " bytes"});
    return out;
}

std::string words(const lifetime& l, const stored_response& r) {
    const std::string governing = r.rest->control.empty() ? "Cache-Control" : r.rest->control;
    std::string out;
    switch (l.from) {
        case lifetime_source::none: return "nobody gives it a lifetime";
        case lifetime_source::s_maxage: out = "s-maxage of " + governing; break;
        case lifetime_source::max_age: out = "max-age of " + governing; break;
        case lifetime_source::expires: out = "Expires less Date"; break;
        case lifetime_source::expires_invalid: out = "Expires is no date, so it is in the past"; break;
        case lifetime_source::route_override: out = "lifetime.default of the route, which overrides"; break;
        case lifetime_source::route_negative:
            out = "negative of the route, for status " + std::to_string(r.status);
            break;
        case lifetime_source::route_default: out = "lifetime.default of the route; the origin is silent"; break;
        case lifetime_source::heuristic: out = "a tenth of the time since Last-Modified; the origin is silent"; break;
    }
    if (l.capped) out += ", cut by lifetime.max of the route";
    return out;
}

}  // namespace etagere::cache
