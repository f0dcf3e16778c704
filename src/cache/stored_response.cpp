#include "etagere/cache/stored_response.hpp"

#include "etagere/cache/compression.hpp"
#include "etagere/cache/decisions.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/lists.hpp"

#include "derive.hpp"
#include "stored_fields.hpp"
#include "vary.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace etagere::cache {

using http::field_id;

void govern(stored_response& r, const http::fields& header, const policy& rules) {
    const std::string_view field = governing_field(header, rules.targeted);
    if (field != r.rest->control) r.rest.edit().control = field;
}

void derive_directives(stored_response& into, const http::fields& header) {
    into.directives = parse_response_directives(header, into.rest->control);
    // RFC 9111 §5.2.2.3: where the status is understood no-store does not count, where it is not nothing is stored.
    if (into.directives.must_understand) into.directives.no_store = !is_understood(into.status);
}

void derive_from(stored_response& into, const http::fields& header) {
    const auto date_in = [&](field_id id) -> std::optional<wall_seconds> {
        const auto text = header.find(id);
        return text ? http::parse_date(*text, into.response_time) : std::nullopt;
    };
    derive_directives(into, header);
    into.date = date_in(field_id::date);
    into.last_modified = date_in(field_id::last_modified);
    // RFC 9111 §5.3: what is no date, "0" above all, is in the past. §4.2.1: so are two of them.
    into.expires = header.count(field_id::expires) == 1 ? date_in(field_id::expires) : std::nullopt;
    into.expires_invalid = header.has(field_id::expires) && !into.expires;
    if (!into.rest->control.empty()) {  // RFC 9213 §2.2
        into.expires = {};
        into.expires_invalid = false;
    }
    into.tagged = !header.get(field_id::etag).empty();
}

bool is_understood(int status) noexcept {
    constexpr std::array statuses{200, 203, 204, 206, 300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405,
                                  406, 410, 414, 415, 421, 422, 429, 431, 451, 500, 501, 502, 503, 504};
    return std::ranges::find(statuses, status) != statuses.end();
}

seconds read_age(const http::fields& header) noexcept {
    std::string_view line = header.get(field_id::age);
    const auto first = http::next_member(line);
    return seconds(first ? http::parse_delta_seconds(*first).value_or(0) : 0);
}

void stored_response::index() {
    derive_from(*this, header);
    // Without Vary it was stored when the route did not code: its other copies, further on, are taken for the only
    // form.
    codable = !always_validate && varies_on(header, "Accept-Encoding") && is_codable(status, header);
}

stored_response make_stored(const http::request_head& request, const http::response_head& response, const policy& rules,
                            wall_time request_time, wall_time response_time, credential_digest digest) {
    stored_response made;
    made.status = response.status;
    made.request_time = request_time;
    made.response_time = response_time;
    made.age_value = read_age(response.header);
    if (response.body.how == http::framing::kind::length) made.body_size = response.body.length;
    for (const http::fields::entry field : response.header) {
        // What the codec let in, add() lets in again.
        if (is_stored(field, rules)) std::ignore = made.header.add(field.name, field.value);
    }
    govern(made, response.header, rules);
    if (may_code(response, rules)) vary_on_accept_encoding(made.header);
    made.selecting = selecting_fields(response.header, request.header, rules, digest);
    made.index();
    if (!made.date) {
        // RFC 9110 §6.6.1: a recipient with a clock adds what is missing, and may replace what is no date.
        made.date = std::chrono::floor<seconds>(response_time);
        made.header.set(field_id::date, http::format_date(*made.date));
    }
    made.header.shrink();
    return made;
}

}  // namespace etagere::cache
