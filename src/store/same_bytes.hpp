// Whether two stored objects are heads of the same representation: a 304 must never be put on other bytes.
#pragma once

#include "etagere/store/store.hpp"

namespace etagere::store {

inline bool same_bytes(const object& a, const object& b) noexcept {
    if (a.response.body_size != b.response.body_size || a.response.rest->parts != b.response.rest->parts) return false;
    if (!a.rest->entity.empty() && !b.rest->entity.empty()) return a.rest->entity == b.rest->entity;
    if (a.body && b.body) return a.body == b.body || *a.body == *b.body;
    // Bytes and name are unknown on one side: what the origin said about them has to do.
    if (a.response.etag().empty() && b.response.etag().empty()) {
        return a.response.last_modified.has_value() && a.response.last_modified == b.response.last_modified;
    }
    return a.response.etag() == b.response.etag();
}

}  // namespace etagere::store
