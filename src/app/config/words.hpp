// The words that the file uses for enumerations and switches.
#pragma once

#include "binding.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace etagere::app::config {

template <class V, std::size_t N> constexpr auto make_words(const std::pair<std::string_view, V> (&list)[N]) {
    return std::to_array(list);
}

/// A switch is a word, a fact is a boolean: `cache: off`, `cache_status: on`, but `stream: true`, `override: true`.
struct on_off {};
template <> inline constexpr auto words<on_off> = make_words<bool>({{"on", true}, {"off", false}});
template <>
inline constexpr auto words<settings::listener_role> =
    make_words<settings::listener_role>({{"ingress", settings::listener_role::ingress},
                                         {"egress", settings::listener_role::egress},
                                         {"admin", settings::listener_role::admin}});
template <>
inline constexpr auto words<settings::distribution> =
    make_words<settings::distribution>({{"ketama", settings::distribution::ketama}});
template <>
inline constexpr auto words<settings::store_failure> = make_words<settings::store_failure>(
    {{"bypass", settings::store_failure::bypass}, {"memory_only", settings::store_failure::memory_only}});
template <>
inline constexpr auto words<settings::balance> =
    make_words<settings::balance>({{"round_robin", settings::balance::round_robin}});
template <>
inline constexpr auto words<settings::host_header> = make_words<settings::host_header>(
    {{"preserve", settings::host_header::preserve}, {"upstream", settings::host_header::upstream}});
template <>
inline constexpr auto words<settings::cache_mode> = make_words<settings::cache_mode>(
    {{"shared", settings::cache_mode::shared}, {"private", settings::cache_mode::private_}});
template <>
inline constexpr auto words<settings::client_directives> = make_words<settings::client_directives>(
    {{"ignore", settings::client_directives::ignore}, {"honour", settings::client_directives::honour}});
template <>
inline constexpr auto words<settings::origin_private> = make_words<settings::origin_private>(
    {{"leave", settings::origin_private::leave}, {"revalidate", settings::origin_private::revalidate}});
template <>
inline constexpr auto words<settings::profile> =
    make_words<settings::profile>({{"api", settings::profile::api}, {"rfc", settings::profile::rfc}});
template <>
inline constexpr auto words<settings::cookie_rule> = make_words<settings::cookie_rule>(
    {{"guard", settings::cookie_rule::guard}, {"plain", settings::cookie_rule::plain}});
template <>
inline constexpr auto words<settings::tag_repair> =
    make_words<settings::tag_repair>({{"quotes", settings::tag_repair::quotes},
                                      {"weak_prefix", settings::tag_repair::weak_prefix},
                                      {"suffix", settings::tag_repair::suffix}});
template <>
inline constexpr auto words<settings::coding> = make_words<settings::coding>(
    {{"gzip", settings::coding::gzip}, {"br", settings::coding::br}, {"zstd", settings::coding::zstd}});
template <>
inline constexpr auto words<settings::etag_when_missing> =
    make_words<settings::etag_when_missing>({{"off", settings::etag_when_missing::off},
                                             {"weak", settings::etag_when_missing::weak},
                                             {"strong", settings::etag_when_missing::strong}});
template <>
inline constexpr auto words<settings::etag_digest> =
    make_words<settings::etag_digest>({{"xxh3-128", settings::etag_digest::xxh3_128},
                                       {"sha-256", settings::etag_digest::sha_256},
                                       {"md5", settings::etag_digest::md5}});
template <>
inline constexpr auto words<settings::access_log_format> =
    make_words<settings::access_log_format>({{"off", settings::access_log_format::off},
                                             {"json", settings::access_log_format::json},
                                             {"combined", settings::access_log_format::combined},
                                             {"rack_cache", settings::access_log_format::rack_cache}});
template <>
inline constexpr auto words<settings::log_level> =
    make_words<settings::log_level>({{"trace", settings::log_level::trace},
                                     {"debug", settings::log_level::debug},
                                     {"info", settings::log_level::info},
                                     {"warn", settings::log_level::warn},
                                     {"error", settings::log_level::error}});
/// Fields of which the cache knows when two values mean the same.
struct normalizable {};
template <>
inline constexpr auto words<normalizable> = make_words<std::string_view>(
    {{"Accept", "Accept"}, {"Accept-Encoding", "Accept-Encoding"}, {"Accept-Language", "Accept-Language"}});
/// Members of the access line that can identify somebody.
struct redactable {};
template <>
inline constexpr auto words<redactable> =
    make_words<std::string_view>({{"query", "query"}, {"client_ip", "client_ip"}, {"user_agent", "user_agent"}});

}  // namespace etagere::app::config
