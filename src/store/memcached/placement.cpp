#include "placement.hpp"

#include <libmemcached/memcached.h>

namespace etagere::store {

placement::placement(const std::vector<memcached_server>& servers) : handle_(memcached_create(nullptr)) {
    memcached_behavior_set(handle_, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    for (const memcached_server& s : servers) memcached_server_add(handle_, s.host.c_str(), s.port);
}

placement::~placement() {
    memcached_free(handle_);
}

std::size_t placement::server_of(std::string_view key) const noexcept {
    return memcached_generate_hash(handle_, key.data(), key.size());
}

}  // namespace etagere::store
