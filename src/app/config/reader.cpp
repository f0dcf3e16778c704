#include "reader.hpp"

#include <fmt/format.h>

namespace etagere::app::config {

reader::scope::scope(reader& r, std::string_view key) : reader_(r), length_(r.path_.size()) {
    if (!r.path_.empty()) {
        r.path_ += '.';
    }
    // Keys of the tables are plain words; a stranger's may hold anything.
    const std::string shown = quoted(key);
    r.path_ += shown.substr(1, shown.size() - 2);
}

reader::scope::scope(reader& r, std::size_t index) : reader_(r), length_(r.path_.size()) {
    r.path_ += fmt::format("[{}]", index);
}

void reader::error(mark at, std::string message, std::string hint) {
    problems_.error(at, path_, std::move(message), std::move(hint));
}

void reader::wrong_kind(const node& n, std::string_view wanted, const std::string& hint) {
    switch (n.is) {
        case node::kind::bad: break;  // reported already
        case node::kind::null: error(n.at, fmt::format("is empty; this key takes: {}", wanted), hint); break;
        case node::kind::scalar: error(n.at, fmt::format("{} is not {}", quoted(n.text), wanted), hint); break;
        case node::kind::list: error(n.at, fmt::format("is a list; this key takes: {}", wanted), hint); break;
        case node::kind::map: error(n.at, fmt::format("is a map; this key takes: {}", wanted), hint); break;
    }
}

std::optional<scalar> reader::read_scalar(const node& n, std::string_view wanted) {
    if (n.is != node::kind::scalar) {
        wrong_kind(n, wanted);
        return std::nullopt;
    }
    auto s = interpolate(n.text, env_, files_);
    if (!s) {
        error(n.at, std::move(s.error()));
        return std::nullopt;
    }
    return std::move(*s);
}

bool reader::expect_map(const node& n, std::string_view allowed) {
    if (n.is == node::kind::map) {
        return true;
    }
    wrong_kind(n, "a map", fmt::format("allowed: {}", allowed));
    return false;
}

}  // namespace etagere::app::config
