// Problems as text for people, JSON for programs, workflow commands for CI.
#include "etagere/app/config.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace etagere::app {
namespace {

std::string plural(std::ptrdiff_t n, std::string_view word) {
    return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string_view name(severity level) {
    return level == severity::error ? "error" : "warning";
}

/// path and message, as both text and github show them
std::string sentence(const config_problem& p) {
    std::string out = p.path.empty() ? p.message : fmt::format("{}: {}", p.path, p.message);
    if (!p.code.empty()) {
        out += fmt::format(" (warning {})", p.code);
    }
    return out;
}

/// What a workflow command would take for its own syntax: in a property more than in the message.
std::string github_escaped(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
        if (special.contains(c)) {
            out += fmt::format("%{:02X}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    return out;
}

std::string as_text(const std::vector<config_problem>& problems, std::ptrdiff_t errors, std::ptrdiff_t warnings) {
    if (problems.empty()) {
        return {};
    }
    std::string out;
    for (const config_problem& p : problems) {
        out += p.file;
        if (p.line > 0) {
            out += fmt::format(":{}:{}", p.line, p.column);
        }
        out += fmt::format(": {}\n", sentence(p));
        if (!p.hint.empty()) {
            out += fmt::format("    {}\n", p.hint);
        }
    }
    out += plural(errors + warnings, "problem") + " (";
    if (errors > 0) {
        out += plural(errors, "error");
    }
    if (errors > 0 && warnings > 0) {
        out += ", ";
    }
    if (warnings > 0) {
        out += plural(warnings, "warning");
    }
    return out + (errors > 0 ? "); nothing was changed\n" : ")\n");
}

std::string as_json(const std::vector<config_problem>& problems, std::ptrdiff_t errors, std::ptrdiff_t warnings) {
    std::string out = R"({"problems":[)";
    for (const config_problem& p : problems) {
        if (&p != &problems.front()) {
            out += ',';
        }
        out += fmt::format(
            R"({{"level":"{}","file":{},"line":{},"column":{},"path":{},"message":{},"hint":{},"code":{}}})",
            name(p.level), json_string(p.file), p.line, p.column, json_string(p.path), json_string(p.message),
            json_string(p.hint), json_string(p.code));
    }
    return out + fmt::format(R"(],"errors":{},"warnings":{}}})", errors, warnings) + '\n';
}

std::string as_github(const std::vector<config_problem>& problems) {
    std::string out;
    for (const config_problem& p : problems) {
        const std::string text = p.hint.empty() ? sentence(p) : fmt::format("{}; {}", sentence(p), p.hint);
        out += fmt::format("::{} file={},line={},col={}::{}\n", name(p.level), github_escaped(p.file, "%\r\n:,"),
                           p.line, p.column, github_escaped(text, "%\r\n"));
    }
    return out;
}

}  // namespace

std::string format_problems(const std::vector<config_problem>& problems, problem_format format) {
    const std::ptrdiff_t errors = std::ranges::count(problems, severity::error, &config_problem::level);
    const std::ptrdiff_t warnings = std::ssize(problems) - errors;
    switch (format) {
        case problem_format::json: return as_json(problems, errors, warnings);
        case problem_format::github: return as_github(problems);
        case problem_format::text: break;
    }
    return as_text(problems, errors, warnings);
}

}  // namespace etagere::app
