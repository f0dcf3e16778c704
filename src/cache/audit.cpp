#include "etagere/cache/audit.hpp"

#include "etagere/cache/canonical_json.hpp"
#include "etagere/http/lists.hpp"

#include "validation.hpp"

namespace etagere::cache {

using http::field_id;

namespace {

/// RFC 1952 §2.3.1: the time stamp of a gzip member. Some origins write the time of compressing there, so that equal
/// content never has equal bytes (Rack::Deflater without a Last-Modified).
constexpr std::size_t mtime_at = 4;
constexpr std::size_t mtime_end = 8;

bool equal_gzip(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && a.size() > mtime_end && a.substr(0, mtime_at) == b.substr(0, mtime_at) &&
           a.substr(mtime_end) == b.substr(mtime_end);
}

bool same_content(const stored_response& stored, std::string_view body, std::string_view now_body,
                  const policy& rules) {
    if (body == now_body) return true;
    const std::string_view coding = http::trim(stored.header.get(field_id::content_encoding));
    if (http::iequals(coding, "gzip")) return equal_gzip(body, now_body);
    const auto tag = stored.tag();
    if (!tag || !tag->weak || !counts_as_json(stored.header, rules)) return false;
    const auto before = canonical_json(body, rules.json_ignore);
    return before && before == canonical_json(now_body, rules.json_ignore);
}

}  // namespace

audit_verdict judge_audit(const stored_response& stored, std::string_view body, const http::response_head& answer,
                          std::string_view now_body, const policy& rules) {
    using enum audit_verdict;
    if (answer.status != 200) return inconclusive;
    if (stored.header.combined(field_id::content_encoding) != answer.header.combined(field_id::content_encoding)) {
        return inconclusive;
    }
    const bool tagged = !stored.etag().empty() && !stored.own_etag;
    const field_id validator = tagged ? field_id::etag : field_id::last_modified;
    const auto before = stored.header.find(validator);
    const auto now = answer.header.find(validator);
    if (!before || !now) return inconclusive;
    const bool same = tagged ? same_tag(*before, http::trim(*now)) : *before == *now;
    const bool equal = same_content(stored, body, now_body, rules);
    if (same) return equal ? true_304 : wrong_304;
    return equal ? churn : inconclusive;
}

bool may_audit(const http::request_head& request, const stored_response& stored) noexcept {
    return !request.header.has(field_id::authorization) && !request.header.has(field_id::cookie) &&
           !stored.always_validate && !stored.directives.private_;
}

}  // namespace etagere::cache
