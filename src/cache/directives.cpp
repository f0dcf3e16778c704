#include "etagere/cache/directives.hpp"

#include "etagere/http/lists.hpp"
#include "etagere/http/structured_fields.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>

namespace etagere::cache {
namespace {

struct member {
    std::string_view name;
    std::optional<std::string_view> argument;
};

bool is_named(const member& m, std::string_view name) noexcept {
    return m.name.size() == name.size() && (m.name.front() | 0x20) == name.front() && http::iequals(m.name, name);
}

// "max-age =60" is no directive by the grammar. Its name still counts, so that "no-store =1" restricts; its argument is
// nonsense, so that "max-age =60" is stale.
member read_member(std::string_view text) noexcept {
    const http::directive d = http::split_directive(text);
    const std::string_view name = http::trim(d.name);
    if (name.size() != d.name.size()) return {name, ""};
    return {name, d.argument};
}

// RFC 9111 §4.2.1: what cannot be read counts as stale. §1.2.2: what is too large counts as 2^31.
std::int64_t delta_seconds(const member& m) noexcept {
    return m.argument ? http::parse_delta_seconds(*m.argument).value_or(0) : 0;
}

// RFC 9111 §4.2.1: of conflicting values the most restrictive one.
void take_least(std::int64_t& into, std::int64_t value) noexcept {
    into = into == absent ? value : std::min(into, value);
}

struct delta_row {
    std::string_view name;
    std::int64_t response_directives::* value;
};
constexpr std::array response_deltas{
    delta_row{"max-age", &response_directives::max_age},
    delta_row{"s-maxage", &response_directives::s_maxage},
    delta_row{"stale-while-revalidate", &response_directives::stale_while_revalidate},
    delta_row{"stale-if-error", &response_directives::stale_if_error},
};

// A directive that restricts does so whatever argument it carries: private="x", private="" and private="a (never
// closed) are all private (RFC 9111 §5.2.2.7 allows it; honouring single fields would keep the rest). One that permits
// means what it says only in the form that the RFC defines.
struct flag_row {
    std::string_view name;
    bool response_directives::* flag;
    bool permits;
};
constexpr std::array response_flags{
    flag_row{"no-store", &response_directives::no_store, false},
    flag_row{"no-cache", &response_directives::no_cache, false},
    flag_row{"private", &response_directives::private_, false},
    flag_row{"public", &response_directives::public_, true},
    flag_row{"must-revalidate", &response_directives::must_revalidate, false},
    flag_row{"proxy-revalidate", &response_directives::proxy_revalidate, false},
    flag_row{"must-understand", &response_directives::must_understand, false},
    flag_row{"no-transform", &response_directives::no_transform, false},
    flag_row{"immutable", &response_directives::immutable, true},
};

// ---------------------------------------------------------------- targeted fields (RFC 9213)

namespace sf = http::structured;

/// False where the value is of a type that the directive does not have: then the field as a whole is none.
bool take_targeted(response_directives& into, const sf::member& m) {
    for (const delta_row& row : response_deltas) {
        if (m.key != row.name) continue;
        if (m.is_inner_list || !m.value.is(sf::kind::integer)) return false;
        into.*row.value = std::max<std::int64_t>(m.value.number, 0);
    }
    for (const flag_row& row : response_flags) {
        if (m.key != row.name) continue;
        const bool denied = !m.is_inner_list && m.value.is(sf::kind::boolean) && m.value.number == 0;
        const bool plain = !m.is_inner_list && m.value.is_true();
        into.*row.flag = row.permits ? plain : !denied;
    }
    return true;
}

std::optional<response_directives> parse_targeted(const http::fields& header, std::string_view name) {
    const auto text = header.combined(name);
    if (!text) return std::nullopt;
    const auto members = sf::parse_dictionary(*text);
    if (!members) return std::nullopt;
    response_directives found;
    bool good = true;
    members->for_each([&](const sf::member& m) {
        found.seen = true;
        good = take_targeted(found, m) && good;
    });
    return good && found.seen ? std::optional(found) : std::nullopt;
}

}  // namespace

std::string_view governing_field(const http::fields& header, std::span<const std::string> targeted) {
    const auto governs = [&](const std::string& name) { return parse_targeted(header, name).has_value(); };
    const auto first = std::ranges::find_if(targeted, governs);
    return first == targeted.end() ? std::string_view{} : *first;
}

// RFC 9111 §5.2.2
response_directives parse_response_directives(const http::fields& header, std::string_view control) {
    if (!control.empty()) return parse_targeted(header, control).value_or(response_directives{});
    response_directives found;
    found.seen = header.has(http::field_id::cache_control);
    http::for_each_member(header, http::field_id::cache_control, [&](std::string_view text) {
        const member m = read_member(text);
        for (const delta_row& row : response_deltas) {
            if (is_named(m, row.name)) take_least(found.*row.value, delta_seconds(m));
        }
        for (const flag_row& row : response_flags) {
            if (is_named(m, row.name) && !(row.permits && m.argument)) found.*row.flag = true;
        }
        return true;
    });
    return found;
}

// RFC 9111 §5.2.1
request_directives parse_request_directives(const http::fields& header) {
    request_directives found;
    http::for_each_member(header, http::field_id::cache_control, [&](std::string_view text) {
        const member m = read_member(text);
        if (http::iequals(m.name, "max-age")) {
            take_least(found.max_age, delta_seconds(m));
        } else if (http::iequals(m.name, "min-fresh")) {
            found.min_fresh = std::max(found.min_fresh, delta_seconds(m));
        } else if (http::iequals(m.name, "max-stale")) {
            // §5.2.1.2: without an argument a response of any age will do.
            take_least(found.max_stale, m.argument ? delta_seconds(m) : std::numeric_limits<std::int64_t>::max());
        } else if (http::iequals(m.name, "no-store")) {
            found.no_store = true;
        } else if (http::iequals(m.name, "no-cache")) {
            found.no_cache = true;
        } else if (http::iequals(m.name, "only-if-cached")) {
            found.only_if_cached = true;
        } else if (http::iequals(m.name, "no-transform")) {
            found.no_transform = true;
        }
        return true;
    });
    // §5.4: Pragma counts only where there is no Cache-Control, and only in requests.
    if (!header.has(http::field_id::cache_control)) {
        http::for_each_member(header, http::field_id::pragma, [&](std::string_view text) {
            found.no_cache = found.no_cache || http::iequals(text, "no-cache");
            return true;
        });
    }
    return found;
}

}  // namespace etagere::cache
