#include "etagere/routing/table.hpp"

#include "etagere/routing/pattern.hpp"

#include <algorithm>

namespace etagere::routing {
namespace {

constexpr std::uint32_t none = UINT32_MAX;

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The path after one segment; null data where it was the last. "/a/b" → "/b", "/b" → {}.
struct step {
    std::string_view segment;
    std::string_view left;
};
step next(std::string_view path) noexcept {
    path.remove_prefix(1);
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) {
        return {path, {}};
    }
    return {path.substr(0, slash), path.substr(slash)};
}

}  // namespace

struct table::wanted {
    http::method verb;
    std::string_view method_name;
};

std::size_t table::host_hash::operator()(std::string_view host) const noexcept {
    std::uint64_t h = 0xcbf29ce484222325U;  // FNV-1a; the keys are the operator's own, nobody can crowd a bucket
    for (const char c : host) {
        h = (h ^ static_cast<unsigned char>(lower(c))) * 0x100000001b3U;
    }
    return static_cast<std::size_t>(h);
}

bool table::host_equal::operator()(std::string_view a, std::string_view b) const noexcept {
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::uint32_t table::root_of(const std::string& host) {
    const bool below = host.starts_with("*.");
    if (host.empty() && any_host_ != 0) {
        return any_host_;
    }
    auto& where = below ? below_ : exact_;
    const std::string key = below ? host.substr(1) : host;
    if (const auto known = where.find(key); !host.empty() && known != where.end()) {
        return known->second;
    }
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    if (host.empty()) {
        any_host_ = fresh;
    } else {
        where.emplace(key, fresh);
    }
    return fresh;
}

std::uint32_t table::child(std::uint32_t parent, const std::string& literal) {
    const auto fresh = static_cast<std::uint32_t>(nodes_.size());
    auto& literals = nodes_[parent].literals;
    const auto at = std::ranges::lower_bound(literals, literal, {}, &std::pair<std::string, std::uint32_t>::first);
    if (at != literals.end() && at->first == literal) {
        return at->second;
    }
    literals.emplace(at, literal, fresh);
    nodes_.emplace_back();
    return fresh;
}

void table::insert(std::uint32_t root, std::string_view path, std::uint32_t index) {
    std::uint32_t at = root;
    for (const segment& s : parse_pattern(path)->segments) {
        if (s.is == segment::kind::rest) {
            nodes_[at].rest.push_back(index);
            return;
        }
        if (s.is == segment::kind::literal) {
            at = child(at, s.text);
        } else if (nodes_[at].one != 0) {
            at = nodes_[at].one;
        } else {
            const auto fresh = static_cast<std::uint32_t>(nodes_.size());
            nodes_[at].one = fresh;
            nodes_.emplace_back();
            at = fresh;
        }
    }
    nodes_[at].ending.push_back(index);
}

std::expected<table, std::string> table::compile(const std::vector<settings::route>& routes,
                                                 const settings::settings& all, std::uint32_t first_index) {
    table t;
    t.nodes_.emplace_back();  // node 0 is nobody: 0 says "none"
    for (const settings::route& from : routes) {
        auto to = compile_route(from, all);
        if (!to) {
            return std::unexpected(std::move(to.error()));
        }
        const auto index = static_cast<std::uint32_t>(t.routes_.size());
        to->index = first_index + index;
        t.insert(t.root_of(from.match.host), from.match.path, index);
        t.routes_.push_back(std::move(*to));
    }
    return t;
}

const table::node* table::find_literal(const node& n, std::string_view text) const noexcept {
    const auto at =
        std::ranges::lower_bound(n.literals, text, {}, [](const auto& child) { return std::string_view(child.first); });
    return at != n.literals.end() && at->first == text ? &nodes_[at->second] : nullptr;
}

std::uint32_t table::first_allowed(const std::vector<std::uint32_t>& candidates, const wanted& w) const noexcept {
    for (const std::uint32_t i : candidates) {
        const route& r = routes_[i];
        const bool all = r.methods == 0 && r.other_methods.empty();
        const bool listed = w.verb == http::method::other
                                ? std::ranges::find(r.other_methods, w.method_name) != r.other_methods.end()
                                : ((r.methods >> static_cast<unsigned>(w.verb)) & 1U) != 0;
        if (all || listed) {
            return i;
        }
    }
    return none;
}

/// Down the literals first, so that the answer with the longest literal prefix is found first.
std::uint32_t table::longest_prefix(const node& n, std::string_view path, const wanted& w) const noexcept {
    if (path.empty()) {
        const std::uint32_t exact = first_allowed(n.ending, w);
        return exact != none ? exact : first_allowed(n.rest, w);
    }
    const step s = next(path);
    if (const node* deeper = find_literal(n, s.segment)) {
        const std::uint32_t found = longest_prefix(*deeper, s.left, w);
        if (found != none) {
            return found;
        }
    }
    std::uint32_t found = first_allowed(n.rest, w);
    if (n.one != 0 && !s.segment.empty()) {
        found = std::min(found, first_written(nodes_[n.one], s.left, w));
    }
    return found;
}

/// Behind the first wildcard only the order in the file counts, so every branch that matches is looked at. No more
/// nodes can be visited than the patterns below the wildcard have.
std::uint32_t table::first_written(const node& n, std::string_view path, const wanted& w) const noexcept {
    std::uint32_t found = first_allowed(n.rest, w);
    if (path.empty()) {
        return std::min(found, first_allowed(n.ending, w));
    }
    const step s = next(path);
    if (const node* literal = find_literal(n, s.segment)) {
        found = std::min(found, first_written(*literal, s.left, w));
    }
    if (n.one != 0 && !s.segment.empty()) {
        found = std::min(found, first_written(nodes_[n.one], s.left, w));
    }
    return found;
}

const route* table::match(http::method verb, std::string_view method_name, std::string_view host,
                          std::string_view path) const noexcept {
    const wanted w{verb, method_name};
    // "*" (RFC 9112 §3.2.4) has no segments: only `/**` of the root takes it.
    if (!path.starts_with('/')) {
        path = {};
    }
    if (host.ends_with('.')) {
        host.remove_suffix(1);
    }  // the root's dot: the same host
    const auto in = [&](std::uint32_t root) -> const route* {
        if (root == 0) {
            return nullptr;
        }
        const std::uint32_t i = longest_prefix(nodes_[root], path, w);
        return i == none ? nullptr : &routes_[i];
    };
    const auto at = [&](const roots& where, std::string_view key) -> const route* {
        const auto it = where.find(key);
        return it == where.end() ? nullptr : in(it->second);
    };
    if (!exact_.empty()) {
        if (const route* r = at(exact_, host)) {
            return r;
        }
    }
    if (!below_.empty()) {
        for (std::size_t dot = host.find('.', 1); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
            if (const route* r = at(below_, host.substr(dot))) {
                return r;
            }
        }
    }
    return in(any_host_);
}

}  // namespace etagere::routing
