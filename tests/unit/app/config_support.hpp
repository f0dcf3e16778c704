// A configuration out of a test's own text, variables and files.
#pragma once

#include "etagere/app/config.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace etagere::app {

struct config_world {
    std::map<std::string, std::string> variables;
    std::map<std::string, std::string> files;

    config_result parse(std::string_view text) const {
        return parse_config(
            text, "routes.yaml",
            [this](const std::string& name) {
                const auto it = variables.find(name);
                return it == variables.end() ? std::nullopt : std::optional(it->second);
            },
            [this](const std::string& path) -> std::expected<std::string, std::string> {
                const auto it = files.find(path);
                if (it == files.end()) {
                    return std::unexpected("No such file or directory");
                }
                return it->second;
            });
    }

    /// "line:column: path: message", and " | hint" where there is one.
    std::vector<std::string> problems(std::string_view text) const {
        std::vector<std::string> out;
        for (const config_problem& p : parse(text).problems) {
            out.push_back(fmt::format("{}:{}: {}{}{}{}", p.line, p.column, p.path.empty() ? "" : p.path + ": ",
                                      p.message, p.hint.empty() ? "" : " | " + p.hint,
                                      p.code.empty() ? "" : " " + p.code));
        }
        return out;
    }
};

/// A whole file with `more` at its end; the first line of `more` is line 4.
inline std::string with_upstream(std::string_view more) {
    return fmt::format("version: 1\nlisten: \":8080\"\nupstream: http://127.0.0.1:3000\n{}", more);
}

}  // namespace etagere::app
