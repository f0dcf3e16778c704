// Ranges and incomplete responses (RFC 9110 §14, RFC 9111 §3.3, §3.4) as functions of (request, response, policy, now).
//
// A partial is a stored_response with status 206 whose `parts` say which octets of `complete_length` its body holds,
// one after the other. It answers only ranges that lie in what it holds, and never stands for the whole: answer_range()
// says so, and everything that sends a stored response asks it. Pure; what is on the way of a hit allocates nothing.
#pragma once

#include "etagere/cache/decisions.hpp"
#include "etagere/http/range.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace etagere::cache {

/// What If-Range is compared with.
struct validators {
    std::string_view etag;  // byte for byte, "" without
    std::optional<wall_seconds> last_modified;
    std::optional<wall_seconds> date;
};
validators validators_of(const stored_response& r) noexcept;
validators validators_of(const http::fields& response, wall_time now) noexcept;

/// RFC 9110 §8.8.2.2: a Last-Modified so long before Date that it cannot have changed twice within its second,
/// whoever's clocks they are. A minute.
bool is_strong_date(const std::optional<wall_seconds>& last_modified, const std::optional<wall_seconds>& date) noexcept;
/// A strong tag of the origin's, or, without any tag, a strong date.
bool has_strong_validator(const stored_response& r) noexcept;

/// The ranges that this request wants, whatever is there; nullopt where it wants the whole: no GET (RFC 9110 §14.2), no
/// Range that has to be obeyed, or an If-Range that cannot be true (a weak tag, no date, two of them: §13.1.5).
std::optional<http::range_request> wanted_range(const http::request_head& request) noexcept;
/// §13.1.5: strong comparison; a date only where it is exactly Last-Modified, and that is strong. True without
/// If-Range.
bool if_range_holds(const http::fields& request, const validators& of) noexcept;

struct range_answer {
    enum class kind : std::uint8_t {
        whole,          // no range is asked for, or none that has to be obeyed
        single,         // 206 with Content-Range
        several,        // 206 as multipart/byteranges
        unsatisfiable,  // 416
        not_held,       // ranges of a partial that does not hold them
    };
    kind what = kind::whole;
    http::byte_ranges ranges;  // of single and several
    std::uint64_t length = 0;  // of the whole
};
/// RFC 9110 §14.2: a Range speaks of a 200 (or of a part of one) and of nothing else; nor of one that has a
/// Content-Range of its own, which could not be told apart from ours.
bool may_be_cut(int status, const http::fields& header) noexcept;
/// Of a complete 200 with that many octets. Conditions are evaluated before (RFC 9110 §13.2.2).
range_answer answer_range(const http::request_head& request, const validators& of, std::uint64_t length) noexcept;
/// Of a stored response. `whole` for every status that a Range does not speak of (§14.2: what would be no 200 without
/// it). Of a partial, `whole` and `not_held` mean that it cannot answer.
range_answer answer_range(const http::request_head& request, const stored_response& r) noexcept;
/// Whether a stored response has all that `answer` needs.
bool can_answer(const stored_response& r, const range_answer& answer) noexcept;

/// The octets of one range: of `body`, which is the whole, or what a partial holds. The range has to be in there.
std::string_view octets(const stored_response& r, std::string_view body, http::byte_range range) noexcept;

/// The header of a 206 from that of the 200: without what speaks of the content that was sent whole (Content-Range,
/// Content-Digest, Content-MD5). `content_type` replaces Content-Type, "" leaves it.
http::fields partial_header(const http::fields& whole, std::string_view content_type);
/// True where partial_header() changes nothing: the prebuilt head will do.
bool is_partial_header(const http::fields& whole) noexcept;

/// multipart/byteranges (RFC 9110 §14.6). `boundary`: up to 70 characters of a token that nobody can foretell.
std::string multipart_type(std::string_view boundary);
/// `octets`: of each range of `answer`, in its order. `content_type`: of the whole, "" for none.
std::string multipart_body(const range_answer& answer, std::span<const std::string_view> octets,
                           std::string_view content_type, std::string_view boundary);

// ---------------------------------------------------------------- keeping and combining (RFC 9111 §3.3, §3.4)

/// May a 206 be kept? Where the 200 that it is a part of might be; and only a single range whose Content-Range names
/// the complete length and agrees with the length of the body. One that is not all needs a strong validator, without
/// which it can never be combined.
struct part_judgement {
    storability may;
    http::byte_range range;
    std::uint64_t length = 0;
};
part_judgement judge_part(const http::request_head& request, const http::response_head& response, const policy& rules,
                          wall_time now);
/// The partial of a 206 that was judged; a complete 200 where its range is everything. Indexed.
stored_response make_part(const http::request_head& request, const http::response_head& response,
                          const part_judgement& judged, const policy& rules, wall_time request_time,
                          wall_time response_time, credential_digest digest);

bool same_strong_validator(const stored_response& a, const stored_response& b) noexcept;
/// RFC 9111 §3.4: the same strong validator, the same complete length, the same coding, the same selecting fields.
bool may_combine(const stored_response& held, const stored_response& part);
struct combined {
    stored_response response;  // status 200, and no parts, where nothing is missing any more
    std::string body;
};
/// Fields of `part` replace those of `held`, its octets are written over held ones. Needs may_combine(). Beyond
/// most_parts the smallest parts are given up.
inline constexpr std::size_t most_parts = 32;
combined combine(const stored_response& held, std::string_view held_body, const stored_response& part,
                 std::string_view part_body);

/// From the first to the last octet that a partial misses.
http::byte_range missing_range(const stored_response& partial) noexcept;
/// Asks for missing_range() on the condition that the representation is still the same (RFC 9110 §13.1.5); nothing of
/// the client's own conditions and range.
void add_completion(http::fields& request, const stored_response& partial);
/// The answer to that, with the fields of `partial` that a 206 to If-Range leaves out (RFC 9110 §15.3.7.1).
http::response_head fill_in_fields(const http::response_head& answer, const stored_response& partial);

}  // namespace etagere::cache
