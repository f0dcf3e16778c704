// Where Rack::Cache's options stand in Ruby code, in all the forms that its and Rails' documentation show.
#pragma once

#include "ruby.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app::rack_cache {

struct option {
    std::string name;  // without "rack-cache."
    ruby::value is;    // variables of the same file are resolved
    int line = 0;
};
struct note {
    int line = 0;
    std::string text;
};

struct options {
    bool found = false;
    std::vector<option> all;                 // a name is there once: the last one that the file sets
    std::optional<ruby::value> cache_store;  // config.cache_store: a call whose name is the kind of store
    std::vector<note> notes;                 // what was seen and not understood
    const option* find(std::string_view name) const noexcept;
};
options find_options(std::string_view ruby);

}  // namespace etagere::app::rack_cache
