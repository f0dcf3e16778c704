// Where the problems of one file are collected; what they say is made fit for a terminal here.
#pragma once

#include "etagere/app/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace etagere::app::config {

/// Counted from 1.
struct mark {
    int line = 1;
    int column = 1;
};

class problem_list {
public:
    explicit problem_list(std::string file) : file_(std::move(file)) {}

    void error(mark at, std::string path, std::string message, std::string hint = {});
    void warning(mark at, std::string path, std::string message, std::string code);
    bool has_errors() const noexcept;
    /// In the order of the file.
    std::vector<config_problem> take();

private:
    void add(config_problem p);

    std::string file_;
    std::vector<config_problem> problems_;
    bool more_ = false;
};

/// `text` in double quotes, cut after 60 bytes.
std::string quoted(std::string_view text);
/// "a, b, c"
std::string joined(const std::vector<std::string_view>& words);
/// `did you mean "b"?   allowed: a, b, c`, without the first half where nothing is near.
std::string suggestion(std::string_view wrong, const std::vector<std::string_view>& allowed);

}  // namespace etagere::app::config
