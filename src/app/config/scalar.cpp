#include "scalar.hpp"

#include "etagere/routing/pattern.hpp"

#include "problems.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace etagere::app::config {
namespace {

struct unit {
    std::string_view name;
    std::uint64_t factor;
};
// Largest first: 1h30m is written in this order.
constexpr std::array<unit, 5> duration_units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::uint64_t k = 1024;
constexpr std::array<unit, 10> size_units{{{"B", 1},
                                           {"KiB", k},
                                           {"MiB", k* k},
                                           {"GiB", k* k* k},
                                           {"TiB", k* k* k* k},
                                           {"kB", 1'000},
                                           {"KB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000}}};

template <std::size_t N> const unit* find_unit(const std::array<unit, N>& units, std::string_view name) {
    const auto it = std::ranges::find(units, name, &unit::name);
    return it == units.end() ? nullptr : &*it;
}

bool digits_only(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Takes the number at the front of `text`; nullopt without one or above 2^64.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t n = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return n;
}

std::unexpected<std::string> refuse(const scalar& s, std::string_view why) {
    return std::unexpected(fmt::format("{} {}", quoted(s.shown), why));
}

/// `"20" has no unit; write "20ms" or "20s"`
std::unexpected<std::string> no_unit(const scalar& s, std::string_view small, std::string_view large) {
    const std::string_view n = s.literal() ? std::string_view(s.text) : "20";
    return refuse(s, fmt::format("has no unit; write \"{0}{1}\" or \"{0}{2}\"", n, small, large));
}

std::unexpected<std::string> no_duration(const scalar& s) {
    if (s.text.starts_with('-')) {
        return refuse(s, "is negative; a duration is 0 or more");
    }
    return refuse(s, "is not a duration; write, for example, \"250ms\", \"30s\", \"5m\", \"1h30m\" or \"7d\"");
}

std::unexpected<std::string> no_size(const scalar& s) {
    if (s.text.starts_with('-')) {
        return refuse(s, "is negative; a size is 0 or more");
    }
    std::string_view left = s.text;
    const auto n = take_number(left);
    const std::string_view prefix = left.substr(0, 1);
    if (s.literal() && n && !prefix.empty() && std::string_view("kKmMgGtT").contains(prefix.front())) {
        const char big = static_cast<char>(prefix.front() & ~0x20);
        return refuse(s, fmt::format("is not a size; write \"{0}{1}iB\" (or \"{0}{1}B\", which is decimal)", *n, big));
    }
    return refuse(s, "is not a size; write, for example, \"900KiB\", \"64MiB\" or \"1GiB\"");
}

struct host_port {
    std::string host;
    std::optional<std::uint16_t> port;
};

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= 253 && std::ranges::all_of(host, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
               c == '_';
    });
}

/// host, host:port, [v6], [v6]:port, :port. The host may be empty, a bracketed one comes without its brackets.
parsed<host_port> split_host_port(const scalar& s, std::string_view text) {
    host_port out;
    std::string_view port;
    bool has_port = false;
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == text.npos) {
            return refuse(s, "has no `]`");
        }
        out.host = text.substr(1, close - 1);
        port = text.substr(close + 1);
        has_port = port.starts_with(':');
        if (!out.host.contains(':') || !is_ip_literal(out.host) || (!port.empty() && !has_port)) {
            return refuse(s, "is not an address; an IPv6 address is written [::1]:8080");
        }
    } else {
        const std::size_t colon = text.find(':');
        out.host = text.substr(0, colon);
        has_port = colon != text.npos;
        port = has_port ? text.substr(colon) : std::string_view();
        if (port.substr(std::min<std::size_t>(port.size(), 1)).contains(':')) {
            return refuse(s, "is not an address; an IPv6 address is written [::1]:8080");
        }
        if (!out.host.empty() && !is_host(out.host)) {
            return refuse(s, "has a character that no host name has");
        }
    }
    if (has_port) {
        std::string_view left = port.substr(1);
        const bool number = digits_only(left);
        const auto n = take_number(left);
        if (!number || !n || *n > std::numeric_limits<std::uint16_t>::max()) {
            return refuse(s, "has no valid port; a port is a number from 0 to 65535");
        }
        out.port = static_cast<std::uint16_t>(*n);
    }
    return out;
}

/// The path of a Unix socket; Linux' sun_path has 108 bytes, one of them the end.
parsed<std::string> socket_path(const scalar& s, std::string_view text) {
    if (!text.starts_with('/')) {
        return refuse(s, "needs an absolute path, as in unix:/run/app.sock");
    }
    if (text.size() > 107) {
        return refuse(s, "is longer than the 107 bytes that a socket's path can have");
    }
    return std::string(text);
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("!#$%&'*+-.^_`|~").contains(c);
    });
}

}  // namespace

parsed<milliseconds> parse_duration(const scalar& s) {
    constexpr auto longest = static_cast<std::uint64_t>(settings::never.count());
    if (s.text == "0") {
        return milliseconds{0};
    }
    if (digits_only(s.text)) {
        return no_unit(s, "ms", "s");
    }
    std::string_view left = s.text;
    std::uint64_t total = 0;
    std::uint64_t last_factor = std::numeric_limits<std::uint64_t>::max();
    do {
        const auto n = take_number(left);
        const std::string_view name = left.substr(0, left.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
        const unit* u = find_unit(duration_units, name);
        if (!n || u == nullptr || u->factor >= last_factor) {
            return no_duration(s);
        }
        if (*n > longest / u->factor) {
            return refuse(s, "is longer than 100 years");
        }
        total += *n * u->factor;
        last_factor = u->factor;
        left.remove_prefix(name.size());
    } while (!left.empty());
    if (total > longest) {
        return refuse(s, "is longer than 100 years");
    }
    return milliseconds{static_cast<std::int64_t>(total)};
}

parsed<std::uint64_t> parse_size(const scalar& s) {
    if (s.text == "0") {
        return 0;
    }
    if (digits_only(s.text)) {
        return no_unit(s, "KiB", "MiB");
    }
    std::string_view left = s.text;
    const auto n = take_number(left);
    const unit* u = find_unit(size_units, left);
    if (!n || u == nullptr) {
        return no_size(s);
    }
    // 2^63 and above is kept free for `unlimited` and for sums of two sizes.
    if (*n > std::uint64_t{std::numeric_limits<std::int64_t>::max()} / u->factor) {
        return refuse(s, "is too large");
    }
    return *n * u->factor;
}

std::string size_text(std::uint64_t bytes) {
    for (const std::string_view name : {"GiB", "MiB", "KiB"}) {
        const std::uint64_t factor = find_unit(size_units, name)->factor;
        if (bytes != 0 && bytes % factor == 0) {
            return fmt::format("{}{}", bytes / factor, name);
        }
    }
    return fmt::format("{}B", bytes);
}

parsed<std::uint64_t> parse_rate(const scalar& s) {
    if (s.text == "0") {
        return 0;
    }
    if (!s.text.ends_with("/s")) {
        return refuse(s, "is not a rate; write, for example, \"240B/s\" or \"1KiB/s\"");
    }
    auto size = parse_size({.text = s.text.substr(0, s.text.size() - 2), .shown = s.shown});
    if (!size) {
        return refuse(s, "is not a rate; write, for example, \"240B/s\" or \"1KiB/s\"");
    }
    return size;
}

parsed<double> parse_share(const scalar& s) {
    if (s.text == "0") {
        return 0.0;
    }
    if (!s.text.ends_with('%')) {
        if (digits_only(s.text) && s.literal()) {
            return refuse(s, fmt::format("has no unit; write \"{}%\"", s.text));
        }
        return refuse(s, "is not a share; write, for example, \"5%\"");
    }
    const std::string_view number = std::string_view(s.text).substr(0, s.text.size() - 1);
    double value = 0;
    const auto [end, ec] =
        std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    if (ec != std::errc() || end != number.data() + number.size() || value < 0 || value > 100 || std::isnan(value)) {
        return refuse(s, "is not a share from 0% to 100%");
    }
    return value / 100;
}

parsed<std::uint32_t> parse_count(const scalar& s, std::uint32_t least, std::uint32_t most) {
    std::string_view left = s.text;
    const bool number = digits_only(left);
    const auto n = take_number(left);
    if (!number || !n || *n < least || *n > most) {
        return refuse(s, fmt::format("is not a whole number from {} to {}", least, most));
    }
    return static_cast<std::uint32_t>(*n);
}

parsed<bool> parse_boolean(const scalar& s) {
    if (s.text == "true" || s.text == "false") {
        return s.text == "true";
    }
    return refuse(s, "is not a boolean; write true or false");
}

parsed<settings::address> parse_address(const scalar& s) {
    settings::address out;
    if (s.text.starts_with("unix:")) {
        auto path = socket_path(s, std::string_view(s.text).substr(5));
        if (!path) {
            return std::unexpected(std::move(path.error()));
        }
        out.kind = settings::transport::unix_socket;
        out.path = std::move(*path);
        return out;
    }
    auto at = split_host_port(s, s.text);
    if (!at) {
        return std::unexpected(std::move(at.error()));
    }
    const std::optional<std::uint16_t> port = at->port;
    if (!port) {
        return refuse(s, "has no port; write, for example, \":8080\" or \"127.0.0.1:8080\"");
    }
    if (!at->host.empty() && !is_ip_literal(at->host)) {
        return refuse(s, "is not an address of this machine; write an IP address, or \":8080\" for all of them");
    }
    out.host = std::move(at->host);
    out.port = *port;
    return out;
}

parsed<settings::endpoint> parse_endpoint(const scalar& s) {
    constexpr std::string_view forms = "write http://host:port or unix:/path";
    settings::endpoint out;
    std::string_view text = s.text;
    if (text.starts_with("unix:")) {
        auto path = socket_path(s, text.substr(5));
        if (!path) {
            return std::unexpected(std::move(path.error()));
        }
        out.kind = settings::transport::unix_socket;
        out.path = std::move(*path);
        return out;
    }
    if (text.starts_with("https://")) {
        return refuse(s, "is not supported: upstreams speak plain http");
    }
    if (!text.starts_with("http://")) {
        return refuse(s, fmt::format("is not an endpoint; {}", forms));
    }
    text.remove_prefix(7);
    if (text.ends_with('/')) {
        text.remove_suffix(1);
    }
    if (text.find_first_of("/?#@") != text.npos) {
        return refuse(s, "has more than a host and a port; the path of a request is sent on as it is");
    }
    auto at = split_host_port(s, text);
    if (!at) {
        return std::unexpected(std::move(at.error()));
    }
    if (at->host.empty()) {
        return refuse(s, fmt::format("has no host; {}", forms));
    }
    if (at->port == 0) {
        return refuse(s, "has port 0; nobody listens there");
    }
    out.host = std::move(at->host);
    out.port = at->port.value_or(80);
    return out;
}

parsed<settings::memcached_server> parse_server(const scalar& s) {
    if (s.text.contains("://")) {
        return refuse(s, "is not a server; write host:port without a scheme");
    }
    auto at = split_host_port(s, s.text);
    if (!at) {
        return std::unexpected(std::move(at.error()));
    }
    if (at->host.empty()) {
        return refuse(s, "has no host; write host:port");
    }
    if (at->port == 0) {
        return refuse(s, "has port 0; nobody listens there");
    }
    return settings::memcached_server{.host = std::move(at->host), .port = at->port.value_or(11211)};
}

parsed<std::string> parse_secret(const scalar& s) {
    return s.text;
}

parsed<std::string> parse_name(const scalar& s) {
    const bool fine = !s.text.empty() && s.text.size() <= 64 && std::ranges::all_of(s.text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!fine) {
        return refuse(s, "is not a name; a name is 1 to 64 letters, digits, `-` and `_`");
    }
    return s.text;
}

parsed<std::string> parse_field_name(const scalar& s) {
    if (!is_token(s.text)) {
        return refuse(s, "is not a field name");
    }
    return s.text;
}

parsed<std::string> parse_cookie_name(const scalar& s) {
    if (!is_token(s.text)) {
        return refuse(s, "is not the name of a cookie");
    }
    return s.text;
}

parsed<std::string> parse_method(const scalar& s) {
    if (!is_token(s.text)) {
        return refuse(s, "is not a method");
    }
    if (std::ranges::any_of(s.text, [](char c) { return c >= 'a' && c <= 'z'; })) {
        return refuse(s, "is not a method; methods are written in capitals, as in GET");
    }
    return s.text;
}

parsed<std::string> parse_parameter(const scalar& s) {
    const std::size_t star = s.text.find('*');
    if (s.text.empty() || (star != s.text.npos && star + 1 != s.text.size())) {
        return refuse(s, "is not the name of a parameter; `*` can only be at its end, as in utm_*");
    }
    return s.text;
}

parsed<std::string> parse_host_pattern(const scalar& s) {
    if (const auto fine = routing::check_host_pattern(s.text); !fine) {
        return std::unexpected(fmt::format("{}: {}", quoted(s.shown), fine.error()));
    }
    return s.text;
}

parsed<std::string> parse_path_pattern(const scalar& s) {
    if (const auto pattern = routing::parse_pattern(s.text); !pattern) {
        return std::unexpected(fmt::format("{}: {}", quoted(s.shown), pattern.error()));
    }
    return s.text;
}

parsed<std::string> parse_url_path(const scalar& s) {
    const auto pattern = routing::parse_pattern(s.text);
    if (!pattern || !pattern->exact()) {
        return refuse(s, "is not a path, as in /metrics");
    }
    return s.text;
}

namespace {
bool is_visible(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}
}  // namespace

parsed<std::string> parse_path_prefix(const scalar& s) {
    if (!is_visible(s.text) || !s.text.starts_with('/') || s.text.find_first_of("?#*") != std::string::npos) {
        return refuse(s, "is not the beginning of a path, as in /api/products/");
    }
    return s.text;
}

parsed<std::string> parse_tag(const scalar& s) {
    if (!is_visible(s.text) || s.text.find_first_of(",\"") != std::string::npos || s.text.size() > 256) {
        return refuse(s, "is not a tag: up to 256 visible characters without comma or quote");
    }
    return s.text;
}

// RFC 6901 §3
parsed<std::string> parse_json_pointer(const scalar& s) {
    bool good = s.text.starts_with('/');
    for (std::size_t at = s.text.find('~'); good && at != std::string::npos; at = s.text.find('~', at + 1)) {
        good = at + 1 < s.text.size() && (s.text[at + 1] == '0' || s.text[at + 1] == '1');
    }
    if (!good) {
        return refuse(s, "is not a JSON pointer, as in /meta/request_id");
    }
    return s.text;
}

}  // namespace etagere::app::config
