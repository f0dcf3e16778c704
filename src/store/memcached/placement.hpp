// Which server holds a key: libmemcached's own ketama over all servers.
#pragma once

#include "etagere/store/memcached.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

struct memcached_st;

namespace etagere::store {

/// The same answer as any libmemcached client with MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED over the same servers, in
/// whatever order they are listed; losing one of N moves 1/N of the keys. Thread-safe without a lock: the handle only
/// computes. It never connects, and with auto-ejection off (the default) memcached_generate_hash() writes nothing.
class placement {
public:
    explicit placement(const std::vector<memcached_server>& servers);
    ~placement();
    placement(const placement&) = delete;
    placement& operator=(const placement&) = delete;

    /// Index into the servers.
    std::size_t server_of(std::string_view key) const noexcept;

private:
    memcached_st* handle_;
};

}  // namespace etagere::store
