// metastore and entitystore: which store of étagère stands for the two.
#pragma once

#include "rack_cache_options.hpp"

#include <string>
#include <vector>

namespace etagere::app::rack_cache {

struct place {
    bool memcached = false;      // or memory
    std::string servers;         // as `servers` of the file, `${VAR:-default}` and all
    std::string name_space;      // "" for étagère's own
    std::vector<note> comments;  // for the file alone,
    std::vector<note> warnings;  // and for the operator
};
place find_place(const options& o);

/// The parts of a text that are literal, and the variables of its `#{ENV["X"]}` as `${X:-fallback}`. Empty where
/// something else is computed, or a character is none of `allowed`.
std::string with_variables(std::string_view text, std::string_view fallback);

}  // namespace etagere::app::rack_cache
