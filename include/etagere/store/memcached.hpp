// The memcached store: responses shared by several processes, meta records and entities apart (src/docs/records.md).
#pragma once

#include "etagere/store/store.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace etagere::store {

struct memcached_server {
    std::string host;  // name or IP literal without brackets
    std::uint16_t port = 11211;
};

struct memcached_options {
    std::vector<memcached_server> servers;  // at least one; the same list, in any order, for all that share them
    std::string key_prefix = "etagere";     // at most 100 printable octets without space
    milliseconds timeout{20};               // of one operation: what a request waits at most (for each chunk of a body)
    milliseconds connect_timeout{200};      // nobody waits so long: meanwhile requests time out
    std::uint64_t max_object = std::uint64_t{32} << 20U;  // bytes of body; larger ones are not kept
    std::uint64_t chunk = std::uint64_t{900} << 10U;      // largest value sent, head included
    std::string sign_key;                                 // secret; empty: checksum only
    std::uint32_t read_queue = 4096;                      // reads that wait, for each server; beyond: unavailable
    std::uint32_t write_queue = 1024;                     // responses that wait to be written, all servers together
    std::uint64_t write_queue_bytes = std::uint64_t{64} << 20U;  // … and their bodies; beyond: dropped and counted
    std::uint32_t breaker_failures = 3;                          // in a row; then the server is left alone for
    milliseconds breaker_open{1000};                             // that long, then one operation tries
    /// What another process purged is noticed here after that time, plus `timeout`.
    milliseconds purge_poll{1000};
};

/// Starts one thread for each server, one that writes and one that keeps deadlines; the destructor ends them within
/// connect_timeout plus a few timeouts (and the resolver's, where a host name is being resolved), dropping what waits.
/// A request is answered within `timeout` plus the scheduling of one thread, whatever the servers do.
/// Throws std::invalid_argument where the options break their rules above.
std::unique_ptr<store> make_memcached_store(const memcached_options& options);

}  // namespace etagere::store
