// RFC 9111 §4.3.1: which tags one validation offers to the origin, and §4.3.4: whose the 304 is then. Pure; what an
// origin turned out to understand is remembered by the caller.
#pragma once

#include "etagere/cache/decisions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace etagere::cache {

/// How much of what could be offered the origin gets to see: many compare If-None-Match as one string, and a list then
/// costs the 304. 0: everything, as one list. n: the n-th form of the stored tag, alone; the first is the tag as it is
/// stored, and stands for every n beyond the last.
using offer_form = std::uint8_t;

struct tag_offer {
    enum class whose : std::uint8_t {
        chosen,   // of the response being validated, in one of its forms
        variant,  // of another stored variant of the key, which the origin may select for this request
        client,   // the client's own
    };
    struct member {
        std::string tag;  // as it goes out
        whose of = whose::chosen;
    };
    std::vector<member> tags;
    std::string modified_since;  // goes with the tags of `chosen` only; "" for none
    std::uint8_t forms = 0;      // how many forms the chosen one's tag has
    offer_form form = 0;         // what this is

    /// Nothing to ask with: the origin is asked in full.
    bool empty() const noexcept { return tags.empty() && modified_since.empty(); }
};

/// `chosen`: what is to be validated; null where no stored variant matches the request. Then the tags of those
/// `variants` (all of the key) are offered that differ from the request in the codings accepted only, if this client
/// reads theirs. `client`: whose If-None-Match is offered along; null where nobody waits. At most 8 tags besides the
/// forms of the stored one, 2 KiB in all.
tag_offer make_offer(const stored_response* chosen, std::span<const stored_response* const> variants,
                     const http::request_head* client, const policy& rules, credential_digest digest,
                     offer_form form = 0);
/// The conditions of the request become those of the offer: one If-None-Match, one legal list.
void write_offer(http::fields& request, const tag_offer& offer);

struct offer_verdict {
    validation what = validation::changed;
    std::size_t variant = 0;  // index, for validation::variant
};
/// `request` as the client sent it: the variant named has to be one that it could select.
offer_verdict judge_offer(const tag_offer& offer, const stored_response* chosen,
                          std::span<const stored_response* const> variants, const http::request_head& request,
                          const http::response_head& answer, const policy& rules, credential_digest digest);

/// The response as the answer to that request: chosen from now on by the values that this one has.
void reselect(stored_response& r, const http::request_head& request, const policy& rules, credential_digest digest);

/// The form to use from now on, after this answer to that offer: another one where the origin sent the whole of what it
/// was offered the tag of, or a 304 that does not say for which of several tags.
offer_form learn(const tag_offer& offer, const stored_response* chosen, const http::response_head& answer) noexcept;

/// For a request that goes to the origin with the client's own condition: each tag with a coding's suffix is followed
/// by itself without, where the route repairs those. True where something was added.
bool add_repaired_tags(http::fields& request, const policy& rules);

}  // namespace etagere::cache
