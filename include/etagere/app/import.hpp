// Other caches' configurations as one of étagère's. Text in, text out; nothing of the input is executed. Total: any
// bytes are answered, in time that grows with their number. No global state; safe to call from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app {

/// Larger inputs are refused: nobody writes a Rails environment of that size by hand.
inline constexpr std::size_t max_import_bytes = std::size_t{256} * 1024;

struct imported {
    bool found = false;                 // false: nothing to translate, `yaml` is empty
    std::string yaml;                   // a whole configuration file that `etagere check` takes, with comments
    std::vector<std::string> warnings;  // "FILE:LINE: …", one line each: what has no like, or only a similar one
};

/// Rack::Cache's options out of Ruby code: `config.action_dispatch.rack_cache = …`, `use Rack::Cache, …` with its
/// block, `rack_cache: { … }`, `Rack::Cache.new(app, …)`. `file` is the name used in warnings and comments.
imported import_rack_cache(std::string_view ruby, std::string_view file);

}  // namespace etagere::app
