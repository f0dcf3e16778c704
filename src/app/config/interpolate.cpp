#include "problems.hpp"
#include "scalar.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace etagere::app::config {
namespace {

bool is_variable_name(std::string_view name) {
    const auto word = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && (name.front() < '0' || name.front() > '9') && std::ranges::all_of(name, word);
}

parsed<std::string> read_secret(const std::string& path, const file_reader& files) {
    auto content = files(path);
    if (!content) {
        return std::unexpected(fmt::format("{} cannot be read: {}", quoted(path), content.error()));
    }
    // Editors and `echo` end a file with a newline that is not part of the secret.
    if (content->ends_with('\n')) {
        content->pop_back();
    }
    if (content->ends_with('\r')) {
        content->pop_back();
    }
    return std::move(*content);
}

/// `body` is what stands between `${` and `}`.
parsed<std::string> value_of(std::string_view body, const environment& env, const file_reader& files) {
    if (body.starts_with("file:")) {
        return read_secret(std::string(body.substr(5)), files);
    }
    const std::size_t colon = body.find(':');
    const std::string name(body.substr(0, colon));
    const std::string_view rest = colon == body.npos ? std::string_view() : body.substr(colon);
    if (!is_variable_name(name)) {
        return std::unexpected(
            fmt::format("{} is not a variable; write ${{VAR}}, ${{VAR:-default}}, ${{VAR:?message}}, "
                        "${{file:/path}}, or $$ for a dollar sign",
                        quoted(fmt::format("${{{}}}", body))));
    }
    auto value = env(name);
    if (rest.empty()) {
        if (!value) {
            return std::unexpected(
                fmt::format("the environment variable {0} is not set; set it, or write ${{{0}:-default}}", name));
        }
        return std::move(*value);
    }
    // As in the shell, the colon forms take an empty variable for an unset one.
    const bool usable = value && !value->empty();
    if (rest.starts_with(":-")) {
        return usable ? std::move(*value) : std::string(rest.substr(2));
    }
    if (rest.starts_with(":?")) {
        if (usable) {
            return std::move(*value);
        }
        return std::unexpected(fmt::format("the environment variable {} is not set: {}", name, rest.substr(2)));
    }
    return std::unexpected(fmt::format("after ${{{}: comes `-default` or `?message`", name));
}

}  // namespace

parsed<scalar> interpolate(std::string_view written, const environment& env, const file_reader& files) {
    scalar out{.text = {}, .shown = std::string(written)};
    while (!written.empty()) {
        const std::size_t dollar = written.find('$');
        out.text += written.substr(0, dollar);
        if (dollar == written.npos) {
            break;
        }
        written.remove_prefix(dollar + 1);
        if (written.starts_with('$')) {
            out.text += '$';
            written.remove_prefix(1);
            continue;
        }
        const std::size_t end = written.find('}');
        if (!written.starts_with('{') || end == written.npos) {
            return std::unexpected(
                fmt::format("{}: a `$` starts ${{VAR}}; write $$ for a dollar sign", quoted(out.shown)));
        }
        const std::string_view body = written.substr(1, end - 1);
        if (body.contains("${")) {
            return std::unexpected(fmt::format("{}: ${{…}} cannot be nested", quoted(out.shown)));
        }
        auto value = value_of(body, env, files);
        if (!value) {
            return std::unexpected(std::move(value.error()));
        }
        out.text += *value;
        written.remove_prefix(end + 1);
    }
    // Nothing in the file can hold one, and a line break in a secret or in a header name is how injection starts.
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(out.text, control)) {
        return std::unexpected(fmt::format("{} contains a line break or another control character", quoted(out.shown)));
    }
    return out;
}

std::vector<scalar> split_list(const scalar& s) {
    std::vector<scalar> out;
    std::string_view left = s.text;
    while (!left.empty()) {
        const std::size_t comma = left.find(',');
        std::string_view item = left.substr(0, comma);
        item.remove_prefix(std::min(item.size(), item.find_first_not_of(' ')));
        item = item.substr(0, item.find_last_not_of(' ') + 1);
        out.push_back({.text = std::string(item), .shown = s.literal() ? std::string(item) : s.shown});
        left.remove_prefix(comma == left.npos ? left.size() : comma + 1);
    }
    return out;
}

}  // namespace etagere::app::config
