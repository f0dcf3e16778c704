// From one scalar to one typed value. Knows neither YAML nor where the scalar stands; an error is a sentence for the
// operator that starts with the scalar as he wrote it.
#pragma once

#include "etagere/app/config.hpp"
#include "etagere/settings/settings.hpp"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app::config {

/// `shown` is what the file says, `text` what it means after interpolation. Only `shown` may appear in messages.
struct scalar {
    std::string text;
    std::string shown;
    bool literal() const noexcept { return text == shown; }
};

template <class T> using parsed = std::expected<T, std::string>;

/// Replaces `${…}` and `$$` in `written`.
parsed<scalar> interpolate(std::string_view written, const environment& env, const file_reader& files);

/// "a, b,c" → a | b | c; an empty scalar is an empty list. An element of an interpolated scalar is shown as the whole.
std::vector<scalar> split_list(const scalar& s);

parsed<milliseconds> parse_duration(const scalar& s);  // 250ms 30s 1h30m 7d 0
parsed<std::uint64_t> parse_size(const scalar& s);     // 900KiB 64MiB 10MB 0
parsed<std::uint64_t> parse_rate(const scalar& s);     // 240B/s 1KiB/s 0
parsed<double> parse_share(const scalar& s);           // 5% 0.1% 0, as 0 to 1
parsed<std::uint32_t> parse_count(const scalar& s, std::uint32_t least, std::uint32_t most);
parsed<bool> parse_boolean(const scalar& s);                       // true false
parsed<settings::address> parse_address(const scalar& s);          // :8080 127.0.0.1:9901 [::1]:9901 unix:/run/app.sock
parsed<settings::endpoint> parse_endpoint(const scalar& s);        // http://host:port unix:/run/app.sock
parsed<settings::memcached_server> parse_server(const scalar& s);  // host:port host [::1]:11211
parsed<settings::network> parse_network(const scalar& s);          // 10.0.0.0/8 2001:db8::/32 192.0.2.7

parsed<std::string> parse_secret(const scalar& s);       // any text; empty means none
parsed<std::string> parse_name(const scalar& s);         // of a route, store, upstream, listener: a metric label
parsed<std::string> parse_field_name(const scalar& s);   // RFC 9110 §5.1
parsed<std::string> parse_cookie_name(const scalar& s);  // RFC 6265 §4.1.1
parsed<std::string> parse_method(const scalar& s);       // RFC 9110 §9.1
parsed<std::string> parse_parameter(const scalar& s);    // query parameter, `*` at its end
parsed<std::string> parse_host_pattern(const scalar& s);
parsed<std::string> parse_path_pattern(const scalar& s);
parsed<std::string> parse_url_path(const scalar& s);     // /metrics
parsed<std::string> parse_path_prefix(const scalar& s);  // /api/products/
parsed<std::string> parse_tag(const scalar& s);
parsed<std::string> parse_json_pointer(const scalar& s);  // /meta/request_id

/// 1047552 → "1023KiB"
std::string size_text(std::uint64_t bytes);
bool is_ip_literal(const std::string& host);
bool is_loopback(const std::string& host);

}  // namespace etagere::app::config
