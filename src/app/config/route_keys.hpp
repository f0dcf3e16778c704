// The tables of a route and of what is in it, bottom up: part of schema.cpp.
#pragma once

#include "document.hpp"
#include "types.hpp"
#include "words.hpp"

#include <array>

namespace etagere::app::config {

// ------------------------------------------------------------------------------------------------------------- cache

template <>
inline constexpr auto keys<settings::lifetime> = [] {
    using s = settings::lifetime;
    return std::array{
        key<&s::default_, duration{.seconds = true}>("default",
                                                     "where the origin is silent; 0s: store, always revalidate"),
        key<&s::max, duration{.least = 1000, .seconds = true}>("max", "upper bound on what the origin says"),
        key<&s::override, boolean{}>("override", "`default` holds even where the origin says otherwise")};
}();

template <>
inline constexpr auto keys<settings::stale> = [] {
    using s = settings::stale;
    return std::array{
        key<&s::while_revalidate, duration{.seconds = true}>("while_revalidate",
                                                             "RFC 5861 §3, unless the origin forbids"),
        key<&s::if_error, duration{.seconds = true}>("if_error", "RFC 5861 §4, unless the origin forbids"),
        key<&s::if_unreachable, duration{.seconds = true}>(
            "if_unreachable", "where the origin gives no answer at all, unless it forbids; RFC 9111 §4.2.4")};
}();

inline constexpr std::array<field<settings::cache_key>, 2> query_keys{
    {key<&settings::cache_key::query_sort, boolean{}>("sort", "the order of parameters does not matter"),
     key<&settings::cache_key::query_ignore, list<parameter>{}>("ignore",
                                                                "parameters that do not matter; utm_* for many")}};

template <>
inline constexpr auto keys<settings::cache_key> = [] {
    using s = settings::cache_key;
    return std::array{group<s, query_keys>("query", "query string"),
                      key<&s::headers, list<field_name>{}>("headers", "request fields that part the key"),
                      key<&s::cookies, list<cookie_name>{}>("cookies", "cookies that part the key")};
}();

template <>
inline constexpr auto keys<settings::vary> = [] {
    using s = settings::vary;
    return std::array{key<&s::max_variants, count{1, 1'000}>("max_variants", "of one key; the oldest goes"),
                      key<&s::normalize, list<word<normalizable>>{}>("normalize", "equal meanings are one variant")};
}();

template <>
inline constexpr auto keys<settings::collapse> =
    std::array{key<&settings::collapse::wait, duration{.least = 1}>("wait", "then a follower asks for itself")};

/// `negative: { "404": 10s }`: any error status is a key.
struct statuses {
    std::string type() const { return "map of status to duration"; }
    void read(reader& r, const node& n, std::vector<std::pair<int, milliseconds>>& out) const {
        if (!r.expect_map(n, "statuses from 400 to 599")) {
            return;
        }
        out.clear();
        for (const member& m : n.members) {
            const reader::scope inside(r, m.key);
            const auto status = parse_count({.text = m.key, .shown = m.key}, 400, 599);
            if (!status) {
                r.error(m.at, fmt::format("{} is not an error status, 400 to 599", quoted(m.key)));
                continue;
            }
            auto& entry = out.emplace_back(static_cast<int>(*status), milliseconds{0});
            read_value(duration{.seconds = true}, r, m.value, entry.second);
        }
    }
};

template <>
inline constexpr auto keys<settings::tags> = [] {
    using s = settings::tags;
    return std::array{key<&s::from, list<field_name>{}>("from", "response fields that name tags"),
                      key<&s::add, list<tag>{}>("add", "tags of every answer")};
}();

template <>
inline constexpr auto keys<settings::cache> = [] {
    using s = settings::cache;
    return std::array{
        key<&s::store, name{}>("store", "name of a store"),
        key<&s::mode, word<settings::cache_mode>{}>("mode", "shared between clients, or private to one consumer"),
        key<&s::per_credential, list<field_name>{}>("per_credential",
                                                    "fields that tell users apart: they part the key"),
        key<&s::lifetime, object{}>("lifetime", "freshness"),
        key<&s::negative, statuses{}>("negative", "lifetime of errors where the origin is silent"),
        key<&s::stale, object{}>("stale", "answers past their lifetime"),
        key<&s::validate_for, duration{.seconds = true}>("validate_for", "kept after that, for a 304 to revive"),
        key<&s::client_directives, word<settings::client_directives>{}>("client_directives",
                                                                        "Cache-Control of clients"),
        key<&s::origin_private, word<settings::origin_private>{}>("private",
                                                                  "what the origin calls private: Rails' default"),
        key<&s::key, object{}>("key", "what makes two requests the same"),
        key<&s::vary, object{}>("vary", "variants of one key"),
        key<&s::collapse, switchable{}>("collapse", "identical requests at one time are one upstream request"),
        key<&s::cookies, word<settings::cookie_rule>{}>("cookies",
                                                        "guarded as what tells users apart, or plain fields"),
        key<&s::foreign_codings, boolean{}>("foreign_codings", "take answers in unknown transfer codings"),
        key<&s::targeted, list<field_name>{}>("targeted", "fields that stand above Cache-Control; RFC 9213"),
        key<&s::tags, object{}>("tags", "names to purge by"),
        key<&s::no_vary_search, boolean{}>("no_vary_search", "believe the origin's No-Vary-Search"),
        key<&s::heuristic, boolean{}>("heuristic", "RFC 9111 §4.2.2: a lifetime guessed from Last-Modified"),
        key<&s::max_object, size{.least = 1, .unlimited = true}>("max_object", "larger bodies are not stored")};
}();

template <>
inline constexpr auto keys<settings::etag> = [] {
    using s = settings::etag;
    return std::array{
        key<&s::when_missing, word<settings::etag_when_missing>{}>("when_missing", "tag where the origin sends none"),
        key<&s::digest, word<settings::etag_digest>{}>("digest", "what the tag is made with"),
        key<&s::max_body, size{}>("max_body", "larger bodies pass untagged"),
        key<&s::max_hold, duration{}>("max_hold", "a body that takes longer to arrive passes untagged"),
        key<&s::json_ignore, list<json_pointer>{}>("json_ignore", "parts of a JSON body that do not count for the tag"),
        key<&s::repair, list<word<settings::tag_repair>>{}>("repair", "tags that were mangled on the way"),
        key<&s::audit, share{}>("audit",
                                "share of validated hits that are fetched in full, to see if the 304 was true")};
}();

template <>
inline constexpr auto keys<settings::compress> = [] {
    using s = settings::compress;
    return std::array{key<&s::algorithms, list<word<settings::coding>>{}>("algorithms", "in order of preference"),
                      key<&s::above, size{}>("above", "shorter bodies stay as they are")};
}();

template <>
inline constexpr auto keys<settings::purge_on_success> = [] {
    using s = settings::purge_on_success;
    return std::array{key<&s::tags, list<tag>{}>("tags", "what carries one of these"),
                      key<&s::routes, list<name>{}>("routes", "what these routes keep"),
                      key<&s::prefixes, list<path_prefix>{}>("prefixes", "paths of the same host that begin so"),
                      key<&s::soft, boolean{}>("soft", "what is purged may still be validated")};
}();

template <>
inline constexpr auto keys<settings::headers> =
    std::array{key<&settings::headers::cache_status, word<on_off>{}>("cache_status", "RFC 9211 field on every answer")};

// ------------------------------------------------------------------------------------------------------------ routes

/// Stands before `cache` in its table, so that the keys there come on top.
template <class S> constexpr field<S> profile_key() {
    return {.name = "profile",
            .help = "what the keys of `cache` start from",
            .required = false,
            .read =
                [](reader& r, const node& n, S& s) {
                    auto p = settings::profile::api;
                    read_value(word<settings::profile>{}, r, n, p);
                    apply(p, s.cache);
                },
            .describe =
                [](const std::string& path, std::string_view help, std::vector<config_key>& out) {
                    describe_value<word<settings::profile>, settings::profile>({}, path, help, out);
                }};
}

template <>
inline constexpr auto keys<settings::match> = [] {
    using s = settings::match;
    return std::array{key<&s::host, host_pattern{}>("host", "api.example.com or *.example.com; without: any"),
                      key<&s::path, path_pattern{}>("path", "/a/*, /a/{id}, /a/**; without: /**"),
                      key<&s::methods, list<method>{}>("methods", "without: all; GET includes HEAD")};
}();

template <>
inline constexpr auto keys<settings::route> = [] {
    using s = settings::route;
    return std::array{required<&s::name, name{}>("name", "in metrics and logs; unique"),
                      required<&s::match, object{}>("match", "which requests"),
                      key<&s::upstream, name{}>("upstream", "name of an upstream; without: the one called default"),
                      profile_key<settings::route>(),
                      key<&s::cache, switchable{}>("cache", "off, or rules on top of defaults.cache"),
                      key<&s::etag, object{}>("etag", "tags of our own"),
                      key<&s::compress, object{}>("compress", "codings for what comes uncompressed"),
                      key<&s::purge_on_success, object{}>("purge_on_success", "by answers to unsafe requests"),
                      key<&s::headers, object{}>("headers", "fields added to answers"),
                      key<&s::stream, boolean{}>("stream", "never buffered, tagged or stored")};
}();

template <>
inline constexpr auto keys<defaults> = [] {
    using s = defaults;
    return std::array{profile_key<defaults>(), key<&s::cache, switchable{}>("cache", "for every route"),
                      key<&s::etag, object{}>("etag", "for every route"),
                      key<&s::compress, object{}>("compress", "for every route"),
                      key<&s::headers, object{}>("headers", "for every route")};
}();

}  // namespace etagere::app::config
