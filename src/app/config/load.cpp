#include "document.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace etagere::app {
namespace {

constexpr std::size_t largest_secret = std::size_t{64} * 1024;

std::expected<std::string, std::string> read_file(const std::filesystem::path& path, std::size_t most) {
    std::error_code ec;
    if (std::filesystem::is_directory(path, ec)) {
        return std::unexpected("it is a directory");
    }
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        return std::unexpected(std::generic_category().message(errno));
    }
    std::string content(most, '\0');
    in.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (in.bad()) {
        return std::unexpected(std::generic_category().message(errno));
    }
    content.resize(static_cast<std::size_t>(in.gcount()));
    return content;
}

}  // namespace

config_result parse_config(std::string_view text, const std::string& file, const environment& env,
                           const file_reader& files) {
    config::problem_list problems(file);
    config::document d;
    if (const auto root = config::parse_tree(text, problems)) {
        config::reader r(problems, env, files);
        config::read_document(r, *root, d);
        if (root->is == config::node::kind::map) {
            config::complete(d, *root, problems);
            config::check(d.value, *root, problems);
        }
    }
    return {.value = std::move(d.value), .problems = problems.take()};
}

config_result load_config(const std::string& path, const environment& env) {
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    const file_reader files = [&directory](const std::string& name) -> std::expected<std::string, std::string> {
        auto content = read_file(directory / name, largest_secret + 1);
        if (content && content->size() > largest_secret) {
            return std::unexpected("it is larger than 64 KiB");
        }
        return content;
    };
    const auto text = read_file(path, max_config_bytes + 1);  // the one more tells parse_config that it is too large
    if (!text) {
        config_result out;
        out.problems.push_back({.level = severity::error,
                                .file = path,
                                .line = 0,
                                .column = 0,
                                .path = {},
                                .message = fmt::format("cannot be read: {}", text.error()),
                                .hint = {},
                                .code = {}});
        return out;
    }
    return parse_config(*text, path, env, files);
}

environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody here calls setenv
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
}

}  // namespace etagere::app
