#include "cost.hpp"

namespace etagere::store {
namespace {

std::size_t cost(const object& o) noexcept {
    std::size_t total =
        block_cost(sizeof(object)) + heap_cost(o.entity) + heap_cost(o.response.etag) + heap_cost(o.coded_etag);
    total += block_cost(o.response.header.memory());  // the wire head
    total += block_cost(o.response.tags.capacity() * sizeof(cache::group_id));
    const auto& selecting = o.response.selecting;
    total += block_cost(selecting.capacity() * sizeof(selecting[0]));
    for (const auto& s : selecting) total += heap_cost(s.name) + (s.value ? heap_cost(*s.value) : 0);
    total += block_cost(o.forms.capacity() * sizeof(coded_form));
    for (const coded_form& f : o.forms) {
        total += heap_cost(f.wire_full);
        if (f.body) total += f.body.memory();
    }
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
