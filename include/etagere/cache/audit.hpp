// Was a 304 true? What a fetch in full shows of the validator that the origin had vouched for.
#pragma once

#include "etagere/cache/policy.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/message.hpp"

#include <cstdint>
#include <string_view>

namespace etagere::cache {

enum class audit_verdict : std::uint8_t {
    true_304,      // same validator, same bytes
    wrong_304,     // same validator, other bytes: whoever got a 304 keeps what is outdated
    churn,         // other validator, same bytes: every client fetches again what it has
    inconclusive,  // it has changed meanwhile, or cannot be compared
};

/// `body`: of `stored`, which the origin had just answered 304 for; `answer` and `now_body`: what it sent when asked in
/// full. Bytes that differ in a gzip time stamp only, or under a weak tag in what the route's json_ignore names, are
/// the same.
audit_verdict judge_audit(const stored_response& stored, std::string_view body, const http::response_head& answer,
                          std::string_view now_body, const policy& rules);

/// May the answer be asked for again on nobody's behalf: nothing of one user in the question, nor in what is stored.
bool may_audit(const http::request_head& request, const stored_response& stored) noexcept;

}  // namespace etagere::cache
