#include "etagere/store/record.hpp"

#include "envelope.hpp"

#include <algorithm>

namespace etagere::store::record {
namespace {

constexpr std::uint8_t flag_always_validate = 1;
constexpr std::uint8_t flag_own_etag = 2;

void put_text(std::string& out, std::string_view text) {
    put_int(out, static_cast<std::uint32_t>(text.size()));
    out += text;
}
std::string_view text(reader& in) noexcept {
    return in.bytes(in.number<std::uint32_t>());
}

// From 1970 to the end of 9999, what HTTP-date can say: differences of such times do not overflow, whatever a record
// says.
constexpr std::int64_t latest_time = 253'402'300'799'999;
constexpr std::int64_t latest_age = std::int64_t{1} << 31U;  // RFC 9111 §1.2.2
constexpr std::uint64_t longest = std::uint64_t{1} << 62U;   // of a representation: positions do not overflow
constexpr std::size_t smallest_variant = 83;

void put_time(std::string& out, wall_time t) {
    put_int(out, std::clamp<std::int64_t>(t.time_since_epoch().count(), 0, latest_time));
}
wall_time time(reader& in) noexcept {
    return wall_time(milliseconds(std::clamp<std::int64_t>(in.number<std::int64_t>(), 0, latest_time)));
}

void put_variant(std::string& out, const variant& v) {
    const cache::stored_response& r = v.response;
    put_int(out, static_cast<std::uint16_t>(r.status));
    put_int(out, static_cast<std::uint8_t>((r.always_validate ? flag_always_validate : 0) |
                                           (r.own_etag ? flag_own_etag : 0)));
    put_time(out, r.request_time);
    put_time(out, r.response_time);
    put_time(out, v.keep_until);
    put_int(out, r.age_value.count());  // not in the header any more: make_stored() took it out
    put_int(out, r.body_size);
    put_int(out, static_cast<std::uint32_t>(r.rest->parts.size()));
    if (r.is_partial()) put_int(out, r.rest->complete_length);
    for (const http::byte_range& part : r.rest->parts) {
        put_int(out, part.first);
        put_int(out, part.last);
    }
    put_int(out, r.known.era);
    put_int(out, r.known.seq);
    put_int(out, static_cast<std::uint32_t>(r.rest->tags.size()));
    for (const cache::group_id tag : r.rest->tags) put_int(out, tag);
    put_text(out, v.entity);
    put_text(out, r.rest->control);
    put_int(out, static_cast<std::uint32_t>(r.selecting.size()));
    for (const auto& s : r.selecting) {
        put_text(out, s.name);
        put_int(out, static_cast<std::uint8_t>(s.value.has_value()));  // absent and empty differ
        if (s.value) put_text(out, *s.value);
    }
    put_int(out, static_cast<std::uint32_t>(r.header.size()));
    for (const auto field : r.header) {
        put_text(out, field.name);
        put_text(out, field.value);
    }
}

// Every element takes at least `smallest` bytes, so a count that cannot be true is known before anything is reserved.
bool plausible(const reader& in, std::uint32_t count, std::size_t smallest) noexcept {
    return in.ok() && count <= in.left() / smallest;
}

/// What a 206 holds of its whole; of any other status, that it is the whole. A record that contradicts itself here must
/// not be read: a part would be taken for the whole.
bool read_parts(reader& in, cache::stored_response& r) {
    const auto count = in.number<std::uint32_t>();
    if (!plausible(in, count, 16)) return false;
    if (count == 0) return r.status != 206;
    cache::particulars& rest = r.rest.edit();
    rest.complete_length = in.number<std::uint64_t>();
    if (rest.complete_length > longest) return false;
    rest.parts.reserve(count);
    std::uint64_t held = 0;
    std::uint64_t next = 0;  // the first position that the next part may have
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto first = in.number<std::uint64_t>();
        const auto last = in.number<std::uint64_t>();
        if (first < next || last < first || last >= rest.complete_length) return false;
        held += rest.parts.emplace_back(first, last).size();
        next = last + 2;
    }
    return r.status == 206 && held == r.body_size && held < rest.complete_length;
}

bool read_variant(reader& in, variant& v) {
    cache::stored_response& r = v.response;
    r.status = in.number<std::uint16_t>();
    const auto flags = in.number<std::uint8_t>();
    r.always_validate = (flags & flag_always_validate) != 0;
    r.own_etag = (flags & flag_own_etag) != 0;
    r.request_time = time(in);
    r.response_time = time(in);
    v.keep_until = time(in);
    const std::int64_t age = in.number<std::int64_t>();
    r.body_size = in.number<std::uint64_t>();
    if (!read_parts(in, r)) return false;
    r.known = {.era = in.number<std::uint64_t>(), .seq = in.number<std::uint64_t>(), .local = 0};
    const auto tags = in.number<std::uint32_t>();
    if (!plausible(in, tags, 8) || tags > cache::most_tags) return false;
    if (tags > 0) r.rest.edit().tags.reserve(tags);
    for (std::uint32_t i = 0; i < tags; ++i) r.rest.edit().tags.push_back(in.number<std::uint64_t>());
    v.entity = text(in);
    if (const std::string_view control = text(in); !control.empty()) r.rest.edit().control = control;
    const auto selectors = in.number<std::uint32_t>();
    if (!plausible(in, selectors, 5) || r.status < 200 || r.status > 999) return false;
    std::vector<cache::selector> selecting;
    selecting.reserve(selectors);
    for (std::uint32_t i = 0; i < selectors; ++i) {
        auto& s = selecting.emplace_back();
        s.name = text(in);
        const auto present = in.number<std::uint8_t>();
        if (present > 1) return false;
        if (present == 1) s.value.emplace(text(in));
    }
    r.selecting = selecting;
    const auto fields = in.number<std::uint32_t>();
    if (!plausible(in, fields, 8)) return false;
    for (std::uint32_t i = 0; i < fields; ++i) {
        const std::string_view name = text(in);
        const std::string_view value = text(in);
        // The one way into a header checks it again: not even a record with a good seal brings a CR LF onto the wire.
        if (!in.ok() || !r.header.add(name, value)) return false;
    }
    r.index();
    r.age_value = seconds(std::clamp<std::int64_t>(age, 0, latest_age));
    return in.ok();
}

}  // namespace

std::string encode_meta(std::string_view key, std::span<const variant> variants, const seal& how) {
    std::size_t estimate = key.size() + 16;
    for (const variant& v : variants) estimate += 256 + v.response.header.memory();
    std::string out = open_envelope(kind::meta, estimate);
    put_text(out, key);
    put_int(out, static_cast<std::uint32_t>(variants.size()));
    for (const variant& v : variants) put_variant(out, v);
    close_envelope(out, how);
    return out;
}

result<std::vector<variant>> decode_meta(std::string_view bytes, std::string_view key, const seal& how) {
    const result<std::string_view> content = unwrap(bytes, kind::meta, how);
    if (!content) return std::unexpected(content.error());
    reader in(*content);
    // The full key, not its digest: a foreign record, a crossed reply and a collision are all the same here.
    if (text(in) != key) return fail(errc::store_corrupt);
    const auto count = in.number<std::uint32_t>();
    if (!plausible(in, count, smallest_variant)) return fail(errc::store_corrupt);
    std::vector<variant> variants;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!read_variant(in, variants.emplace_back())) return fail(errc::store_corrupt);
    }
    if (!in.at_end()) return fail(errc::store_corrupt);
    return variants;
}

}  // namespace etagere::store::record
