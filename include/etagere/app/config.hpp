// The configuration file: YAML in, settings out, and every problem of the file at once, each with its place.
//
// A subset of YAML: one document, block or flow style, no anchors, aliases, tags or duplicate keys, at most 64 levels.
// Unknown keys, wrong types and missing units are errors. `${VAR}`, `${VAR:-default}`, `${VAR:?message}`,
// `${file:/path}` and `$$` are replaced inside scalars after parsing, so a value can never become structure, and a
// replaced value is never shown in a message: it may be a secret.
//
// Not for the data path: allocates, reads files. No global state; safe to call from any thread.
#pragma once

#include "etagere/settings/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app {

/// Larger files are refused. That is a thousand routes with room, and what yaml-cpp can be made to take for a file of
/// this size (0.4 s, 90 MB for nothing but brackets) is still harmless.
inline constexpr std::size_t max_config_bytes = std::size_t{384} * 1024;

enum class severity : std::uint8_t { error, warning };

struct config_problem {
    severity level = severity::error;
    std::string file;
    int line = 0;  // from 1; 0: the file as a whole
    int column = 0;
    std::string path;     // "routes[0].cache.stale"; empty for syntax errors
    std::string message;  // one line
    std::string hint;     // one line, or empty
    std::string code;     // of a warning: "W014"
};

struct config_result {
    settings::settings value;              // to be used only if ok()
    std::vector<config_problem> problems;  // in the order of the file
    bool ok() const noexcept;              // no errors; there may be warnings
};

/// The value of an environment variable; nullopt if it is not set.
using environment = std::function<std::optional<std::string>(const std::string& name)>;
/// The content of a file of `${file:…}`, or why it cannot be read.
using file_reader = std::function<std::expected<std::string, std::string>(const std::string& path)>;

/// `file` is the name used in problems.
config_result parse_config(std::string_view text, const std::string& file, const environment& env,
                           const file_reader& files);
/// Reads `path` itself and `${file:…}` from disk; relative paths of the latter start at the directory of `path`.
config_result load_config(const std::string& path, const environment& env);
/// The variables of this process, to be read before threads are started.
environment process_environment();

enum class problem_format : std::uint8_t { text, json, github };
/// Ends with a newline where it is not empty. text: no problems, no text. json: always one object. github: workflow
/// commands.
std::string format_problems(const std::vector<config_problem>& problems, problem_format format);

/// One key of the file, from the table that the parser itself uses.
struct config_key {
    std::string path;  // "upstreams.NAME.pool.queue", "routes[].match.path"
    std::string type;  // "duration", "one of: off, weak, strong"
    std::string help;
};
std::vector<config_key> config_keys();

}  // namespace etagere::app
