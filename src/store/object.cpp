#include "etagere/cache/decisions.hpp"
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

}  // namespace

object_ptr make_object(cache::stored_response response, shared_bytes body, wall_time keep_until, std::string entity) {
    auto made = std::make_shared<object>();
    made->response = std::move(response);
    made->response.header.shrink();
    made->response.selecting.shrink_to_fit();
    if (body) made->response.body_size = body->size();  // the head of a chunked answer did not know
    made->body = std::move(body);
    made->keep_until = keep_until;
    made->entity = std::move(entity);

    http::fields whole = made->response.header;
    whole.append(http::field_id::via, via);
    made->wire_full = wire_head(made->response.status, whole);

    http::fields part;
    const bool has_etag = made->response.header.has(http::field_id::etag);
    for (const auto field : made->response.header) {
        if (cache::belongs_in_not_modified(field, has_etag)) std::ignore = part.add(field.name, field.value);
    }
    part.append(http::field_id::via, via);
    made->wire_not_modified = wire_head(304, part);
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
