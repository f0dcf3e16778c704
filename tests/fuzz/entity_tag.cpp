// F5: entity tags and the lists of If-None-Match and If-Match. The input: the current tag, then lines, each ended by
// NUL.
#include "etagere/http/entity_tag.hpp"

#include "check.hpp"

#include <algorithm>

using namespace etagere::http;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etagere::fuzz::input in(data, size);
    const auto current = parse_entity_tag(in.text());
    if (current) {
        const std::string text = current->to_string();
        const auto again = parse_entity_tag(text);
        FUZZ_CHECK(again && again->weak == current->weak && again->opaque == current->opaque);
        FUZZ_CHECK(weak_equal(*current, *again) && strong_equal(*current, *again) == !current->weak);
    }
    fields none_match;
    fields match;
    bool named = false;  // the opaque part stands somewhere in the lines
    bool lines = false;
    while (!in.rest.empty()) {
        const std::string_view line = in.text();
        if (!none_match.add("If-None-Match", line) || !match.add("If-Match", line)) continue;
        lines = true;
        named = named || (current && line.find(current->opaque) != std::string_view::npos);
    }
    const tag_match strict = match_if_none_match(none_match, current, tag_reading::strict);
    const tag_match lenient = match_if_none_match(none_match, current, tag_reading::lenient);
    const tag_match strong = match_if_match(match, current);
    FUZZ_CHECK((strict == tag_match::absent) == !lines && (strong == tag_match::absent) == !lines);
    const tag_match repaired = match_if_none_match(none_match, current, tag_reading::lenient, suffix_reading::removed);
    // Taking suffixes off only adds matches, and only of tags that begin as the current one does.
    FUZZ_CHECK(repaired == lenient || (lenient == tag_match::differs && repaired == tag_match::matches && named));
    FUZZ_CHECK(strict != tag_match::matches || (current && named));
    FUZZ_CHECK(lenient != tag_match::matches || (current && named));
    // Lenient only adds matches; strong comparison only takes some away.
    FUZZ_CHECK(strict == lenient || (strict == tag_match::differs && lenient == tag_match::matches));
    FUZZ_CHECK(strong != tag_match::matches || strict == tag_match::matches);
    FUZZ_CHECK((strong == tag_match::any) == (strict == tag_match::any));
    if (!current || !lines || strict == tag_match::any) return 0;

    // One more line that names the current tag makes it match, whatever stands in the others.
    none_match.append(field_id::if_none_match, current->to_string());
    FUZZ_CHECK(match_if_none_match(none_match, current, tag_reading::strict) == tag_match::matches);
    return 0;
}
