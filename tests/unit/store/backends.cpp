#include "backends.hpp"

namespace etagere::store::testing {

std::vector<backend> backends() {
    return {
        {"memory", [] { return make_memory_store({.size = 64 << 20U, .max_object = max_object, .hash_seed = 1}); }},
    };
}

}  // namespace etagere::store::testing
