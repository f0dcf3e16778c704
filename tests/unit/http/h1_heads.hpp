// Small helpers for tests of HTTP/1 heads.
#pragma once

#include "etagere/http/h1/parser.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etagere::http::h1 {

using pairs = std::vector<std::pair<std::string, std::string>>;

inline pairs list(const fields& all) {
    pairs out;
    for (const fields::entry f : all) out.emplace_back(f.name, f.value);
    return out;
}

struct parsed_request {
    result<std::size_t> taken;
    request_head head;
};

inline parsed_request request(std::string_view text, const head_limits& limits = {}, std::string_view scheme = "http") {
    parsed_request out;
    out.taken = parse_request(text, limits, scheme, out.head);
    return out;
}

/// A GET of "/" for host "a", HTTP/1.1, with these lines of fields (each without CRLF).
inline std::string get_with(std::initializer_list<std::string_view> lines) {
    std::string out = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (const std::string_view line : lines) out.append(line).append("\r\n");
    return out + "\r\n";
}

struct parsed_response {
    result<std::size_t> taken;
    response_head head;
};

inline parsed_response response(std::string_view text, method answers = method::get, const head_limits& limits = {}) {
    parsed_response out;
    out.taken = parse_response(text, limits, answers, out.head);
    return out;
}

/// The error's name, or "ok", or "incomplete".
inline std::string verdict(const result<std::size_t>& taken) {
    if (!taken) return std::string(error_name(taken.error()));
    return *taken == 0 ? "incomplete" : "ok";
}

}  // namespace etagere::http::h1
