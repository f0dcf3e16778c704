#include "etagere/cache/canonical_json.hpp"

#include "etagere/http/lists.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>

namespace etagere::cache {
namespace {

constexpr std::size_t most_nesting = 64;

/// A value, in one vector with all others. A text is a piece of tree::texts.
struct node {
    enum class kind : char { string = 's', number = 'n', yes = 't', no = 'f', null = 'z', array = '[', object = '{' };
    kind what = kind::null;
    bool ignored = false;
    std::uint32_t key_at = 0, key_size = 0;
    std::uint32_t text_at = 0, text_size = 0;
    std::uint32_t first = 0, next = 0;  // child, sibling; 0: none (the root is nobody's child)
};

/// What Boost.JSON's parser tells, as a tree. It decodes strings and refuses what is no UTF-8; the spelling of a number
/// comes along with its value.
class tree {
public:
    static constexpr std::size_t max_array_size = SIZE_MAX, max_object_size = SIZE_MAX;
    static constexpr std::size_t max_string_size = SIZE_MAX, max_key_size = SIZE_MAX;
    using error = boost::json::error_code;
    using text = boost::json::string_view;

    std::vector<node> nodes;
    std::string texts;

    bool on_document_begin(error&) { return true; }
    bool on_document_end(error&) { return true; }
    bool on_array_begin(error&) { return open(node::kind::array); }
    bool on_array_end(std::size_t, error&) { return close(); }
    bool on_object_begin(error&) { return open(node::kind::object); }
    bool on_object_end(std::size_t, error&) { return close(); }
    bool on_string_part(text s, std::size_t, error&) { return more(s); }
    bool on_string(text s, std::size_t, error&) { return more(s) && add(node::kind::string); }
    bool on_key_part(text s, std::size_t, error&) { return more(s); }
    bool on_key(text s, std::size_t, error&) {
        more(s);
        key_at_ = text_at_;
        key_size_ = here() - text_at_;
        text_at_ = here();
        return true;
    }
    bool on_number_part(text s, error&) { return more(s); }
    bool on_int64(std::int64_t, text s, error&) { return more(s) && add(node::kind::number); }
    bool on_uint64(std::uint64_t, text s, error&) { return more(s) && add(node::kind::number); }
    bool on_double(double, text s, error&) { return more(s) && add(node::kind::number); }
    bool on_bool(bool b, error&) { return add(b ? node::kind::yes : node::kind::no); }
    bool on_null(error&) { return add(node::kind::null); }
    bool on_comment_part(text, error&) { return true; }
    bool on_comment(text, error&) { return true; }

    std::string_view key(const node& n) const noexcept { return view(n.key_at, n.key_size); }
    std::string_view value(const node& n) const noexcept { return view(n.text_at, n.text_size); }

private:
    struct level {
        std::uint32_t self = 0, last = 0;
    };
    std::string_view view(std::uint32_t at, std::uint32_t size) const noexcept {
        return std::string_view(texts).substr(at, size);
    }
    std::uint32_t here() const noexcept { return static_cast<std::uint32_t>(texts.size()); }
    bool more(text s) {
        texts.append(s.data(), s.size());
        return true;
    }
    bool add(node::kind what) {
        const auto at = static_cast<std::uint32_t>(nodes.size());
        nodes.push_back({.what = what,
                         .key_at = key_at_,
                         .key_size = key_size_,
                         .text_at = text_at_,
                         .text_size = here() - text_at_});
        text_at_ = here();
        key_size_ = 0;
        if (!levels_.empty()) {
            level& l = levels_.back();
            (l.last == 0 ? nodes[l.self].first : nodes[l.last].next) = at;
            l.last = at;
        }
        return true;
    }
    bool open(node::kind what) {
        add(what);
        levels_.push_back({.self = static_cast<std::uint32_t>(nodes.size() - 1)});
        return true;
    }
    bool close() {
        levels_.pop_back();
        return true;
    }

    std::vector<level> levels_;
    std::uint32_t key_at_ = 0, key_size_ = 0;
    std::uint32_t text_at_ = 0;  // where the text that is arriving began
};

/// RFC 6901 §4: ~1 is a slash, and then ~0 a tilde.
std::string decoded(std::string_view token) {
    std::string out;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const bool escape = token[i] == '~' && i + 1 < token.size();
        out += escape ? (token[++i] == '1' ? '/' : '~') : token[i];
    }
    return out;
}

/// RFC 6901 §4: digits without leading zeros; "-" names what is not there.
std::optional<std::uint32_t> array_index(std::string_view token) noexcept {
    std::uint32_t index = 0;
    const auto [end, ec] = std::from_chars(token.data(), token.data() + token.size(), index);
    const bool whole = ec == std::errc{} && end == token.data() + token.size();
    return whole && (token.size() == 1 || token.front() != '0') ? std::optional(index) : std::nullopt;
}

/// The child that `token` names, 0 without. The first one of a name: texts with a member twice are refused anyway.
std::uint32_t child(const tree& t, const node& of, std::string_view token) {
    if (of.what == node::kind::array) {
        const auto index = array_index(token);
        if (!index) return 0;
        std::uint32_t at = of.first;
        for (std::uint32_t i = 0; at != 0 && i < *index; ++i) at = t.nodes[at].next;
        return at;
    }
    if (of.what != node::kind::object) return 0;
    const std::string name = decoded(token);
    std::uint32_t at = of.first;
    while (at != 0 && t.key(t.nodes[at]) != name) at = t.nodes[at].next;
    return at;
}

void ignore(tree& t, std::string_view pointer) {
    std::uint32_t at = 0;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);  // the slash
        const std::string_view token = pointer.substr(0, pointer.find('/'));
        at = child(t, t.nodes[at], token);
        if (at == 0) return;
        pointer.remove_prefix(token.size());
    }
    t.nodes[at].ignored = true;
}

void append_text(std::string& out, std::string_view text) {
    out += std::to_string(text.size());
    out += ':';
    out += text;
}

/// False where an object has a member twice: which one counts is anybody's guess (RFC 8259 §4).
bool append_value(std::string& out, const tree& t, const node& n) {
    out += static_cast<char>(n.what);
    if (n.what == node::kind::string || n.what == node::kind::number) append_text(out, t.value(n));
    if (n.what != node::kind::array && n.what != node::kind::object) return true;

    std::vector<const node*> members;
    for (std::uint32_t at = n.first; at != 0; at = t.nodes[at].next) members.push_back(&t.nodes[at]);
    if (n.what == node::kind::object) {
        const auto key = [&t](const node* m) { return t.key(*m); };
        std::ranges::sort(members, {}, key);
        if (std::ranges::adjacent_find(members, {}, key) != members.end()) return false;
    }
    for (const node* const m : members) {
        if (m->ignored) continue;
        if (n.what == node::kind::object) append_text(out, t.key(*m));
        if (!append_value(out, t, *m)) return false;
    }
    out += n.what == node::kind::array ? ']' : '}';
    return true;
}

}  // namespace

std::optional<std::string> canonical_json(std::string_view text, std::span<const std::string> ignored) {
    if (text.size() >= UINT32_MAX) return std::nullopt;
    boost::json::parse_options options;
    options.max_depth = most_nesting;
    boost::json::basic_parser<tree> parser(options);
    boost::json::error_code failed;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), failed);
    const bool whole = text.substr(read).find_first_not_of(" \t\r\n") == std::string_view::npos;
    tree& t = parser.handler();
    if (failed || !whole || t.nodes.empty()) return std::nullopt;
    for (const std::string& pointer : ignored) {
        if (pointer.starts_with('/')) ignore(t, pointer);
    }
    std::string out;
    out.reserve(text.size());
    if (!append_value(out, t, t.nodes.front())) return std::nullopt;
    return out;
}

bool counts_as_json(const http::fields& response, const policy& rules) noexcept {
    using http::field_id;
    if (rules.json_ignore.empty() || response.has(field_id::content_encoding)) return false;
    const std::string_view type = response.get(field_id::content_type);
    const std::string_view essence = http::trim(type.substr(0, type.find(';')));
    constexpr std::string_view json = "application/json";
    constexpr std::string_view suffix = "+json";
    return http::iequals(essence, json) ||
           (essence.size() > suffix.size() && http::iequals(essence.substr(essence.size() - suffix.size()), suffix));
}

}  // namespace etagere::cache
