#include "etagere/cache/compression.hpp"

#include "etagere/cache/decisions.hpp"
#include "etagere/http/lists.hpp"
#include "etagere/http/preference.hpp"

#include "vary.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace etagere::cache {
namespace {

using http::field_id;

// ---------------------------------------------------------------- Accept-Encoding

/// What the client said about one coding. Of several words the least counts.
void take_least(std::optional<unsigned>& into, unsigned weight) noexcept {
    into = into ? std::min(*into, weight) : weight;
}

/// RFC 9110 §8.4.1.3: "x-gzip" is gzip.
bool names(std::string_view text, http::coding c) noexcept {
    return http::iequals(text, http::name(c)) || (c == http::coding::gzip && http::iequals(text, "x-gzip"));
}

struct wishes {
    std::array<std::optional<unsigned>, 4> named;  // by http::coding
    std::optional<unsigned> star;

    std::optional<unsigned> of(http::coding c) const noexcept {
        const auto& own = named.at(static_cast<std::size_t>(c));
        return own ? own : star;
    }
};

wishes read_wishes(const http::fields& request) noexcept {
    wishes found;
    http::for_each_member(request, field_id::accept_encoding, [&](std::string_view member) {
        // A member that cannot be read asks for nothing.
        const auto p = http::parse_preference(member);
        if (!p) return true;
        if (p->name == "*") take_least(found.star, p->weight);
        for (const auto c : {http::coding::identity, http::coding::gzip, http::coding::br, http::coding::zstd}) {
            if (names(p->name, c)) take_least(found.named.at(static_cast<std::size_t>(c)), p->weight);
        }
        return true;
    });
    return found;
}

// ---------------------------------------------------------------- what gets smaller

constexpr std::array<std::string_view, 17> small_types{"application/json",
                                                       "application/xml",
                                                       "application/javascript",
                                                       "application/x-javascript",
                                                       "application/ecmascript",
                                                       "application/graphql",
                                                       "application/yaml",
                                                       "application/x-yaml",
                                                       "application/toml",
                                                       "application/sql",
                                                       "application/wasm",
                                                       "application/rtf",

                                                       "font/ttf",
                                                       "font/otf",
                                                       "image/bmp",
                                                       "image/vnd.microsoft.icon",
                                                       "image/x-icon"};
constexpr std::array<std::string_view, 4> small_suffixes{"+json", "+xml", "+yaml", "+text"};

bool ends_with_ignoring_case(std::string_view text, std::string_view end) noexcept {
    return text.size() >= end.size() && http::iequals(text.substr(text.size() - end.size()), end);
}

bool gets_smaller(std::string_view content_type) noexcept {
    const std::string_view type = http::trim(content_type.substr(0, content_type.find(';')));
    constexpr std::string_view text = "text/";
    if (type.size() > text.size() && http::iequals(type.substr(0, text.size()), text)) return true;
    return std::ranges::any_of(small_types, [type](std::string_view t) { return http::iequals(type, t); }) ||
           std::ranges::any_of(small_suffixes, [type](std::string_view s) { return ends_with_ignoring_case(type, s); });
}

/// Final answers that can have content. 206 and 416 speak of ranges, 226 of a delta; redirects have none worth it.
bool has_content(int status) noexcept {
    constexpr std::array without{204, 205, 206, 226, 416};
    const bool kind = (status >= 200 && status < 300) || (status >= 400 && status < 600);
    return kind && std::ranges::find(without, status) == without.end();
}

/// Cache-Control and every targeted field (RFC 9213 names them all so), whichever of them rules the cache:
/// `no-transform` and `private` count wherever they stand.
bool forbids_coding(const http::fields& header) noexcept {
    for (const http::fields::entry f : header) {
        if (!ends_with_ignoring_case(f.name, "cache-control")) continue;
        std::string_view rest = f.value;
        while (const auto member = http::next_member(rest)) {
            const std::string_view name = http::trim(http::split_directive(*member).name);
            if (http::iequals(name, "no-transform") || http::iequals(name, "private")) return true;
        }
    }
    return false;
}

bool is_size_worth_it(std::uint64_t size, const policy& rules) noexcept {
    return size >= std::max<std::uint64_t>(rules.compress_above, 1) && size <= largest_coded;
}

/// Digests that are of the identity bytes: RFC 9530, RFC 3230, RFC 1864.
constexpr std::array<std::string_view, 4> digest_fields{"Content-Digest", "Repr-Digest", "Digest", "Content-MD5"};

}  // namespace

http::coding negotiate_coding(const http::fields& request, std::span<const http::coding> offered) noexcept {
    if (offered.empty() || !request.has(field_id::accept_encoding)) return http::coding::identity;
    const wishes client = read_wishes(request);
    http::coding best = http::coding::identity;
    unsigned best_weight = 0;
    for (const http::coding c : offered) {
        const unsigned weight = client.of(c).value_or(0);
        if (weight > best_weight) {
            best = c;
            best_weight = weight;
        }
    }
    // Identity that is not mentioned is acceptable, and wanted least. With the same weight, the shorter form.
    return client.of(http::coding::identity).value_or(0) > best_weight ? http::coding::identity : best;
}

bool is_codable(int status, const http::fields& header) noexcept {
    return has_content(status) && gets_smaller(header.get(field_id::content_type)) &&
           !header.has(field_id::content_encoding) && !header.has(field_id::content_range) &&
           !header.has(field_id::set_cookie) && !is_stream(header) && !forbids_coding(header) &&
           !varies_on(header, "Cookie") && !varies_on(header, "Authorization");
}

bool may_code(const http::response_head& response, const policy& rules) noexcept {
    if (!codes_answers(rules) || !is_codable(response.status, response.header)) return false;
    if (response.body.how == http::framing::kind::length) return is_size_worth_it(response.body.length, rules);
    if (response.declared_length >= 0) {
        return is_size_worth_it(static_cast<std::uint64_t>(response.declared_length), rules);
    }
    return true;
}

bool may_code(const stored_response& r, const policy& rules) noexcept {
    return r.codable && codes_answers(rules) && is_size_worth_it(r.body_size, rules);
}

http::coding coding_for(const http::request_head& request, const response_directives& answer,
                        const policy& rules) noexcept {
    const http::fields& header = request.header;
    if (request.protocol == http::version::http10) return http::coding::identity;
    for (const field_id id : {field_id::range, field_id::if_range, field_id::if_match}) {
        if (header.has(id)) return http::coding::identity;
    }
    // RFC 9111 §5.2.1.6: a wish about bytes, which costs the origin nothing, so it is heard on every route.
    if (parse_request_directives(header).no_transform) return http::coding::identity;
    const bool for_everybody = answer.public_ || answer.s_maxage != absent;
    if (header.has(field_id::cookie) && !for_everybody) return http::coding::identity;
    return negotiate_coding(header, rules.compress);
}

std::string weak_form(std::string_view etag) {
    const auto tag = http::parse_entity_tag(etag);
    return !tag || tag->weak ? std::string(etag) : "W/" + tag->to_string();
}

void drop_digests(http::fields& trailers) noexcept {
    for (const std::string_view name : digest_fields) trailers.erase(name);
}

void describe_coding(http::fields& header, http::coding how) {
    drop_digests(header);
    header.erase(field_id::accept_ranges);
    header.set(field_id::content_encoding, http::name(how));
    if (const auto etag = header.find(field_id::etag)) header.set(field_id::etag, weak_form(*etag));
}

void vary_on_accept_encoding(http::fields& header) {
    if (varies_on_everything(header) || varies_on(header, "Accept-Encoding")) return;
    std::string value = header.combined(field_id::vary).value_or(std::string{});
    if (!value.empty()) value += ", ";
    value += "Accept-Encoding";
    header.set(field_id::vary, value);
}

void echo_held_tag(http::fields& not_modified, const http::fields& request) {
    const auto etag = not_modified.find(field_id::etag);
    const auto tag = etag ? http::parse_entity_tag(*etag) : std::nullopt;
    if (!tag || tag->weak) return;
    bool weak = false;
    bool strong = false;
    http::for_each_member(request, field_id::if_none_match, [&](std::string_view member) {
        const auto held = http::parse_entity_tag(member);
        if (held && held->opaque == tag->opaque) (held->weak ? weak : strong) = true;
        return true;
    });
    if (weak && !strong) not_modified.set(field_id::etag, weak_form(*etag));
}

}  // namespace etagere::cache
