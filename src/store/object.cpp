#include "etagere/cache/compression.hpp"
#include "etagere/cache/decisions.hpp"
#include "etagere/cache/ranges.hpp"
#include "etagere/http/h1/serializer.hpp"
#include "etagere/store/store.hpp"

#include <tuple>

namespace etagere::store {
namespace {

std::string wire_head(int status, const http::fields& header) {
    std::string out;
    http::h1::write_response_start(out, status, http::status_phrase(status), header);
    out.shrink_to_fit();
    return out;
}

coded_form make_form(const cache::stored_response& response, http::coding how, shared_bytes coded) {
    coded_form made{.how = how, .body = std::move(coded), .wire_full = {}};
    if (!made.body) return made;
    http::fields header = response.header;
    cache::describe_coding(header, how);
    header.append(http::field_id::via, via);
    made.wire_full = wire_head(response.status, header);
    return made;
}

/// The fields of a 304, in the order of the 200.
http::fields not_modified_fields(const http::fields& header) {
    http::fields part;
    const bool has_etag = header.has(http::field_id::etag);
    for (const auto field : header) {
        if (cache::belongs_in_not_modified(field, has_etag)) std::ignore = part.add(field.name, field.value);
    }
    part.append(http::field_id::via, via);
    return part;
}

/// Adds the forms of `from` that `to` lacks. A 304 can have forbidden them meanwhile.
void take_forms(object& to, const object& from) {
    if (!to.response.codable) return;
    for (const coded_form& f : from.forms) {
        if (to.form(f.how) == nullptr) to.forms.push_back(make_form(to.response, f.how, f.body));
    }
}

}  // namespace

http::fields complete_header(const cache::stored_response& of, http::fields header) {
    // RFC 9110 §14.3. What the origin says itself stays.
    if (cache::may_be_cut(of.status, header) && !header.has(http::field_id::accept_ranges)) {
        header.append(http::field_id::accept_ranges, "bytes");
    }
    header.append(http::field_id::via, via);
    return header;
}

object_ptr make_object(cache::stored_response response, shared_bytes body, wall_time keep_until, std::string entity) {
    auto made = std::make_shared<object>();
    made->response = std::move(response);
    made->response.header.shrink();
    made->response.selecting.shrink_to_fit();
    if (body) made->response.body_size = body->size();  // the head of a chunked answer did not know
    made->body = std::move(body);
    made->keep_until = keep_until;
    made->entity = std::move(entity);

    made->wire_full = wire_head(made->response.status, complete_header(made->response, made->response.header));

    http::fields part = not_modified_fields(made->response.header);
    made->wire_not_modified = wire_head(304, part);
    if (std::string weak = cache::weak_form(made->response.etag);
        made->response.codable && weak != made->response.etag) {
        part.set(http::field_id::etag, weak);
        made->wire_coded_not_modified = wire_head(304, part);
        made->coded_etag = std::move(weak);
    }
    return made;
}

object_ptr with_bytes_of(object_ptr head, const object& whole) {
    const bool body = !head->body && whole.body;
    const bool entity = head->entity.empty() && !whole.entity.empty();
    if (!body && !entity && whole.forms.empty()) return head;
    auto made = std::make_shared<object>(*head);
    if (body) made->body = whole.body;
    if (entity) made->entity = whole.entity;
    take_forms(*made, whole);
    return made;
}

object_ptr with_form(const object& of, http::coding how, shared_bytes coded) {
    auto made = std::make_shared<object>(of);
    std::erase_if(made->forms, [how](const coded_form& f) { return f.how == how; });
    made->forms.push_back(make_form(made->response, how, std::move(coded)));
    return made;
}

std::string_view name(level l) noexcept {
    switch (l) {
        case level::memory: return "memory";
        case level::memcached: return "memcached";
        case level::none: break;
    }
    return "none";
}

}  // namespace etagere::store
