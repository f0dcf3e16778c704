// What a client's If-None-Match makes of a validation. The input: flags, the stored tag, then lines, each ended by NUL.
#include "etagere/cache/offer.hpp"
#include "etagere/http/entity_tag.hpp"
#include "etagere/http/lists.hpp"

#include "check.hpp"

#include <string>

using namespace etagere;

namespace {

std::string digest(std::string_view value) {
    return std::string(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    const std::uint8_t flags = in.octet();
    cache::policy rules;
    rules.repair_suffix = (flags & 1U) != 0;
    rules.repair_weak_prefix = (flags & 2U) != 0;
    cache::stored_response stored;
    // The codec cuts white space off before a field is anybody's.
    if (!stored.header.add("ETag", http::trim(in.text()))) return 0;
    stored.index();
    http::request_head client;
    client.verb = http::method::get;
    while (!in.rest.empty()) (void)client.header.add("If-None-Match", http::trim(in.text()));

    const cache::offer_form form = flags >> 4U;
    const cache::tag_offer offer = cache::make_offer(&stored, {}, &client, rules, digest, form);
    http::fields asks = client.header;
    cache::write_offer(asks, offer);
    // One field; the stored tag first, as it is; then well-formed tags only.
    FUZZ_CHECK(asks.count(http::field_id::if_none_match) == (stored.etag().empty() ? 0U : 1U));
    if (stored.etag().empty()) return 0;
    const std::string list(asks.get(http::field_id::if_none_match));
    FUZZ_CHECK(form > 1 || list.starts_with(stored.etag()));
    FUZZ_CHECK(list.size() <= std::max<std::size_t>(2048 + 512, 4 * (stored.etag().size() + 8)));
    FUZZ_CHECK(form == 0 || offer.tags.size() == 1);
    FUZZ_CHECK(offer.tags.size() <= 4 + 8);
    for (const auto& m : offer.tags) FUZZ_CHECK(m.tag == stored.etag() || http::parse_entity_tag(m.tag));
    if (stored.tag()) {
        std::string_view rest = list;
        std::size_t members = 0;
        while (const auto tag = http::next_tag(rest)) {
            FUZZ_CHECK(http::parse_entity_tag(*tag));
            ++members;
        }
        FUZZ_CHECK(members == offer.tags.size());
    } else {
        FUZZ_CHECK(offer.tags.size() == 1);
    }

    // Each of the tags, named by a 304, is for exactly whom it was offered for; none of them, for nobody.
    for (const auto& m : offer.tags) {
        http::response_head answer;
        answer.status = 304;
        (void)answer.header.add("ETag", m.tag);
        const auto verdict = cache::judge_offer(offer, &stored, {}, client, answer, rules, digest);
        const bool ours = m.of == cache::tag_offer::whose::chosen;
        FUZZ_CHECK(verdict.what == (ours ? cache::validation::freshened : cache::validation::client));
    }
    http::fields passing = client.header;
    if (cache::add_repaired_tags(passing, rules)) {
        FUZZ_CHECK(rules.repair_suffix && passing.count(http::field_id::if_none_match) == 1);
        std::string_view rest = passing.get(http::field_id::if_none_match);
        while (const auto tag = http::next_tag(rest)) FUZZ_CHECK(http::parse_entity_tag(*tag));
    }
    return 0;
}
