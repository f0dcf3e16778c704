#include "etagere/cache/compression.hpp"
#include "etagere/cache/decisions.hpp"
#include "etagere/cache/ranges.hpp"
#include "etagere/http/field_policy.hpp"
#include "etagere/http/h1/serializer.hpp"
#include "etagere/store/store.hpp"

#include "memory/cost.hpp"

#include <tuple>

namespace etagere::store {
namespace {

std::string wire_head(int status, const http::fields& header) {
    std::string out;
    http::h1::write_response_start(out, status, http::status_phrase(status), header);
    return out;
}

coded_form make_form(const cache::stored_response& response, http::coding how, shared_bytes coded) {
    coded_form made{.how = how, .body = std::move(coded), .wire_full = {}};
    if (!made.body) return made;
    http::fields header = response.header;
    cache::describe_coding(header, how);
    header.append(http::field_id::via, via);
    made.wire_full = wire_head(response.status, header);
    made.wire_full.shrink_to_fit();
    return made;
}

/// Writes the head that does not change between clients, and lets the fields live in it.
void write_wire_full(cache::stored_response& r) {
    std::string text;
    http::h1::write_response_start(text, r.status, http::status_phrase(r.status), {});
    // Freshened by a 304 that changed no more than their date, they still live in theirs.
    if (r.header.lives_in_text() && r.header.octets().starts_with(text)) return;
    for (std::size_t i = 0; i < r.header.size();) {  // what is never sent is not in the text either
        const http::field_id id = r.header[i].id;
        if (http::is_codec_owned(id)) {
            r.header.erase(id);
        } else {
            ++i;
        }
    }
    const std::size_t fields_at = text.size();
    text = wire_head(r.status, complete_header(r, r.header));
    r.header.live_in(text, fields_at);
}

/// Adds the forms of `from` that `to` lacks. A 304 can have forbidden them meanwhile.
void take_forms(object& to, const object& from) {
    if (!to.response.codable) return;
    for (const coded_form& f : from.rest->forms) {
        if (to.form(f.how) == nullptr) to.rest.edit().forms.push_back(make_form(to.response, f.how, f.body));
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
    boost::intrusive_ptr<object> made(new object);
    made->response = std::move(response);
    if (body) made->response.body_size = body.size();  // the head of a chunked answer did not know
    made->body = std::move(body);
    made->keep_until = keep_until;
    if (!entity.empty()) made->rest.edit().entity = std::move(entity);
    write_wire_full(made->response);
    if (std::string weak = cache::weak_form(made->response.etag());
        made->response.codable && weak != made->response.etag()) {
        made->rest.edit().coded_etag = std::move(weak);
    }
    return made;
}

void object::append_not_modified(std::string& out, bool coded) const {
    http::h1::write_response_start(out, 304, http::status_phrase(304), {});
    const bool has_etag = response.header.has(http::field_id::etag);
    for (std::size_t i = 0; i < response.header.size(); ++i) {
        const http::fields::entry field = response.header[i];
        if (!cache::belongs_in_not_modified(field, has_etag)) continue;
        if (coded && field.id == http::field_id::etag && !rest->coded_etag.empty()) {
            out.append("ETag: ").append(rest->coded_etag).append("\r\n");
        } else {
            out.append(response.header.line(i));
        }
    }
    out.append("Via: ").append(via).append("\r\n");
}

object_ptr with_bytes_of(object_ptr head, const object& whole) {
    const bool body = !head->body && whole.body;
    const bool entity = head->rest->entity.empty() && !whole.rest->entity.empty();
    if (!body && !entity && whole.rest->forms.empty()) return head;
    boost::intrusive_ptr<object> made(new object(*head));
    if (body) made->body = whole.body;
    if (entity) made->rest.edit().entity = whole.rest->entity;
    take_forms(*made, whole);
    return made;
}

object_ptr with_form(const object& of, http::coding how, shared_bytes coded) {
    boost::intrusive_ptr<object> made(new object(of));
    std::vector<coded_form>& forms = made->rest.edit().forms;
    std::erase_if(forms, [how](const coded_form& f) { return f.how == how; });
    forms.push_back(make_form(made->response, how, std::move(coded)));
    return made;
}

std::size_t variant_set::memory() const noexcept {
    if (!several_) return 0;
    return block_cost(sizeof(list)) + block_cost(several_->all.capacity() * sizeof(object_ptr));
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
