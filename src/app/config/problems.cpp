#include "problems.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace etagere::app {

bool config_result::ok() const noexcept {
    return std::ranges::find(problems, severity::error, &config_problem::level) == problems.end();
}

namespace config {
namespace {

// A file of nothing but mistakes must not be answered with megabytes.
constexpr std::size_t most_problems = 100;

/// Edits from `a` to `b`, two swapped neighbours counted as one (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        d[i][0] = i;
    }
    for (std::size_t j = 0; j <= b.size(); ++j) {
        d[0][j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

/// Control characters as \xNN.
std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

void problem_list::error(mark at, std::string path, std::string message, std::string hint) {
    add({.level = severity::error,
         .file = file_,
         .line = at.line,
         .column = at.column,
         .path = std::move(path),
         .message = std::move(message),
         .hint = std::move(hint),
         .code = {}});
}

void problem_list::warning(mark at, std::string path, std::string message, std::string code) {
    add({.level = severity::warning,
         .file = file_,
         .line = at.line,
         .column = at.column,
         .path = std::move(path),
         .message = std::move(message),
         .hint = {},
         .code = std::move(code)});
}

void problem_list::add(config_problem p) {
    if (problems_.size() == most_problems) {
        more_ = true;
        return;
    }
    // Whatever is in the file, a message is one line and does not drive a terminal.
    for (std::string* part : {&p.path, &p.message, &p.hint}) {
        *part = printable(*part);
    }
    const auto place = [](const config_problem& q) { return std::pair(q.line, q.column); };
    problems_.insert(std::ranges::upper_bound(problems_, place(p), {}, place), std::move(p));
}

bool problem_list::has_errors() const noexcept {
    return std::ranges::find(problems_, severity::error, &config_problem::level) != problems_.end();
}

std::vector<config_problem> problem_list::take() {
    if (more_) {
        // An error even if only warnings were left out: nobody has seen them.
        problems_.push_back({.level = severity::error,
                             .file = file_,
                             .line = 0,
                             .column = 0,
                             .path = {},
                             .message = "more problems follow that are not shown",
                             .hint = {},
                             .code = {}});
    }
    return std::move(problems_);
}

std::string quoted(std::string_view text) {
    std::size_t longest = 60;
    if (text.size() <= longest) {
        return fmt::format("\"{}\"", text);
    }
    while ((static_cast<unsigned char>(text[longest]) & 0xc0U) == 0x80U) {  // not inside a character of UTF-8
        --longest;
    }
    return fmt::format("\"{}…\"", text.substr(0, longest));
}

std::string joined(const std::vector<std::string_view>& words) {
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string suggestion(std::string_view wrong, const std::vector<std::string_view>& allowed) {
    constexpr std::size_t longest = 40;  // no key of ours is longer; keeps the table of distance() small
    std::string near;
    std::size_t best = std::max<std::size_t>(2, wrong.size() / 3) + 1;
    for (const std::string_view word : allowed) {
        const std::size_t d = wrong.size() > longest ? best : distance(wrong, word);
        if (d < best && d < word.size()) {
            best = d;
            near = fmt::format("did you mean \"{}\"?   ", word);
        }
    }
    return fmt::format("{}allowed: {}", near, joined(allowed));
}

}  // namespace config
}  // namespace etagere::app
