#include "tree.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

namespace etagere::app::config {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t most_values = 50'000;

/// Bytes of the character that `text` starts with (RFC 3629 §4); 0 where it is none.
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto between = [&](std::size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
    const auto tail = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            if (!between(i, 0x80, 0xbf)) {
                return std::size_t{0};
            }
        }
        return to;
    };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    if (first >= 0xc2 && first <= 0xdf) {
        return tail(1, 2);
    }
    if (first >= 0xe0 && first <= 0xef) {
        // neither overlong nor a surrogate
        return between(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf) ? tail(2, 3) : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        return between(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf) ? tail(2, 4) : 0;
    }
    return 0;
}

/// Where `text` stops being UTF-8.
std::optional<mark> not_utf8(std::string_view text) {
    mark at;
    while (!text.empty()) {
        const std::size_t n = character(text);
        if (n == 0) {
            return at;
        }
        at = text.front() == '\n' ? mark{.line = at.line + 1, .column = 1}
                                  : mark{.line = at.line, .column = at.column + 1};
        text.remove_prefix(n);
    }
    return std::nullopt;
}

mark place(const YAML::Mark& m) {
    return {.line = m.line + 1, .column = m.column + 1};
}

/// Thrown through the parser to leave it; the problem is already reported.
struct abandoned {};

class tree_builder final : public YAML::EventHandler {
public:
    explicit tree_builder(problem_list& problems) : problems_(problems) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& m, YAML::anchor_t anchor) override {
        value(leaf(node::kind::null, m, anchor, "?", {}));
    }
    void OnAlias(const YAML::Mark& m, YAML::anchor_t) override {
        problems_.error(place(m), {}, "aliases are not supported", "use `defaults`, or name a store or an upstream");
        value(node{.is = node::kind::bad, .at = place(m), .text = {}, .items = {}, .members = {}});
    }
    void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        value(leaf(node::kind::scalar, m, anchor, tag, text));
    }
    void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(leaf(node::kind::list, m, anchor, tag, {}));
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(leaf(node::kind::map, m, anchor, tag, {}));
    }
    void OnMapEnd() override { close(); }

    node take() { return std::move(root_); }

private:
    struct frame {
        node self;
        std::optional<member> pending;               // map: the key that waits for its value
        bool drop = false;                           // map: the key was refused, its value is not kept
        std::unordered_map<std::string, int> lines;  // map: the keys so far; a search in `members` would be quadratic
    };

    node leaf(node::kind is, const YAML::Mark& m, YAML::anchor_t anchor, const std::string& tag, std::string text) {
        if (++values_ > most_values) {
            give_up(m, fmt::format("more than {} values in one file", most_values));
        }
        if (anchor != 0) {
            problems_.error(place(m), {}, "anchors are not supported",
                            "use `defaults`, or name a store or an upstream");
        }
        // "?" is what plain values have, "!" quoted ones
        if (!tag.empty() && tag != "?" && tag != "!") {
            problems_.error(place(m), {}, fmt::format("tags are not supported: {}", quoted(tag)));
        }
        return node{.is = is, .at = place(m), .text = std::move(text), .items = {}, .members = {}};
    }

    void open(node n) {
        if (open_.size() >= deepest) {
            problems_.error(n.at, {}, fmt::format("nested deeper than {} levels", deepest));
            throw abandoned{};
        }
        open_.push_back({.self = std::move(n), .pending = {}, .drop = false, .lines = {}});
    }

    void close() {
        node done = std::move(open_.back().self);
        open_.pop_back();
        value(std::move(done));
    }

    void value(node n) {
        if (open_.empty()) {
            root_ = std::move(n);
            return;
        }
        frame& parent = open_.back();
        if (parent.self.is == node::kind::list) {
            parent.self.items.push_back(std::move(n));
        } else if (!parent.pending) {
            key(parent, std::move(n));
        } else {
            parent.pending->value = std::move(n);
            if (!parent.drop) {
                parent.self.members.push_back(std::move(*parent.pending));
            }
            parent.pending.reset();
        }
    }

    void key(frame& parent, node n) {
        parent.drop = true;
        if (n.is != node::kind::scalar) {
            if (n.is != node::kind::bad) {
                problems_.error(n.at, {}, "a key has to be a word");
            }
        } else if (const auto [first, is_new] = parent.lines.try_emplace(n.text, n.at.line); !is_new) {
            problems_.error(n.at, {}, fmt::format("duplicate key {}, first in line {}", quoted(n.text), first->second));
        } else {
            parent.drop = false;
        }
        parent.pending = member{.key = std::move(n.text), .at = n.at, .value = {}};
    }

    [[noreturn]] void give_up(const YAML::Mark& m, std::string why) {
        problems_.error(place(m), {}, std::move(why));
        throw abandoned{};
    }

    problem_list& problems_;
    node root_;
    std::vector<frame> open_;
    std::size_t values_ = 0;
};

}  // namespace

const member* node::find(std::string_view key) const noexcept {
    const auto it = std::ranges::find(members, key, &member::key);
    return it == members.end() ? nullptr : &*it;
}

std::optional<node> parse_tree(std::string_view text, problem_list& problems) {
    if (text.size() > max_config_bytes) {
        problems.error({}, {}, fmt::format("the file is larger than {} KiB", max_config_bytes / 1024));
        return std::nullopt;
    }
    if (const auto at = not_utf8(text)) {
        problems.error(*at, {}, "the file is not UTF-8 text");
        return std::nullopt;
    }
    tree_builder builder(problems);
    try {
        // yaml-cpp takes the end of the file for the end of a quoted scalar; the end of a document is an error there.
        std::istringstream in{std::string(text) + "\n...\n"};
        YAML::Parser parser(in);
        node root;  // stays `bad` where not even a document begins
        if (parser.HandleNextDocument(builder)) {
            root = builder.take();
        }
        if (root.is == node::kind::bad || root.is == node::kind::null) {
            problems.error({}, {}, "the file is empty");
            return std::nullopt;
        }
        tree_builder second(problems);
        if (parser.HandleNextDocument(second)) {
            problems.error(second.take().at, {}, "a second document; one file holds one configuration");
            return std::nullopt;
        }
        return root;
    } catch (const YAML::Exception& e) {
        problems.error(place(e.mark), {}, e.msg);
    } catch (const abandoned&) {  // NOLINT(bugprone-empty-catch): reported where it was thrown
    }
    return std::nullopt;
}

located locate(const node& root, std::string_view path) noexcept {
    const node* at = &root;
    located found{.at = root.at, .whole = false};
    while (!path.empty()) {
        if (path.front() == '[') {
            std::size_t index = 0;
            const char* end = std::from_chars(path.data() + 1, path.data() + path.size(), index).ptr;
            if (index >= at->items.size()) {
                return found;
            }
            at = &at->items[index];
            found.at = at->at;
            path.remove_prefix(static_cast<std::size_t>(end - path.data()) + 1);  // and the `]`
        } else {
            if (path.front() == '.') {
                path.remove_prefix(1);
            }
            const std::string_view key = path.substr(0, path.find_first_of(".["));
            const member* m = at->find(key);
            if (m == nullptr) {
                return found;
            }
            at = &m->value;
            found.at = at->is == node::kind::null ? m->at : at->at;  // an empty value has no place of its own
            path.remove_prefix(key.size());
        }
    }
    found.whole = true;
    return found;
}

}  // namespace etagere::app::config
