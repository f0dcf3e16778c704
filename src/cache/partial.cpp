// Incomplete responses: which are kept, and how they grow (RFC 9111 §3.3, §3.4).
#include "etagere/cache/ranges.hpp"

#include "stored_fields.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <vector>

namespace etagere::cache {

using http::field_id;

namespace {

bool is_multipart(const http::fields& response) noexcept {
    constexpr std::string_view type = "multipart/byteranges";
    const std::string_view value = response.get(field_id::content_type);
    return value.size() >= type.size() && http::iequals(value.substr(0, type.size()), type);
}

bool is_strong_tag(std::string_view etag) noexcept {
    const auto tag = http::parse_entity_tag(etag);
    return tag && !tag->weak;
}

bool same_coding(const stored_response& a, const stored_response& b) {
    return a.header.combined(field_id::content_encoding) == b.header.combined(field_id::content_encoding);
}

/// The 200 that a 206 is a part of, as far as its storability goes.
http::response_head as_whole(const http::response_head& part, std::uint64_t length) {
    http::response_head whole = part;
    whole.status = 200;
    whole.header.erase(field_id::content_range);
    whole.body = http::framing::of_length(length);
    return whole;
}

/// A part and where its octets are.
struct piece {
    http::byte_range range;
    std::string_view bytes;
};

/// What is left of `held` beside `fresh`, which goes before it, and `fresh`, in order.
std::vector<piece> lay_over(const stored_response& held, std::string_view held_body, const piece& fresh) {
    std::vector<piece> out{fresh};
    std::size_t at = 0;
    for (const http::byte_range& part : held.rest->parts) {
        const std::string_view bytes = held_body.substr(at, static_cast<std::size_t>(part.size()));
        at += bytes.size();
        if (part.first < fresh.range.first) {
            const http::byte_range before{part.first, std::min(part.last, fresh.range.first - 1)};
            out.push_back({before, bytes.substr(0, static_cast<std::size_t>(before.size()))});
        }
        if (part.last > fresh.range.last) {
            const http::byte_range after{std::max(part.first, fresh.range.last + 1), part.last};
            out.push_back({after, bytes.substr(bytes.size() - static_cast<std::size_t>(after.size()))});
        }
    }
    std::ranges::sort(out, {}, [](const piece& p) { return p.range.first; });
    return out;
}

std::vector<http::byte_range> joined(const std::vector<piece>& pieces) {
    std::vector<http::byte_range> out;
    for (const piece& p : pieces) {
        if (!out.empty() && out.back().last + 1 == p.range.first) {
            out.back().last = p.range.last;
        } else {
            out.push_back(p.range);
        }
    }
    return out;
}

/// Gives up the smallest parts beyond most_parts, and their octets.
void trim_parts(std::vector<piece>& pieces, std::vector<http::byte_range>& parts) {
    while (parts.size() > most_parts) {
        const auto least = std::ranges::min_element(parts, {}, &http::byte_range::size);
        const http::byte_range gone = *least;
        parts.erase(least);
        std::erase_if(pieces, [&](const piece& p) { return gone.contains(p.range); });
    }
}

}  // namespace

bool has_strong_validator(const stored_response& r) noexcept {
    if (!r.etag().empty()) return !r.own_etag && is_strong_tag(r.etag());
    return is_strong_date(r.last_modified, r.date);
}

bool same_strong_validator(const stored_response& a, const stored_response& b) noexcept {
    if (!has_strong_validator(a) || !has_strong_validator(b)) return false;
    if (a.etag().empty() && b.etag().empty()) return a.last_modified == b.last_modified;
    const auto x = a.tag();
    const auto y = b.tag();
    return x && y && http::strong_equal(*x, *y);
}

part_judgement judge_part(const http::request_head& request, const http::response_head& response, const policy& rules,
                          wall_time now) {
    part_judgement out;
    out.may.why = reason::pass_range;
    const auto range = http::parse_content_range(response.header);
    if (response.status != 206 || !range || !range->range || !range->length || is_multipart(response.header))
        return out;
    out.range = *range->range;
    out.length = *range->length;
    const http::framing& body = response.body;
    if (!body.has_body() || (body.how == http::framing::kind::length && body.length != out.range.size())) return out;
    const http::response_head whole = as_whole(response, out.length);
    out.may = judge_storability(request, whole, rules, now);
    if (!out.may.store || out.range.size() == out.length) return out;
    stored_response facts;
    facts.header = whole.header;
    facts.response_time = now;
    facts.index();
    if (!facts.date) facts.date = std::chrono::floor<seconds>(now);
    if (!has_strong_validator(facts)) out.may = {.why = reason::pass_range};
    return out;
}

stored_response make_part(const http::request_head& request, const http::response_head& response,
                          const part_judgement& judged, const policy& rules, wall_time request_time,
                          wall_time response_time, credential_digest digest) {
    stored_response made =
        make_stored(request, as_whole(response, judged.range.size()), rules, request_time, response_time, digest);
    made.always_validate = judged.may.always_validate;
    if (judged.range.size() < judged.length) {
        made.status = 206;
        made.rest.edit().parts = {judged.range};
        made.rest.edit().complete_length = judged.length;
    }
    return made;
}

// RFC 9111 §3.4
bool may_combine(const stored_response& held, const stored_response& part) {
    return held.is_partial() && part.is_partial() && held.rest->complete_length == part.rest->complete_length &&
           same_strong_validator(held, part) && same_coding(held, part) && held.selecting == part.selecting;
}

combined combine(const stored_response& held, std::string_view held_body, const stored_response& part,
                 std::string_view part_body) {
    assert(may_combine(held, part) && part.rest->parts.size() == 1 &&
           part.rest->parts.front().size() == part_body.size());
    combined out;
    stored_response& r = out.response;
    r = part;
    // All lines of a field that the new answer has take the place of all stored ones.
    for (const http::fields::entry f : held.header) {
        if (!part.header.find(f.name)) std::ignore = r.header.add(f.name, f.value);
    }
    std::vector<piece> pieces = lay_over(held, held_body, {part.rest->parts.front(), part_body});
    particulars& rest = r.rest.edit();
    rest.parts = joined(pieces);
    trim_parts(pieces, rest.parts);
    for (const piece& p : pieces) out.body += p.bytes;
    r.body_size = out.body.size();
    if (out.body.size() == rest.complete_length) {
        r.status = 200;
        rest.parts.clear();
        rest.complete_length = 0;
    }
    r.index();
    r.header.shrink();
    return out;
}

http::byte_range missing_range(const stored_response& partial) noexcept {
    assert(partial.is_partial());
    const http::byte_range& front = partial.rest->parts.front();
    const http::byte_range& back = partial.rest->parts.back();
    return {front.first == 0 ? front.last + 1 : 0,
            back.last + 1 == partial.rest->complete_length ? back.first - 1 : partial.rest->complete_length - 1};
}

void add_completion(http::fields& request, const stored_response& partial) {
    strip_conditions(request);
    const http::byte_range missing = missing_range(partial);
    request.append(field_id::range, "bytes=" + std::to_string(missing.first) + '-' + std::to_string(missing.last));
    request.append(field_id::if_range,
                   partial.etag().empty() ? partial.header.get(field_id::last_modified) : partial.etag());
}

http::response_head fill_in_fields(const http::response_head& answer, const stored_response& partial) {
    http::response_head out = answer;
    for (const http::fields::entry f : partial.header) {
        if (f.id != field_id::date && !answer.header.find(f.name)) std::ignore = out.header.add(f.name, f.value);
    }
    return out;
}

}  // namespace etagere::cache
