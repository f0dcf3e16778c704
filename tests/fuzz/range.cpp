// Range, Content-Range and If-Range. The input: the length of the representation (two octets), its tag, then Range,
// If-Range and Content-Range, each ended by NUL.
#include "etagere/cache/ranges.hpp"

#include "check.hpp"

#include <vector>

using namespace etagere;

namespace {

void check_resolved(const http::range_request& asked, std::uint64_t length) {
    http::byte_ranges ranges;
    const http::range_verdict verdict = http::resolve(asked, length, ranges);
    FUZZ_CHECK((verdict == http::range_verdict::satisfiable) == (ranges.size() > 0));
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        FUZZ_CHECK(ranges[i].first <= ranges[i].last && ranges[i].last < length);
        total += ranges[i].size();
        for (std::size_t j = 0; j < i; ++j) {
            FUZZ_CHECK(ranges[i].last < ranges[j].first || ranges[j].last < ranges[i].first);
        }
    }
    FUZZ_CHECK(total <= length);  // whatever is asked for, no more than the whole is sent
}

void check_range(const http::fields& request, std::uint64_t length) {
    const auto asked = http::parse_range(request);
    if (!asked) return;
    const std::string text = http::to_string(*asked);
    http::fields again;
    again.append(http::field_id::range, text);
    const auto twice = http::parse_range(again);
    FUZZ_CHECK(twice && http::to_string(*twice) == text);
    check_resolved(*asked, length);
    check_resolved(*asked, ~std::uint64_t{0});
    check_resolved(*asked, 0);
}

void check_content_range(std::string_view value) {
    const auto range = http::parse_content_range(value);
    if (!range || !range->length) return;
    std::string text;
    if (range->range) {
        FUZZ_CHECK(range->range->first <= range->range->last && range->range->last < *range->length);
        http::append_content_range(text, *range->range, *range->length);
    } else {
        http::append_unsatisfied_range(text, *range->length);
    }
    FUZZ_CHECK(http::parse_content_range(text) == range);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    const std::uint64_t length = std::uint64_t{in.octet()} << 8U | in.octet();
    const std::string_view tag = in.text();
    http::request_head request;
    if (!request.header.add("Range", in.text())) return 0;
    const std::string_view if_range = in.text();
    if (!if_range.empty() && !request.header.add("If-Range", if_range)) return 0;
    check_range(request.header, length);
    check_content_range(in.text());

    const cache::validators of{.etag = tag, .last_modified = std::nullopt, .date = std::nullopt};
    const cache::range_answer answer = cache::answer_range(request, of, length);
    using enum cache::range_answer::kind;
    // A condition that does not hold, or a tag that is weak on either side, means the whole.
    if (!if_range.empty() && (tag.starts_with("W/") || if_range != tag)) {
        const auto stored = http::parse_entity_tag(tag);
        const auto asked = http::parse_entity_tag(if_range);
        FUZZ_CHECK(answer.what == whole || (stored && asked && http::strong_equal(*stored, *asked)));
    }
    if (answer.what != several) return 0;
    const std::string body(length, 'x');
    std::vector<std::string_view> octets;
    for (const http::byte_range& r : answer.ranges.all()) octets.push_back(cache::octets({}, body, r));
    FUZZ_CHECK(cache::multipart_body(answer, octets, "text/plain", "b").size() <= length + 80 * http::most_ranges);
    return 0;
}
