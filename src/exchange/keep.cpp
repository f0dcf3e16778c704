#include "keep.hpp"

#include "etagere/cache/canonical_json.hpp"
#include "etagere/cache/compression.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "searching.hpp"

#include <charconv>

namespace etagere::exchange {

namespace {

std::string digest_of(std::string_view bytes, cache::etag_digest by) {
    switch (by) {
        case cache::etag_digest::sha_256: return crypto::sha256_hex(bytes);
        case cache::etag_digest::md5: return crypto::md5_hex(bytes);
        case cache::etag_digest::xxh3_128: break;
    }
    return to_hex(xxh3_128(bytes));
}

}  // namespace

std::string etag_for(std::string_view body, const http::fields& header, const cache::policy& rules) {
    if (cache::counts_as_json(header, rules)) {
        const auto canonical = cache::canonical_json(body, rules.json_ignore);
        // Equal in what counts is not equal byte for byte: weak, whatever the route makes otherwise.
        if (canonical) return cache::make_etag("j" + digest_of(*canonical, rules.digest), cache::etag_making::weak);
    }
    std::string hex = digest_of(body, rules.digest);
    if (const auto coding = header.combined(http::field_id::content_encoding)) hex += "-" + *coding;
    return cache::make_etag(hex, rules.etag_when_missing);
}

store::object_ptr keep(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                       answer_to_keep answer) {
    const std::string keep_under = key_to_keep(*runtime.searches, route, *answer.request, answer.head->header);
    for (const std::string& k : {key, keep_under}) {
        if (state.collapse().invalidated_since(k, answer.asked.steady)) return nullptr;
    }
    cache::stored_response stored = cache::make_stored(*answer.request, *answer.head, route.policy, answer.asked.wall,
                                                       answer.received, crypto::sha256_hex);
    stored.body_size = answer.body->size();
    stored.always_validate = answer.always_validate;
    if (!answer.own_etag.empty()) {
        stored.header.set(http::field_id::etag, answer.own_etag);
        stored.own_etag = true;
    }
    stored.index();
    const wall_time until = cache::keep_until(stored, route.policy);
    store::object_ptr object = store::make_object(std::move(stored), std::move(answer.body), until);
    runtime.stores[route.store]->put(keep_under, object, route.policy.max_variants, state.on().now());
    state.collapse().forget_not_kept(key);
    return object;
}

bool keep_freshened(worker_state& state, const runtime& runtime, const routing::route& route, const std::string& key,
                    const cache::stored_response& before, store::object_ptr fresh, moment asked) {
    if (state.collapse().invalidated_since(key, asked.steady)) return false;
    store::store& kept = *runtime.stores[route.store];
    if (lost_rule(before, fresh->response)) {
        kept.erase(key, state.on().now());
        return false;
    }
    kept.freshen(key, std::move(fresh), state.on().now());
    return true;
}

stored_answer plan(const store::object& object, const http::request_head& request, const cache::policy& rules,
                   wall_time now, std::span<const cache::stored_response* const> variants) noexcept {
    const cache::stored_response& r = object.response;
    const cache::stored_hints hints = cache::hints_of(r, request, rules, variants);
    stored_answer out;
    out.condition = cache::evaluate_preconditions(request, r.status, r.etag, r.last_modified, rules, now, hints);
    if (cache::may_code(r, rules)) out.coding = cache::coding_for(request, r.directives, rules);
    const store::coded_form* const form = object.form(out.coding);
    if (form != nullptr && !form->body) out.coding = http::coding::identity;
    const bool proceeds = out.condition == cache::precondition::proceed;
    // HEAD says how long the form is that GET would get (RFC 9110 §9.3.2), so it needs it as well.
    out.needs_form = proceeds && out.coding != http::coding::identity && form == nullptr;
    out.needs_body = proceeds && (out.needs_form || request.verb != http::method::head) && !object.body;
    return out;
}

void fill_from_object(net::immediate_answer& a, store::object_ptr object, const stored_answer& planned, seconds age,
                      std::string_view cache_status) {
    const cache::stored_response& r = object->response;
    a.coding = planned.coding;
    switch (planned.condition) {
        case cache::precondition::proceed:
            a.status = r.status;
            if (const store::coded_form* const form = object->form(a.coding); form != nullptr && form->body) {
                a.start = form->wire_full;
                a.how = http::framing::of_length(form->body->size());
                a.body = *form->body;
                break;
            }
            a.coding = http::coding::identity;
            a.start = object->wire_full;
            a.how = http::framing::of_length(r.body_size);
            if (object->body) a.body = *object->body;
            break;
        case cache::precondition::not_modified:
            a.status = 304;
            a.start = a.coding != http::coding::identity && !object->coded_etag.empty()
                          ? object->wire_coded_not_modified
                          : object->wire_not_modified;
            break;
        case cache::precondition::failed:
            a.status = 412;
            a.start = {};
            http::h1::write_response_start(a.dynamic, 412, http::status_phrase(412), {});
            a.how = http::framing::of_length(0);
            break;
    }
    char digits[24];
    const auto [end, ec] = std::to_chars(digits, digits + sizeof digits, age.count());
    (void)ec;
    a.dynamic += "Age: ";
    a.dynamic.append(digits, end);
    a.dynamic += "\r\n";
    if (!cache_status.empty()) {
        a.dynamic += "Cache-Status: ";
        a.dynamic += cache_status;
        a.dynamic += "\r\n";
    }
    a.pin = std::move(object);
}

void note_form(observe::record& r, const store::object& object, const net::immediate_answer& a) noexcept {
    const bool coded = a.coding != http::coding::identity;
    r.etag_out = coded && !object.coded_etag.empty() ? object.coded_etag : object.response.etag;
    // A 304 has no bytes to save, nor has the answer to a HEAD.
    if (!coded || a.body.empty()) return;
    r.coding = a.coding;
    r.uncoded_bytes = object.response.body_size;
    r.coded_bytes = a.how.length;
}

}  // namespace etagere::exchange
