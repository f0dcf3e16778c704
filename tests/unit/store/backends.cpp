#include "backends.hpp"

#include "etagere/store/tiers.hpp"

#include "real_memcached.hpp"

namespace etagere::store::testing {

memcached_options options_for(std::vector<memcached_server> servers) {
    memcached_options o;
    o.servers = std::move(servers);
    o.key_prefix = fresh_prefix();
    o.timeout = seconds(5);  // a busy machine must not look like a slow server
    o.connect_timeout = seconds(5);
    o.max_object = max_object;
    o.chunk = 40 << 10U;  // so that the larger bodies of the suite are several
    return o;
}

std::vector<backend> backends() {
    return {
        {"memory", [] { return make_memory_store({.size = 64 << 20U, .max_object = max_object, .hash_seed = 1}); }},
        {"memcached", [] { return make_memcached_store(options_for({shared_memcached().address()})); }},
        {"memcachedSigned",
         [] {
             auto o = options_for({shared_memcached().address()});
             o.sign_key = "secret";
             return make_memcached_store(o);
         }},
        {"tiers",
         [] {
             return make_tiered_store({.memory = {.size = 64 << 20U, .max_object = max_object, .hash_seed = 1},
                                       .memcached = options_for({shared_memcached().address()})});
         }},
        // Memory too small for most bodies and never trusted: nearly everything comes from memcached.
        {"tiersOfLittleMemory",
         [] {
             return make_tiered_store({.memory = {.size = 64 << 10U, .max_object = 3, .hash_seed = 1},
                                       .memcached = options_for({shared_memcached().address()}),
                                       .local_ttl = milliseconds{1}});
         }},
    };
}

}  // namespace etagere::store::testing
