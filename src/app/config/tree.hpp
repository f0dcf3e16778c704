// A YAML document as a small tree that knows where each value stands.
#pragma once

#include "problems.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app::config {

struct member;

struct node {
    // bad: a problem was already reported here; readers pass over it in silence
    enum class kind : std::uint8_t { bad, null, scalar, list, map };
    kind is = kind::bad;
    mark at;
    std::string text;             // scalar, as written
    std::vector<node> items;      // list
    std::vector<member> members;  // map; keys are unique

    const member* find(std::string_view key) const noexcept;
};

struct member {
    std::string key;
    mark at;
    node value;
};

/// nullopt where nothing can be read (syntax, limits); other problems leave `bad` nodes behind. The work and the memory
/// are bounded by limits on bytes, depth and number of values.
std::optional<node> parse_tree(std::string_view text, problem_list& problems);

struct located {
    mark at;
    bool whole = false;  // false: only a part of the path is there, and `at` is where it ends
};
/// Where `path` ("routes[0].match.path") stands.
located locate(const node& root, std::string_view path) noexcept;

}  // namespace etagere::app::config
