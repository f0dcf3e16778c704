// Walks the tree next to the tables: knows the path of what is being read, and reports problems there.
#pragma once

#include "problems.hpp"
#include "scalar.hpp"
#include "tree.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace etagere::app::config {

class reader {
public:
    reader(problem_list& problems, const environment& env, const file_reader& files)
        : problems_(problems), env_(env), files_(files) {}

    /// The path is one segment longer while this lives.
    class scope {
    public:
        scope(reader& r, std::string_view key);  // ".key"
        scope(reader& r, std::size_t index);     // "[index]"
        ~scope() { reader_.path_.resize(length_); }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

    private:
        reader& reader_;
        std::size_t length_;
    };

    void error(mark at, std::string message, std::string hint = {});
    /// The interpolated scalar; otherwise reports what is there instead of `wanted` ("a duration").
    std::optional<scalar> read_scalar(const node& n, std::string_view wanted);
    /// True for a map; otherwise reports it. `allowed`: its keys.
    bool expect_map(const node& n, std::string_view allowed);
    /// Reports `n`, which has the wrong kind.
    void wrong_kind(const node& n, std::string_view wanted, const std::string& hint = {});

private:
    problem_list& problems_;
    const environment& env_;
    const file_reader& files_;
    std::string path_;
};

}  // namespace etagere::app::config
