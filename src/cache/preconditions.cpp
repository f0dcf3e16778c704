#include "etagere/cache/decisions.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/entity_tag.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>

namespace etagere::cache {
namespace {

using http::field_id;
using http::tag_match;

/// A condition whose date cannot be read, or that has nothing to be compared with, is as if it were not there (RFC 9110
/// §13.1.3, §13.1.4).
std::optional<wall_seconds> date_of(const http::fields& request, field_id id, wall_time now) noexcept {
    const auto text = request.find(id);
    return text ? http::parse_date(*text, now) : std::nullopt;
}

bool ends_in_cache_control(std::string_view name) noexcept {
    constexpr std::string_view end = "-Cache-Control";
    return name.size() > end.size() && http::iequals(name.substr(name.size() - end.size()), end);
}

}  // namespace

bool has_precondition(const http::fields& request) noexcept {
    return request.has(field_id::if_none_match) || request.has(field_id::if_modified_since) ||
           request.has(field_id::if_match) || request.has(field_id::if_unmodified_since);
}

// RFC 9110 §13.2.2, step by step.
precondition evaluate_preconditions(const http::request_head& request, int status, std::string_view etag,
                                    std::optional<wall_seconds> last_modified, const policy& rules, wall_time now,
                                    const stored_hints& hints) noexcept {
    // §13.2.1; a Range is looked at afterwards (§13.2.2), so a 206 is what would be a 200.
    if (status != 200 && status != 206) return precondition::proceed;
    const http::fields& header = request.header;
    if (!has_precondition(header)) return precondition::proceed;
    const bool retrieves = request.verb == http::method::get || request.verb == http::method::head;
    const auto tag = http::parse_entity_tag(etag);

    // 1. and 2.
    const tag_match if_match = http::match_if_match(header, tag);
    if (if_match == tag_match::differs) return precondition::failed;
    if (if_match == tag_match::absent && last_modified) {
        const auto date = date_of(header, field_id::if_unmodified_since, now);
        if (date && *last_modified > *date) return precondition::failed;
    }
    // 3.
    const bool removes = rules.repair_suffix && !hints.suffix_is_another;
    const tag_match if_none_match = http::match_if_none_match(
        header, tag, rules.if_none_match, removes ? http::suffix_reading::removed : http::suffix_reading::kept);
    if (if_none_match == tag_match::any || if_none_match == tag_match::matches) {
        return retrieves ? precondition::not_modified : precondition::failed;
    }
    // 4.
    const auto changed = last_modified ? last_modified : hints.date;
    if (if_none_match == tag_match::absent && retrieves && changed) {
        const auto date = date_of(header, field_id::if_modified_since, now);
        if (date && *changed <= *date) return precondition::not_modified;
    }
    return precondition::proceed;
}

reason served_as(reason why, precondition condition) noexcept {
    if (why != reason::hit_fresh) return why;
    switch (condition) {
        case precondition::not_modified: return reason::hit_not_modified;
        case precondition::failed: return reason::hit_precondition_failed;
        case precondition::proceed: break;
    }
    return why;
}

bool suffix_names_another(const http::fields& request, const stored_response& chosen,
                          std::span<const stored_response* const> variants) noexcept {
    if (!request.has(field_id::if_none_match)) return false;
    return std::ranges::any_of(variants, [&](const stored_response* v) {
        const auto tag = v == &chosen ? std::nullopt : v->tag();
        const std::string_view coding = tag ? http::suffix_coding(tag->opaque) : std::string_view{};
        if (coding.empty() || http::iequals(http::trim(v->header.get(field_id::content_encoding)), coding))
            return false;
        return http::match_if_none_match(request, tag, http::tag_reading::lenient) == tag_match::matches;
    });
}

stored_hints hints_of(const stored_response& chosen, const http::request_head& request, const policy& rules,
                      std::span<const stored_response* const> variants) noexcept {
    return {.date = chosen.date,
            .suffix_is_another = rules.repair_suffix && suffix_names_another(request.header, chosen, variants)};
}

// RFC 9110 §15.4.5
bool belongs_in_not_modified(const http::fields::entry& field, bool has_etag) noexcept {
    switch (field.id) {
        case field_id::cache_control:
        case field_id::content_location:
        case field_id::date:
        case field_id::etag:
        case field_id::expires:
        case field_id::vary: return true;
        case field_id::last_modified: return !has_etag;
        // RFC 9213 §2.1: the names of targeted fields end so, and they stand beside Cache-Control.
        default: return ends_in_cache_control(field.name);
    }
}

}  // namespace etagere::cache
