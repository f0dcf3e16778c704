#include "validation.hpp"

#include "etagere/cache/decisions.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/lists.hpp"

#include "derive.hpp"
#include "stored_fields.hpp"
#include "vary.hpp"

#include <algorithm>
#include <array>

namespace etagere::cache {

using http::field_id;

void strip_conditions(http::fields& request) noexcept {
    for (const field_id id : {field_id::if_match, field_id::if_none_match, field_id::if_modified_since,
                              field_id::if_unmodified_since, field_id::if_range, field_id::range}) {
        request.erase(id);
    }
}

bool same_tag(std::string_view a, std::string_view b) noexcept {
    if (a == b) return true;
    const auto x = http::parse_entity_tag(a);
    const auto y = http::parse_entity_tag(b);
    return x && y && http::weak_equal(*x, *y);
}

namespace {

/// RFC 9111 §4.3.4: does this 304 speak of that stored response?
bool names_other_response(const stored_response& r, const http::fields& not_modified) noexcept {
    const std::string_view tag = http::trim(not_modified.get(field_id::etag));
    const std::string_view changed = not_modified.get(field_id::last_modified);
    const bool other_date =
        !changed.empty() && (!r.last_modified || http::parse_date(changed, r.response_time) != r.last_modified);
    if (tag.empty()) return other_date;
    if (!r.etag().empty() && !r.own_etag) return !same_tag(tag, r.etag());
    // It was validated by its date alone and the origin adds a tag now: only with the same date are they the same.
    return other_date || changed.empty();
}

}  // namespace

bool widens_selection(const stored_response& r, const http::fields& not_modified) noexcept {
    if (varies_on_everything(not_modified)) return true;
    return !http::for_each_member(not_modified, field_id::vary, [&](std::string_view member) {
        // Accept-Encoding may select nothing although it is named: where the route codes, the origin never sees it.
        return varies_on(r.header, member) || std::ranges::any_of(r.selecting, [member](const selection::entry& s) {
                   return http::iequals(s.name, member);
               });
    });
}

validation judge_validation(const stored_response& r, const http::response_head& answer) noexcept {
    if (answer.status == 304) {
        const bool unrelated =
            !can_validate(r) || names_other_response(r, answer.header) || widens_selection(r, answer.header);
        return unrelated ? validation::unrelated : validation::freshened;
    }
    // RFC 5861 §4 names the errors that a stale response may stand in for.
    constexpr std::array errors{500, 502, 503, 504};
    return std::ranges::find(errors, answer.status) != errors.end() ? validation::error : validation::changed;
}

bool head_confirms(const stored_response& r, const http::response_head& answer) noexcept {
    const std::string_view tag = http::trim(answer.header.get(field_id::etag));
    const auto modified = http::parse_date(answer.header.get(field_id::last_modified), r.response_time);
    const bool same_length =
        answer.declared_length < 0 || static_cast<std::uint64_t>(answer.declared_length) == r.body_size;
    if (answer.status != 200 || r.status != 200 || !same_length) return false;
    if (!tag.empty() && !r.etag().empty() && !r.own_etag) return same_tag(tag, r.etag());
    return modified && modified == r.last_modified;
}

namespace {

bool is_replaced(const http::fields::entry& f, const policy& rules) noexcept {
    return is_stored(f, rules) && !stays_when_freshened(f);
}

/// The only line of the same name as `f`; without where there is none, or several.
std::optional<http::fields::entry> only_line(const http::fields& in, const http::fields::entry& f) noexcept {
    std::optional<http::fields::entry> found;
    for (const http::fields::entry other : in) {
        if (other.id != f.id || (f.id == field_id::other && !http::iequals(other.name, f.name))) continue;
        if (found) return std::nullopt;
        found = other;
    }
    return found;
}

/// Whether this field of a 304 says, octet by octet, what is kept.
bool is_repeated(const http::fields& kept, const http::fields& not_modified, const http::fields::entry& f) noexcept {
    const auto k = only_line(kept, f);
    return k && k->name == f.name && k->value == f.value && only_line(not_modified, f);
}

/// What most 304s are: they repeat what is stored, and give it a new date.
bool changes_only_date(const stored_response& r, const http::fields& not_modified, const policy& rules) noexcept {
    if (not_modified.has(field_id::etag) && (r.etag().empty() || r.own_etag)) return false;
    if (not_modified.count(field_id::date) > 1) return false;
    for (const http::fields::entry f : not_modified) {
        if (f.id == field_id::date || is_repeated(r.header, not_modified, f)) continue;
        if (is_replaced(f, rules)) return false;
    }
    return governing_field(r.header, rules.targeted) == r.rest->control;
}

}  // namespace

bool says_nothing_new(const stored_response& r, const http::response_head& not_modified, const policy& rules,
                      wall_time response_time) noexcept {
    // Its age and the time that it is kept for are the same then, but for less than a second.
    const milliseconds since = response_time - r.response_time;
    const bool just_now = since >= milliseconds(0) && since < seconds(1);
    if (!just_now || r.age_value != seconds(0) || not_modified.header.has(field_id::age)) return false;
    return r.date && not_modified.header.get(field_id::date) == r.header.get(field_id::date) &&
           changes_only_date(r, not_modified.header, rules);
}

// RFC 9111 §3.2. All lines of a field that the 304 has take the place of all stored ones.
stored_response freshen(const stored_response& r, const http::response_head& not_modified, const policy& rules,
                        wall_time request_time, wall_time response_time) {
    stored_response fresh = r;
    fresh.request_time = request_time;
    fresh.response_time = response_time;
    fresh.age_value = read_age(not_modified.header);
    // RFC 9110 §6.6.1: the stored Date is not that of the 304, so where the 304 has none it is now.
    std::string_view date = not_modified.header.get(field_id::date);
    std::optional<wall_seconds> dated = http::parse_date(date, response_time);
    std::string now;
    if (!dated) {
        dated = std::chrono::floor<seconds>(response_time);
        date = now = http::format_date(*dated);
    }
    if (changes_only_date(r, not_modified.header, rules) && fresh.header.overwrite(field_id::date, date)) {
        fresh.date = dated;
        return fresh;
    }

    for (const http::fields::entry f : not_modified.header) {
        if (is_replaced(f, rules)) fresh.header.erase(f.name);
    }
    for (const http::fields::entry f : not_modified.header) {
        if (is_replaced(f, rules)) fresh.header.append(f);
    }
    // The tag that clients hold stays, byte for byte: "x" and W/"x" are one. Where the origin had none, its own one
    // wins.
    if (const auto tag = not_modified.header.find(field_id::etag); tag && (r.etag().empty() || r.own_etag)) {
        fresh.header.set(field_id::etag, *tag);
        fresh.own_etag = false;
    }
    if (!now.empty()) fresh.header.set(field_id::date, now);
    govern(fresh, fresh.header, rules);
    fresh.index();
    fresh.header.shrink();
    return fresh;
}

}  // namespace etagere::cache
