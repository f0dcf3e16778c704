// Which octets a request gets (RFC 9110 §14, §13.1.5).
#include "etagere/cache/ranges.hpp"

#include "etagere/http/date.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace etagere::cache {

using http::field_id;

namespace {

/// Around one part of a multipart: what it costs at least. A multipart that is no shorter than the whole helps nobody.
constexpr std::uint64_t part_overhead = 80;

bool speaks_of_whole_content(const http::fields::entry& f) noexcept {
    return f.id == field_id::content_range || http::iequals(f.name, "Content-Digest") ||
           http::iequals(f.name, "Content-MD5");
}

bool is_tag(std::string_view if_range) noexcept {
    return if_range.starts_with('"') || if_range.starts_with("W/");
}

/// Of a two-digit year the century is not known here, and with the wrong one the day of the week is wrong too.
bool is_date_of_any_century(std::string_view value) noexcept {
    constexpr std::chrono::sys_days then = std::chrono::January / 1 / 1970;
    constexpr std::chrono::sys_days later = std::chrono::January / 1 / 2040;
    return http::parse_date(value, then) || http::parse_date(value, later);
}

/// Could it ever be true? Where not, the request wants the whole, whatever is stored.
bool is_possible_if_range(const http::fields& request) noexcept {
    if (!request.has(field_id::if_range)) return true;
    if (request.count(field_id::if_range) != 1) return false;
    const std::string_view value = request.get(field_id::if_range);
    if (!is_tag(value)) return is_date_of_any_century(value);
    const auto tag = http::parse_entity_tag(value);
    return tag && !tag->weak;
}

}  // namespace

validators validators_of(const stored_response& r) noexcept {
    return {.etag = r.etag(), .last_modified = r.last_modified, .date = r.date};
}

validators validators_of(const http::fields& response, wall_time now) noexcept {
    const auto date_in = [&](field_id id) { return http::parse_date(response.get(id), now); };
    return {.etag = response.get(field_id::etag),
            .last_modified = date_in(field_id::last_modified),
            .date = date_in(field_id::date)};
}

bool is_strong_date(const std::optional<wall_seconds>& last_modified,
                    const std::optional<wall_seconds>& date) noexcept {
    return last_modified && date && *date - *last_modified >= std::chrono::minutes(1);
}

std::optional<http::range_request> wanted_range(const http::request_head& request) noexcept {
    if (request.verb != http::method::get || !request.header.has(field_id::range)) return std::nullopt;
    if (!is_possible_if_range(request.header)) return std::nullopt;
    return http::parse_range(request.header);
}

bool if_range_holds(const http::fields& request, const validators& of) noexcept {
    if (!request.has(field_id::if_range)) return true;
    if (!is_possible_if_range(request)) return false;
    const std::string_view value = request.get(field_id::if_range);
    if (!is_tag(value)) {
        // A two-digit year is read as seen from the date that it has to equal.
        const auto date = http::parse_date(value, of.date.value_or(wall_seconds{}));
        return date && date == of.last_modified && is_strong_date(of.last_modified, of.date);
    }
    const auto wanted = http::parse_entity_tag(value);
    const auto current = http::parse_entity_tag(of.etag);
    return wanted && current && http::strong_equal(*wanted, *current);
}

bool may_be_cut(int status, const http::fields& header) noexcept {
    return (status == 200 || status == 206) && !header.has(field_id::content_range);
}

range_answer answer_range(const http::request_head& request, const validators& of, std::uint64_t length) noexcept {
    using enum range_answer::kind;
    const auto asked = wanted_range(request);
    if (!asked || !if_range_holds(request.header, of)) return {};
    range_answer out{.what = whole, .ranges = {}, .length = length};
    switch (http::resolve(*asked, length, out.ranges)) {
        case http::range_verdict::ignored: return out;
        case http::range_verdict::unsatisfiable: out.what = unsatisfiable; return out;
        case http::range_verdict::satisfiable: break;
    }
    out.what = out.ranges.size() == 1 ? single : several;
    if (out.what == several) {
        std::uint64_t total = 0;
        for (const http::byte_range& r : out.ranges.all()) total += r.size() + part_overhead;
        if (total >= length) out.what = whole;
    }
    return out;
}

range_answer answer_range(const http::request_head& request, const stored_response& r) noexcept {
    using enum range_answer::kind;
    if (!request.header.has(field_id::range)) return {};
    if (!may_be_cut(r.status, r.header)) return {};
    range_answer out = answer_range(request, validators_of(r), r.is_partial() ? r.rest->complete_length : r.body_size);
    if (!r.is_partial() || out.what == whole) return out;
    const bool held =
        out.what != unsatisfiable && std::ranges::all_of(out.ranges.all(), [&](const http::byte_range& w) {
            return std::ranges::any_of(r.rest->parts, [&](const http::byte_range& p) { return p.contains(w); });
        });
    if (!held) out.what = not_held;
    return out;
}

bool can_answer(const stored_response& r, const range_answer& answer) noexcept {
    return !r.is_partial() || answer.what == range_answer::kind::single || answer.what == range_answer::kind::several;
}

std::string_view octets(const stored_response& r, std::string_view body, http::byte_range range) noexcept {
    std::uint64_t at = range.first;
    if (r.is_partial()) {
        at = 0;
        for (const http::byte_range& part : r.rest->parts) {
            if (part.contains(range)) {
                at += range.first - part.first;
                break;
            }
            at += part.size();
        }
    }
    assert(at <= body.size() && range.size() <= body.size() - at);
    return body.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(range.size()));
}

http::fields partial_header(const http::fields& whole, std::string_view content_type) {
    http::fields out;
    for (const http::fields::entry f : whole) {
        if (speaks_of_whole_content(f)) continue;
        if (f.id == field_id::content_type && !content_type.empty()) continue;
        std::ignore = out.add(f.name, f.value);  // it was in a header before
    }
    if (!content_type.empty()) out.append(field_id::content_type, content_type);
    return out;
}

bool is_partial_header(const http::fields& whole) noexcept {
    for (const http::fields::entry f : whole) {
        if (speaks_of_whole_content(f)) return false;
    }
    return true;
}

std::string multipart_type(std::string_view boundary) {
    return std::string("multipart/byteranges; boundary=").append(boundary);
}

std::string multipart_body(const range_answer& answer, std::span<const std::string_view> octets,
                           std::string_view content_type, std::string_view boundary) {
    assert(answer.ranges.size() == octets.size());
    std::string out;
    std::size_t size = 0;
    for (const std::string_view part : octets) size += part.size() + 2 * part_overhead;
    out.reserve(size);
    for (std::size_t i = 0; i < octets.size(); ++i) {
        out.append("\r\n--").append(boundary).append("\r\n");
        if (!content_type.empty()) out.append("Content-Type: ").append(content_type).append("\r\n");
        out += "Content-Range: ";
        http::append_content_range(out, answer.ranges[i], answer.length);
        out.append("\r\n\r\n").append(octets[i]);
    }
    out.append("\r\n--").append(boundary).append("--\r\n");
    return out;
}

}  // namespace etagere::cache
