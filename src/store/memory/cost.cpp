#include "cost.hpp"

namespace etagere::store {
namespace {

std::size_t cost(const cache::particulars& p) noexcept {
    return block_cost(sizeof p) + heap_cost(p.control) + block_cost(p.parts.capacity() * sizeof(p.parts[0])) +
           block_cost(p.tags.capacity() * sizeof(p.tags[0]));
}

std::size_t cost(const object_particulars& p) noexcept {
    std::size_t total = block_cost(sizeof p) + heap_cost(p.entity) + heap_cost(p.coded_etag) +
                        block_cost(p.forms.capacity() * sizeof(coded_form));
    for (const coded_form& f : p.forms) {
        total += heap_cost(f.wire_full);
        if (f.body) total += f.body.memory();
    }
    return total;
}

std::size_t cost(const object& o) noexcept {
    const cache::stored_response& r = o.response;
    std::size_t total = block_cost(sizeof(object)) + block_cost(r.header.memory()) + block_cost(r.selecting.memory());
    if (r.rest.is_there()) total += cost(*r.rest);
    if (o.rest.is_there()) total += cost(*o.rest);
    if (o.body) total += o.body.memory();
    return total;
}

}  // namespace

std::size_t cost(const variant_set& set) noexcept {
    std::size_t total = set.memory();
    for (const object_ptr& o : set) total += cost(*o);
    return total;
}

}  // namespace etagere::store
