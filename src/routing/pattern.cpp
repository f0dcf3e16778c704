#include "etagere/routing/pattern.hpp"

#include <algorithm>

namespace etagere::routing {
namespace {

bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '_'; });
}

bool is_host_char(char c) {
    return is_alnum(c) || c == '-' || c == '.' || c == '_';
}

/// What RFC 3986 §3.3 allows in a path, wildcards aside. Anything else never arrives: the request would be refused.
bool is_path_char(char c) {
    return is_alnum(c) || std::string_view("-._~!$&'()+,;=:@%").contains(c);
}

std::expected<segment, std::string> parse_segment(std::string_view text, bool last) {
    if (text == "**") {
        if (!last) {
            return std::unexpected("`**` can only be the last segment");
        }
        return segment{segment::kind::rest, {}};
    }
    if (text == "*") {
        return segment{segment::kind::one, {}};
    }
    if (text.starts_with('{') && text.ends_with('}')) {
        if (!is_name(text.substr(1, text.size() - 2))) {
            return std::unexpected("a capture is `{name}`, of letters, digits and `_`");
        }
        return segment{segment::kind::one, {}};
    }
    if (text.find_first_of("*{}") != text.npos) {
        return std::unexpected("`*`, `**` and `{name}` stand for whole segments");
    }
    if (text.find_first_of("?#") != text.npos) {
        return std::unexpected("a path has no query and no fragment");
    }
    if (!std::ranges::all_of(text, is_path_char)) {
        return std::unexpected("has a character that no path can have; write it percent-encoded, as clients send it");
    }
    return segment{segment::kind::literal, std::string(text)};
}

}  // namespace

std::size_t pattern::literal_prefix() const noexcept {
    const auto wild = std::ranges::find_if(segments, [](const segment& s) { return s.is != segment::kind::literal; });
    return static_cast<std::size_t>(wild - segments.begin());
}

std::expected<pattern, std::string> parse_pattern(std::string_view text) {
    if (!text.starts_with('/')) {
        return std::unexpected("a path starts with `/`");
    }
    text.remove_prefix(1);
    pattern out;
    while (true) {
        const std::size_t slash = text.find('/');
        const bool last = slash == text.npos;
        auto s = parse_segment(text.substr(0, slash), last);
        if (!s) {
            return std::unexpected(std::move(s.error()));
        }
        if (out.segments.size() == max_segments) {
            return std::unexpected("has more than 64 segments");
        }
        out.segments.push_back(std::move(*s));
        if (last) {
            return out;
        }
        text.remove_prefix(slash + 1);
    }
}

std::expected<void, std::string> check_host_pattern(std::string_view text) {
    std::string_view name = text;
    if (name.starts_with("*.")) {
        name.remove_prefix(2);
    }
    if (name.empty() || name.starts_with('.')) {
        return std::unexpected("is not a host name");
    }
    if (name.contains('*')) {
        return std::unexpected("`*` can only be the first label: `*.example.com`");
    }
    if (name.starts_with('[') && name.ends_with(']')) {
        if (name.contains(':') && name.find_first_not_of("0123456789abcdefABCDEF:.", 1) == name.size() - 1) {
            return {};
        }
        return std::unexpected("is not an IPv6 address");
    }
    if (name.contains(':')) {
        return std::unexpected("a host is matched without scheme and port");
    }
    if (!std::ranges::all_of(name, is_host_char)) {
        return std::unexpected("is not a host name");
    }
    return {};
}

std::optional<std::string> common_path(const pattern& a, const pattern& b) {
    std::string out;
    const auto& x = a.segments;
    const auto& y = b.segments;
    const auto spell = [&out](const std::vector<segment>& from, std::size_t i) {
        for (; i < from.size() && from[i].is != segment::kind::rest; ++i) {
            out += '/';
            out += from[i].is == segment::kind::literal ? from[i].text : "1";
        }
        return out.empty() ? std::string("/") : out;
    };
    for (std::size_t i = 0;; ++i) {
        const bool x_ends = i == x.size();
        const bool y_ends = i == y.size();
        if (!x_ends && x[i].is == segment::kind::rest) {
            return spell(y, i);
        }
        if (!y_ends && y[i].is == segment::kind::rest) {
            return spell(x, i);
        }
        if (x_ends && y_ends) {
            return out;
        }
        if (x_ends || y_ends) {
            return std::nullopt;
        }
        const segment& chosen = x[i].is == segment::kind::literal ? x[i] : y[i];
        const segment& other = x[i].is == segment::kind::literal ? y[i] : x[i];
        if (other.is == segment::kind::literal && other.text != chosen.text) {
            return std::nullopt;
        }
        // `*` does not match an empty segment
        if (other.is == segment::kind::one && chosen.is == segment::kind::literal && chosen.text.empty()) {
            return std::nullopt;
        }
        out += '/';
        out += chosen.is == segment::kind::literal ? chosen.text : "1";
    }
}

}  // namespace etagere::routing
