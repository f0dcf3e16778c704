#include "etagere/cache/offer.hpp"

#include "etagere/http/lists.hpp"

#include "freshness.hpp"
#include "validation.hpp"
#include "vary.hpp"

#include <algorithm>

namespace etagere::cache {

using http::entity_tag;
using http::field_id;
using whose = tag_offer::whose;

namespace {

constexpr std::size_t most_guests = 8;      // tags besides the forms of the stored one
constexpr std::size_t most_octets = 2048;   // of the list; origins bound their fields, many at 8 KiB in all
constexpr std::size_t longest_guest = 256;  // a longer tag is left out

bool offers(const tag_offer& offer, std::string_view tag) noexcept {
    return std::ranges::any_of(offer.tags, [tag](const tag_offer::member& m) { return same_tag(m.tag, tag); });
}

bool offers_any_of(const tag_offer& offer, whose of) noexcept {
    return std::ranges::find(offer.tags, of, &tag_offer::member::of) != offer.tags.end();
}

/// The suffix is owed to a coding, as far as one can tell: "-br" is Breton too, where languages are negotiated.
bool suffix_is_a_coding(const stored_response& r, std::string_view coding) noexcept {
    if (http::iequals(http::trim(r.header.get(field_id::content_encoding)), coding)) return true;
    return coding != "br" ||
           std::ranges::none_of(r.selecting, [](const selection::entry& s) { return s.name == "accept-language"; });
}

/// The tag as it is stored, then what it may have been before a hop mangled it (bug case B24).
std::vector<std::string> forms_of(const stored_response& r, const policy& rules) {
    std::vector<std::string> forms{std::string(r.etag())};
    const auto tag = r.tag();
    if (!tag) return forms;  // no tag by the grammar: alone and untouched, or the list would not be legal
    const std::string_view coding = rules.repair_suffix ? http::suffix_coding(tag->opaque) : std::string_view{};
    const bool shortened = !coding.empty() && suffix_is_a_coding(r, coding);
    const std::string_view plain = shortened ? http::without_suffix(tag->opaque) : tag->opaque;
    if (shortened) forms.push_back(entity_tag{tag->weak, plain}.to_string());
    if (rules.repair_weak_prefix && tag->weak) {
        forms.push_back(entity_tag{false, plain}.to_string());
        if (shortened) forms.push_back(entity_tag{false, tag->opaque}.to_string());
    }
    return forms;
}

std::string joined(const tag_offer& offer) {
    std::string list;
    for (const tag_offer::member& m : offer.tags) {
        if (!list.empty()) list += ", ";
        list += m.tag;
    }
    return list;
}

class guests {
public:
    explicit guests(tag_offer& into) : into_(into) {
        for (const tag_offer::member& m : into.tags) octets_ += m.tag.size() + 2;
    }
    bool full() const noexcept { return count_ == most_guests; }
    void add(std::string_view tag, whose of) {
        if (full() || tag.size() > longest_guest || octets_ + tag.size() + 2 > most_octets) return;
        if (offers(into_, tag)) return;
        into_.tags.push_back({std::string(tag), of});
        octets_ += tag.size() + 2;
        ++count_;
    }

private:
    tag_offer& into_;
    std::size_t octets_ = 0;
    std::size_t count_ = 0;
};

/// Calls `each` for the tags by the grammar; false where there is none to speak of: no If-None-Match, or "*" (§13.1.2:
/// never in a list), or conditions that come before it and only this proxy evaluates.
template <class F> void for_each_client_tag(const http::fields& request, F&& each) {
    if (request.has(field_id::if_match) || request.has(field_id::if_unmodified_since)) return;
    for (const bool asks : {true, false}) {
        for (const http::fields::entry f : request) {
            if (f.id != field_id::if_none_match) continue;
            std::string_view rest = f.value;
            while (const auto member = http::next_tag(rest)) {
                if (asks && *member == "*") return;
                const auto tag = asks ? std::nullopt : http::parse_entity_tag(*member);
                if (tag) each(*member, *tag);
            }
        }
    }
}

void add_client_tags(tag_offer& offer, const stored_response& chosen, const http::fields& request,
                     const policy& rules) {
    const auto current = chosen.tag();
    if (!current) return;
    const bool suffixed = rules.repair_suffix || !rules.compress.empty();  // ours, or a hop's
    guests more(offer);
    for_each_client_tag(request, [&](std::string_view text, const entity_tag& tag) {
        // What the stored response answers for needs no asking, and a tag alone is what every origin understands.
        if (offers(offer, text) || (suffixed && http::without_suffix(tag.opaque) == current->opaque)) return;
        more.add(text, whose::client);
        const std::string_view plain = rules.repair_suffix ? http::without_suffix(tag.opaque) : tag.opaque;
        if (plain != tag.opaque) more.add(entity_tag{tag.weak, plain}.to_string(), whose::client);
    });
}

bool accepts_coding(const http::fields& request, std::string_view coding) noexcept {
    return !http::for_each_member(request, field_id::accept_encoding, [coding](std::string_view member) {
        const std::string_view name = http::trim(member.substr(0, member.find(';')));
        if (!http::iequals(name, coding)) return true;
        const auto q = member.find("q=0");
        return q != std::string_view::npos && member.find_first_of("123456789", q) == std::string_view::npos;
    });
}

/// Could this variant be the answer to that request? Only where both were chosen by the same values but for the codings
/// accepted, and this client reads its coding: then it is right whatever the origin means by its tag. Tags are to tell
/// all representations of a resource apart (RFC 9110 §8.8.3), but many are a version number, the same in every language
/// and for every user; a 304 that names one is no leave to send another user's bytes.
bool may_be_selected(const stored_response& v, const http::fields& request, const policy& rules,
                     credential_digest digest) {
    if (v.own_etag || !v.tag() || !can_validate(v) || must_forget(v, rules)) return false;
    const std::string_view coding = http::trim(v.header.get(field_id::content_encoding));
    if (!coding.empty() && !accepts_coding(request, coding)) return false;
    return std::ranges::equal(v.selecting, selecting_fields(v.header, request, rules, digest),
                              [](const selection::entry& has, const selector& asks) {
                                  return has.name == asks.name &&
                                         (has.value == asks.value || has.name == "accept-encoding");
                              });
}

}  // namespace

tag_offer make_offer(const stored_response* chosen, std::span<const stored_response* const> variants,
                     const http::request_head* client, const policy& rules, credential_digest digest, offer_form form) {
    tag_offer offer;
    offer.form = form;
    if (chosen == nullptr) {
        guests more(offer);
        for (const stored_response* v : variants) {
            if (client != nullptr && may_be_selected(*v, client->header, rules, digest)) {
                more.add(v->etag(), whose::variant);
            }
        }
        if (form != 0 && offer.tags.size() > 1) offer.tags.clear();
        return offer;
    }
    if (!can_validate(*chosen)) return offer;
    if (!chosen->etag().empty() && !chosen->own_etag) {
        std::vector<std::string> forms = forms_of(*chosen, rules);
        offer.forms = static_cast<std::uint8_t>(forms.size());
        if (form != 0) {
            offer.tags.push_back({std::move(forms[form <= forms.size() ? form - 1U : 0U])});
        } else {
            for (std::string& f : forms) offer.tags.push_back({std::move(f)});
            if (client != nullptr) add_client_tags(offer, *chosen, client->header, rules);
        }
    }
    // An origin that wants both to match (Rails) would refuse a client's newer tag for the stored older date.
    if (chosen->last_modified && !offers_any_of(offer, whose::client)) {
        offer.modified_since = chosen->header.get(field_id::last_modified);
    }
    return offer;
}

void write_offer(http::fields& request, const tag_offer& offer) {
    strip_conditions(request);
    const std::string list = joined(offer);
    if (!list.empty()) request.append(field_id::if_none_match, list);
    if (!offer.modified_since.empty()) request.append(field_id::if_modified_since, offer.modified_since);
}

offer_verdict judge_offer(const tag_offer& offer, const stored_response* chosen,
                          std::span<const stored_response* const> variants, const http::request_head& request,
                          const http::response_head& answer, const policy& rules, credential_digest digest) {
    if (answer.status != 304) {
        if (chosen != nullptr) return {judge_validation(*chosen, answer)};
        return {validation::changed};
    }
    const std::string_view tag = http::trim(answer.header.get(field_id::etag));
    const bool alone = !offers_any_of(offer, whose::client) && !offers_any_of(offer, whose::variant);
    if (chosen != nullptr && (alone || !tag.empty())) {
        const validation verdict = judge_validation(*chosen, answer);
        if (verdict == validation::freshened) return {verdict};
        const bool repaired = !tag.empty() && std::ranges::any_of(offer.tags, [tag](const tag_offer::member& m) {
            return m.of == whose::chosen && same_tag(m.tag, tag);
        });
        if (repaired && !widens_selection(*chosen, answer.header)) return {validation::freshened};
    }
    // RFC 9111 §4.3.4: without a validator it could be any of them.
    if (alone && chosen != nullptr) return {validation::unrelated};
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const stored_response& v = *variants[i];
        const bool named = &v != chosen && same_tag(v.etag(), tag) && offers(offer, tag);
        if (named && may_be_selected(v, request.header, rules, digest) && !widens_selection(v, answer.header)) {
            return {validation::variant, i};
        }
    }
    const bool clients = std::ranges::any_of(
        offer.tags, [tag](const tag_offer::member& m) { return m.of == whose::client && same_tag(m.tag, tag); });
    return {clients ? validation::client : validation::unrelated};
}

void reselect(stored_response& r, const http::request_head& request, const policy& rules, credential_digest digest) {
    r.selecting = selecting_fields(r.header, request.header, rules, digest);
}

offer_form learn(const tag_offer& offer, const stored_response* chosen, const http::response_head& answer) noexcept {
    const std::string_view tag = http::trim(answer.header.get(field_id::etag));
    const bool list = offer.form == 0 && offer.tags.size() > 1;
    if (answer.status == 304) {
        const bool several = offers_any_of(offer, whose::client) || offers_any_of(offer, whose::variant);
        return list && several && tag.empty() ? offer_form{1} : offer.form;
    }
    const bool missed =
        answer.status == 200 && !tag.empty() &&
        (offers(offer, tag) || (chosen != nullptr && !chosen->own_etag && same_tag(chosen->etag(), tag)));
    if (!missed) return offer.form;
    if (list) return 1;
    // Beyond the last form nothing is left to try.
    return offer.form != 0 && offer.form <= offer.forms && offer.forms > 1 ? static_cast<offer_form>(offer.form + 1)
                                                                           : offer.form;
}

bool add_repaired_tags(http::fields& request, const policy& rules) {
    if (!rules.repair_suffix) return false;
    tag_offer tags;
    bool added = false;
    for_each_client_tag(request, [&](std::string_view text, const entity_tag& tag) {
        tags.tags.push_back({std::string(text), whose::client});
        const std::string_view plain = http::without_suffix(tag.opaque);
        if (plain == tag.opaque) return;
        tags.tags.push_back({entity_tag{tag.weak, plain}.to_string(), whose::client});
        added = true;
    });
    const std::string list = joined(tags);
    if (!added || list.size() > most_octets) return false;
    request.set(field_id::if_none_match, list);
    return true;
}

}  // namespace etagere::cache
