#include "etagere/cache/purging.hpp"

#include "etagere/base/bytes.hpp"
#include "etagere/cache/key.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/lists.hpp"
#include "etagere/http/structured_fields.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace etagere::cache {
namespace {

enum class kind : std::uint64_t { url = 1, path, prefix, route, tag, any_tag, cache_group };

/// Digests of the parts, then of those: no part can look like a border, and nothing is copied.
group_id digest(kind what, std::initializer_list<std::string_view> parts, std::uint64_t number = 0) noexcept {
    constexpr std::size_t most_parts = 3;
    std::array<std::uint64_t, 2 + 2 * most_parts> words{};
    words[0] = static_cast<std::uint64_t>(what);
    words[1] = number;
    std::size_t at = 2;
    for (const std::string_view part : parts) {
        const digest128 d = xxh3_128(part);
        words.at(at++) = d.high;
        words.at(at++) = d.low;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(words.data()), sizeof words);
    return std::max<group_id>(xxh3_128(bytes).low, 1);  // 0 is everything
}

std::string_view path_of(std::string_view target) noexcept {
    return target.substr(0, target.find('?'));
}

group_id url_group(std::string_view scheme, std::string_view host, std::uint16_t port, std::string_view target) {
    return digest(kind::url, {scheme, host, target}, port);
}
group_id path_group(std::string_view scheme, std::string_view host, std::uint16_t port, std::string_view path) {
    return digest(kind::path, {scheme, host, path}, port);
}
group_id cache_group(const http::request_head& of, std::string_view group) {
    return digest(kind::cache_group, {of.scheme, of.host, group}, of.port);
}
/// What a response with more than most_tags belongs to: of all tags, and of all groups of its origin.
group_id any_tag() {
    return digest(kind::any_tag, {});
}
group_id any_cache_group(const http::request_head& of) {
    return digest(kind::any_tag, {of.scheme, of.host}, of.port);
}

/// RFC 9875 §2, §3: a List of Strings; a member that is none spoils the whole (RFC 9651 §4.2: strict or nothing).
std::vector<std::string> strings_of(const http::fields& header, std::string_view name) {
    std::vector<std::string> out;
    const auto value = header.combined(name);
    if (!value) return out;
    const auto list = http::structured::parse_list(*value);
    if (!list) return out;
    bool strings = true;
    list->for_each([&](const http::structured::member& m) {
        strings = strings && !m.is_inner_list && m.value.is(http::structured::kind::string);
        if (strings) out.push_back(m.value.decoded());
    });
    if (!strings) out.clear();
    return out;
}

/// Calls `each` for what stands between the separators.
template <class F> void split(std::string_view text, std::string_view separators, F&& each) {
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(separators), text.size());
        if (end > 0) each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace

purge_mark older(const purge_mark& a, const purge_mark& b) noexcept {
    if (a.era != b.era) return {};
    return {.era = a.era, .seq = std::min(a.seq, b.seq), .local = std::min(a.local, b.local)};
}

void purge_url(std::vector<purge_target>& out, std::string_view scheme, std::string_view host, std::uint16_t port,
               std::string_view target) {
    if (host.empty()) {
        scheme = {};
        port = 0;
    }
    out.push_back({.group = url_group(scheme, host, port, target)});
    out.push_back({.group = path_group(scheme, host, port, path_of(target))});
}

void purge_tag(std::vector<purge_target>& out, std::string_view tag) {
    out.push_back({.group = digest(kind::tag, {tag})});
    out.push_back({.group = any_tag()});
}

void purge_cache_group(std::vector<purge_target>& out, const http::request_head& of, std::string_view group) {
    out.push_back({.group = cache_group(of, group)});
    out.push_back({.group = any_cache_group(of)});
}

group_id prefix_group(std::string_view host, std::string_view prefix) noexcept {
    return digest(kind::prefix, {host, prefix});
}

void purge_prefix(std::vector<purge_target>& out, std::string_view host, std::string_view prefix) {
    out.push_back({.group = prefix_group(host, prefix), .prefix_length = static_cast<std::uint16_t>(prefix.size())});
}

void purge_route(std::vector<purge_target>& out, std::string_view route) {
    out.push_back({.group = digest(kind::route, {route})});
}

std::vector<std::string> groups_to_invalidate(const http::request_head& request, const http::response_head& answer) {
    if (http::is_safe(request.verb)) return {};
    return strings_of(answer.header, "Cache-Group-Invalidation");
}

void collect_tags(stored_response& r, const http::request_head& request, const policy& rules) {
    std::vector<group_id> tags;
    const auto add = [&](std::string_view tag) {
        if (tags.size() <= most_tags) tags.push_back(digest(kind::tag, {tag}));
    };
    for (const std::string& tag : rules.tags) add(tag);
    for (const std::string& name : rules.tag_fields) {
        if (http::iequals(name, "Cache-Groups")) {
            for (const std::string& group : strings_of(r.header, name)) {
                add(group);
                if (tags.size() <= most_tags) tags.push_back(cache_group(request, group));
            }
            continue;
        }
        for (const http::fields::entry field : r.header) {
            if (!http::iequals(field.name, name)) continue;
            split(field.value, " \t", [&](std::string_view tag) {
                add(tag);
                // Lists are joined with commas on the way (RFC 9110 §5.3), and some fields separate with them.
                if (tag.contains(',')) split(tag, ",", add);
            });
        }
    }
    if (tags.size() > most_tags) tags = {any_tag(), any_cache_group(request)};
    std::ranges::sort(tags);
    const auto doubles = std::ranges::unique(tags);
    tags.erase(doubles.begin(), doubles.end());
    tags.shrink_to_fit();
    if (tags != r.rest->tags) r.rest.edit().tags = std::move(tags);
}

request_groups groups_of(const http::request_head& request, std::string_view route, const policy& rules,
                         std::string& scratch) {
    scratch.clear();
    append_key_target(scratch, request.target, rules.query);
    const std::string_view path = request.path();
    return {.url = url_group(request.scheme, request.host, request.port, scratch),
            .url_of_any_host = url_group({}, {}, 0, scratch),
            .path = path_group(request.scheme, request.host, request.port, path),
            .path_of_any_host = path_group({}, {}, 0, path),
            .route = digest(kind::route, {route})};
}

}  // namespace etagere::cache
