#include "keep.hpp"

#include "etagere/base/bytes.hpp"
#include "etagere/base/writer.hpp"
#include "etagere/cache/canonical_json.hpp"
#include "etagere/cache/compression.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "searching.hpp"

#include <array>
#include <span>

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
    stored.body_size = answer.body.size();
    stored.always_validate = answer.always_validate;
    if (!answer.own_etag.empty()) {
        stored.header.set(http::field_id::etag, answer.own_etag);
        stored.own_etag = true;
    }
    stored.index();
    stored.known = answer.known;
    cache::collect_tags(stored, *answer.request, route.policy);
    const wall_time until = cache::keep_until(stored, route.policy);
    store::object_ptr object = store::make_object(std::move(stored), std::move(answer.body), until);
    store::store& into = *runtime.stores[route.store];
    const cache::purge_state purge =
        into.purges().judge(*object, *answer.request, route.name, route.policy, state.scratch);
    if (purge.how != cache::purged::no) return nullptr;  // it would take the place of a younger one
    into.put(keep_under, object, route.policy.max_variants, state.on().now());
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

store::object_ptr keep_part(worker_state& state, const runtime& runtime, const routing::route& route,
                            const std::string& key, const answer_to_keep& answer, const cache::part_judgement& judged,
                            store::object_ptr held, const std::string& held_under) {
    const std::string keep_under = key_to_keep(*runtime.searches, route, *answer.request, answer.head->header);
    for (const std::string& k : {key, keep_under}) {
        if (state.collapse().invalidated_since(k, answer.asked.steady)) return nullptr;
    }
    cache::stored_response stored = cache::make_part(*answer.request, *answer.head, judged, route.policy,
                                                     answer.asked.wall, answer.received, crypto::sha256_hex);
    stored.body_size = answer.body.size();
    stored.known = answer.known;
    store::shared_bytes body = answer.body;
    store::store& into = *runtime.stores[route.store];
    const auto purge_of = [&](const store::object& o) {
        return into.purges().judge(o, *answer.request, route.name, route.policy, state.scratch).how;
    };
    if (held && purge_of(*held) == cache::purged::hard) held = nullptr;
    if (held && held_under == keep_under && stored.is_partial()) {
        const cache::stored_response& there = held->response;
        if (!there.is_partial() && there.status == 200) {
            // The whole came meanwhile: a part must not take its place, unless it is a part of something newer.
            if (cache::same_strong_validator(there, stored)) return held;
            if (there.response_time >= answer.asked.wall) return nullptr;
        } else if (held->body && cache::may_combine(there, stored)) {
            cache::combined both = cache::combine(there, *held->body, stored, *body);
            stored = std::move(both.response);
            stored.known = cache::older(there.known, answer.known);
            body = store::share(both.body);
        }
    }
    cache::collect_tags(stored, *answer.request, route.policy);
    const wall_time until = cache::keep_until(stored, route.policy);
    store::object_ptr object = store::make_object(std::move(stored), std::move(body), until);
    if (purge_of(*object) != cache::purged::no) return nullptr;
    into.put(keep_under, object, route.policy.max_variants, state.on().now());
    return object;
}

stored_answer plan(const store::object& object, const http::request_head& request, const cache::policy& rules,
                   wall_time now, std::span<const cache::stored_response* const> variants) noexcept {
    const cache::stored_response& r = object.response;
    const cache::stored_hints hints = cache::hints_of(r, request, rules, variants);
    stored_answer out;
    out.condition = cache::evaluate_preconditions(request, r.status, r.etag(), r.last_modified, rules, now, hints);
    out.range = cache::answer_range(request, r);
    out.usable = cache::can_answer(r, out.range);
    // Ranges are of what is stored, and of no form that is made of it: octets of two codings do not fit together.
    const bool cuts = out.range.what != cache::range_answer::kind::whole;
    if (!cuts && cache::may_code(r, rules)) out.coding = cache::coding_for(request, r.directives, rules);
    const store::coded_form* const form = object.form(out.coding);
    if (form != nullptr && !form->body) out.coding = http::coding::identity;
    const bool proceeds = out.condition == cache::precondition::proceed;
    // HEAD says how long the form is that GET would get (RFC 9110 §9.3.2), so it needs it as well.
    out.needs_form = proceeds && out.coding != http::coding::identity && form == nullptr;
    const bool sends_octets =
        request.verb != http::method::head && out.range.what != cache::range_answer::kind::unsatisfiable;
    out.needs_body = proceeds && (out.needs_form || sends_octets) && !object.body;
    return out;
}

namespace {

/// The head of a 206, without Content-Range. The prebuilt one of the whole with another first line, where that will do.
void write_partial_start(std::string& out, const store::object& object, std::string_view content_type) {
    const http::fields& header = object.response.header;
    if (content_type.empty() && cache::is_partial_header(header)) {
        const std::string_view start = object.wire_full();
        http::h1::write_response_start(out, 206, http::status_phrase(206), {});
        out += start.substr(start.find('\n') + 1);
        return;
    }
    http::h1::write_response_start(
        out, 206, http::status_phrase(206),
        store::complete_header(object.response, cache::partial_header(header, content_type)));
}

/// What a multipart answer pins: the bytes were put together for it.
struct assembled {
    store::object_ptr from;
    std::string bytes;
};

std::string assemble(const cache::stored_response& r, std::string_view body, const cache::range_answer& wanted,
                     std::string_view content_type, std::string_view boundary) {
    std::array<std::string_view, http::most_ranges> octets;
    for (std::size_t i = 0; i < wanted.ranges.size(); ++i) octets[i] = cache::octets(r, body, wanted.ranges[i]);
    return cache::multipart_body(wanted, std::span(octets).first(wanted.ranges.size()), content_type, boundary);
}

/// `a.body` is of these bytes.
void note_file(net::immediate_answer& a, const store::shared_bytes& bytes) noexcept {
    a.file = {.descriptor = bytes.file(), .at = static_cast<std::uint64_t>(a.body.data() - (*bytes).data())};
}

void fill_with_range(net::immediate_answer& a, const store::object_ptr& object, const cache::range_answer& wanted,
                     std::string_view boundary) {
    using enum cache::range_answer::kind;
    const std::string_view body = object->body ? *object->body : std::string_view{};
    if (wanted.what == unsatisfiable) {
        a.status = 416;
        http::h1::write_response_start(a.dynamic, 416, http::status_phrase(416), {});
        a.dynamic += "Content-Range: ";
        http::append_unsatisfied_range(a.dynamic, wanted.length);
        a.dynamic += "\r\n";
        a.how = http::framing::of_length(0);
        return;
    }
    a.status = 206;
    if (wanted.what == single) {
        write_partial_start(a.dynamic, *object, {});
        a.dynamic += "Content-Range: ";
        http::append_content_range(a.dynamic, wanted.ranges[0], wanted.length);
        a.dynamic += "\r\n";
        a.body = cache::octets(object->response, body, wanted.ranges[0]);
        if (object->body) note_file(a, object->body);
    } else {
        write_partial_start(a.dynamic, *object, cache::multipart_type(boundary));
        const std::string_view type = object->response.header.get(http::field_id::content_type);
        auto made = std::make_unique<const assembled>(
            assembled{object, assemble(object->response, body, wanted, type, boundary)});
        a.body = made->bytes;
        a.pin = pin(std::move(made));
    }
    a.how = http::framing::of_length(a.body.size());
}

}  // namespace

void cut_head(http::response_head& head, const cache::range_answer& wanted) {
    std::string range;
    if (wanted.what == cache::range_answer::kind::unsatisfiable) {
        http::append_unsatisfied_range(range, wanted.length);
        http::fields kept;
        for (const http::fields::entry f : head.header) {
            // Of the 200 only what is said about the way and the time; the rest describes what is not sent.
            const bool stays = f.id == http::field_id::via || f.id == http::field_id::date ||
                               f.id == http::field_id::cache_status || f.id == http::field_id::set_cookie;
            if (stays) (void)kept.add(f.name, f.value);
        }
        head.header = std::move(kept);
        head.status = 416;
        head.body = http::framing::of_length(0);
    } else {
        http::append_content_range(range, wanted.ranges[0], wanted.length);
        head.header = cache::partial_header(head.header, {});
        head.status = 206;
        head.body = http::framing::of_length(wanted.ranges[0].size());
    }
    head.reason = http::status_phrase(head.status);
    head.header.append(http::field_id::content_range, range);
}

std::string_view cut(http::response_head& head, const cache::range_answer& wanted, std::string_view body,
                     std::string& bytes, std::string_view boundary) {
    using enum cache::range_answer::kind;
    if (wanted.what == whole) return body;
    if (wanted.what != several) {
        cut_head(head, wanted);
        return wanted.what == single ? cache::octets({}, body, wanted.ranges[0]) : std::string_view{};
    }
    bytes = assemble({}, body, wanted, head.header.get(http::field_id::content_type), boundary);
    head.header = cache::partial_header(head.header, cache::multipart_type(boundary));
    head.status = 206;
    head.reason = http::status_phrase(206);
    head.body = http::framing::of_length(bytes.size());
    return bytes;
}

void fill_from_object(net::immediate_answer& a, store::object_ptr object, const stored_answer& planned, seconds age,
                      std::string_view cache_status, std::string_view boundary) {
    const cache::stored_response& r = object->response;
    a.coding = planned.coding;
    switch (planned.condition) {
        case cache::precondition::proceed:
            if (planned.range.what != cache::range_answer::kind::whole) {
                a.coding = http::coding::identity;
                fill_with_range(a, object, planned.range, boundary);
                break;
            }
            a.status = r.status;
            if (const store::coded_form* const form = object->form(a.coding); form != nullptr && form->body) {
                a.start = form->wire_full;
                a.how = http::framing::of_length(form->body.size());
                a.body = *form->body;
                note_file(a, form->body);
                break;
            }
            a.coding = http::coding::identity;
            a.start = object->wire_full();
            a.how = http::framing::of_length(r.body_size);
            if (object->body) {
                a.body = *object->body;
                note_file(a, object->body);
            }
            break;
        case cache::precondition::not_modified:
            a.status = 304;
            a.start = {};
            object->append_not_modified(a.dynamic, a.coding != http::coding::identity);
            break;
        case cache::precondition::failed:
            a.status = 412;
            a.start = {};
            http::h1::write_response_start(a.dynamic, 412, http::status_phrase(412), {});
            a.how = http::framing::of_length(0);
            break;
    }
    constexpr std::size_t names = 32;  // and line ends
    append_at_most(a.dynamic, names + writer::most_digits + cache_status.size(), [&](writer& to) {
        to += "Age: ";
        to.number(age.count());
        if (!cache_status.empty()) {
            to += "\r\nCache-Status: ";
            to += cache_status;
        }
        to += "\r\n";
    });
    if (!a.pin) a.pin = pin(std::move(object));
}

void note_form(observe::record& r, const store::object& object, const net::immediate_answer& a) noexcept {
    const bool coded = a.coding != http::coding::identity;
    r.etag_out = coded && !object.rest->coded_etag.empty() ? object.rest->coded_etag : object.response.etag();
    // A 304 has no bytes to save, nor has the answer to a HEAD.
    if (!coded || a.body.empty()) return;
    r.coding = a.coding;
    r.uncoded_bytes = object.response.body_size;
    r.coded_bytes = a.how.length;
}

}  // namespace etagere::exchange
