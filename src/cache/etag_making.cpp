#include "etagere/cache/decisions.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace etagere::cache {
namespace {

using http::field_id;

/// Media types whose messages arrive as they happen.
constexpr std::array<std::string_view, 9> stream_types{
    "text/event-stream",       "application/x-ndjson",      "application/ndjson",
    "application/jsonl",       "application/x-jsonlines",   "application/json-seq",
    "application/stream+json", "multipart/x-mixed-replace", "application/grpc"};

bool starts_with_ignoring_case(std::string_view text, std::string_view start) noexcept {
    return text.size() >= start.size() && http::iequals(text.substr(0, start.size()), start);
}

}  // namespace

bool is_stream(const http::fields& header) noexcept {
    const std::string_view type = header.get(field_id::content_type);
    const std::string_view essence = http::trim(type.substr(0, type.find(';')));
    const auto is_essence = [essence](std::string_view t) {
        return t.size() == essence.size() && http::iequals(essence, t);
    };
    if (std::ranges::any_of(stream_types, is_essence)) return true;
    // application/grpc+proto, application/grpc-web+json, …
    if (starts_with_ignoring_case(essence, "application/grpc+") ||
        starts_with_ignoring_case(essence, "application/grpc-")) {
        return true;
    }
    if (!header.has_others()) return false;
    const auto buffering = header.find("X-Accel-Buffering");
    return buffering && http::iequals(http::trim(*buffering), "no");
}

bool wants_own_etag(const http::request_head& request, const http::response_head& response,
                    const policy& rules) noexcept {
    if (rules.etag_when_missing == etag_making::off || rules.stream) return false;
    if (request.verb != http::method::get && request.verb != http::method::head) return false;
    if (response.status != 200 || response.header.has(field_id::etag) || is_stream(response)) return false;
    return response.body.how != http::framing::kind::length || response.body.length <= rules.etag_max_body;
}

// RFC 9110 §8.8.3
std::string make_etag(std::string_view digest_hex, etag_making strength) {
    if (strength == etag_making::off) return {};
    std::string tag = strength == etag_making::weak ? "W/\"" : "\"";
    return tag.append(digest_hex).append("\"");
}

}  // namespace etagere::cache
