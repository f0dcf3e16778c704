#include "ruby.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace etagere::app::ruby {
namespace {

/// Deeper than any configuration is; behind it brackets are skipped without recursion.
constexpr int most_levels = 32;
constexpr std::size_t longest_source = 100;

bool is_word(const token& t, std::string_view text) noexcept {
    return t.what == kind::name && t.text == text;
}
bool is_mark(const token& t, std::string_view text) noexcept {
    return t.what == kind::mark && t.text == text;
}
bool opens(const token& t) noexcept {
    return is_mark(t, "(") || is_mark(t, "[") || is_mark(t, "{");
}
bool closes(const token& t) noexcept {
    return is_mark(t, ")") || is_mark(t, "]") || is_mark(t, "}");
}
/// What ends a value without being part of it.
bool ends_value(const token& t) noexcept {
    return t.what == kind::end || t.what == kind::line || closes(t) || is_mark(t, ",") || is_word(t, "do") ||
           is_word(t, "if") || is_word(t, "unless");
}

/// Whether `do` behind it belongs to the value: `lambda do |request| … end`.
bool takes_block(std::string_view source) noexcept {
    return source.starts_with("lambda") || source.starts_with("proc") || source.starts_with("Proc.new") ||
           source.starts_with("->");
}

struct unit {
    std::string_view name;
    std::int64_t seconds;
};
constexpr std::array units{unit{"second", 1},    unit{"seconds", 1},    unit{"minute", 60}, unit{"minutes", 60},
                           unit{"hour", 3600},   unit{"hours", 3600},   unit{"day", 86400}, unit{"days", 86400},
                           unit{"week", 604800}, unit{"weeks", 604800}, unit{"to_i", 1}};

value make(value::type what, std::string text, int line) {
    value v;
    v.what = what;
    v.text = std::move(text);
    v.line = line;
    return v;
}

bool times(std::int64_t& number, std::int64_t by) noexcept {
    return !__builtin_mul_overflow(number, by, &number);
}

}  // namespace

std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) out += c < ' ' || c > '~' ? '?' : c;
    return out;
}

std::string reader::written(std::size_t from, std::size_t to) const {
    std::string out;
    const std::size_t begin = all_[from].at;
    const std::size_t end = to > from ? all_[to - 1].behind : begin;
    for (const char c : source_.substr(begin, end - begin)) {
        const bool blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
        if (blank && (out.empty() || out.back() == ' ')) continue;
        out += blank ? ' ' : c;
        if (out.size() > longest_source) return plain(out) + "...";
    }
    return plain(out);
}

bool reader::at_key() const noexcept {
    const token& t = now();
    if (t.what == kind::label) return true;
    const bool named = t.what == kind::symbol || t.what == kind::text;
    return named && is_mark(all_[at + 1], "=>");
}

/// Over one bracketed group, whatever is in it. `at` is on its opening bracket.
void reader::skip_balanced() {
    int open = 0;
    do {
        if (opens(now())) ++open;
        if (closes(now())) --open;
        next();
    } while (open > 0 && now().what != kind::end);
}

/// Over what is left of a value that is more than we read.
void reader::skip_rest() {
    while (!ends_value(now())) {
        if (opens(now())) {
            skip_balanced();
        } else {
            next();
        }
    }
}

value reader::read() {
    const std::size_t from = at;
    const int line = now().line;
    value v = read_simple();
    for (bool more = true; more;) {
        more = false;
        if (v.is(value::type::number) && mark(".") && all_[at + 1].what == kind::name) {
            const auto* const u = std::ranges::find(units, std::string_view(all_[at + 1].text), &unit::name);
            if (u != units.end() && times(v.number, u->seconds)) {
                next(), next();
                more = true;
            }
        } else if (v.is(value::type::number) && mark("*")) {
            next();
            skip_lines();
            const value by = read_simple();
            if (!by.is(value::type::number) || !times(v.number, by.number)) v = make(value::type::other, {}, line);
        } else if ((v.is(value::type::env) || v.is(value::type::text)) && mark(".") &&
                   all_[at + 1].what == kind::name) {
            // They change nothing that a list of servers or an address would show.
            const std::string& method = all_[at + 1].text;
            if (method != "split" && method != "freeze" && method != "strip" && method != "to_s") break;
            next(), next();
            if (mark("(")) skip_balanced();
            more = true;
        } else if (v.is(value::type::env) && mark("||")) {
            next();
            skip_lines();
            value fallback = read_simple();
            if (v.items.empty() && fallback.is(value::type::text)) {
                v.items.push_back(std::move(fallback));
            } else {
                v = make(value::type::other, {}, line);
            }
            more = true;
        }
    }
    if (!ends_value(now())) {
        v = make(value::type::other, {}, line);
        skip_rest();
    }
    if (is(kind::name, "do") && takes_block(written(from, at))) {
        int open = 0;
        do {
            if (is(kind::name, "do")) ++open;
            if (is(kind::name, "end")) --open;
            next();
        } while (open > 0 && now().what != kind::end);
    }
    v.source = written(from, at);
    v.line = line;
    return v;
}

value reader::read_simple() {
    const token& t = now();
    switch (t.what) {
        case kind::text: next(); return make(value::type::text, t.text, t.line);
        case kind::symbol: next(); return make(value::type::symbol, t.text, t.line);
        case kind::words: {
            value v = make(value::type::list, {}, t.line);
            for (std::size_t begin = 0; begin < t.text.size();) {
                const std::size_t end = std::min(t.text.find(' ', begin), t.text.size());
                v.items.push_back(make(value::type::text, t.text.substr(begin, end - begin), t.line));
                begin = end + 1;
            }
            next();
            return v;
        }
        case kind::number: {
            value v = make(value::type::number, {}, t.line);
            const auto [end, ec] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v.number);
            if (ec != std::errc{} || end != t.text.data() + t.text.size()) v.what = value::type::other;
            next();
            return v;
        }
        case kind::name: break;
        case kind::mark:
            if (depth_ >= most_levels) break;
            if (t.text == "[") return read_list();
            if (t.text == "{") return read_hash();
            if (t.text == "(") {
                ++depth_;
                next();
                skip_lines();
                value v = read();
                skip_lines();
                --depth_;
                if (mark(")")) {
                    next();
                    return v;
                }
            }
            return make(value::type::other, {}, t.line);
        case kind::end:
        case kind::line:
        case kind::label:
        case kind::regex: return make(value::type::other, {}, t.line);
    }
    if (t.what != kind::name || depth_ >= most_levels) return make(value::type::other, {}, t.line);
    if (t.text == "nil") {
        next();
        return make(value::type::nil, {}, t.line);
    }
    if (t.text == "true" || t.text == "false") {
        next();
        value v = make(value::type::boolean, t.text, t.line);
        v.number = t.text == "true" ? 1 : 0;
        return v;
    }
    value v = make(value::type::call, t.text, t.line);
    next();
    while (mark(".") && all_[at + 1].what == kind::name && v.text != "ENV") {
        next();
        v.text += "." + now().text;
        next();
    }
    const bool variable = v.text == "ENV";
    if (variable && mark(".") && is_word(all_[at + 1], "fetch")) next(), next();
    if ((mark("(") || (variable && mark("["))) && !now().spaced) read_arguments(v);
    if (!variable || v.items.empty() || !v.items[0].is(value::type::text)) return v;
    value env = make(value::type::env, v.items[0].text, t.line);
    if (v.items.size() > 1 && v.items[1].is(value::type::text)) env.items.push_back(v.items[1]);
    return env;
}

void reader::read_arguments(value& call) {
    ++depth_;
    next();
    skip_lines();
    while (!closes(now()) && now().what != kind::end) {
        const std::size_t before = at;
        if (at_key()) {
            for (auto& p : read_pairs()) call.pairs.push_back(std::move(p));
        } else {
            value v = read();
            if (v.is(value::type::hash)) {
                for (auto& p : v.pairs) call.pairs.push_back(std::move(p));
            } else {
                call.items.push_back(std::move(v));
            }
        }
        skip_lines();
        if (mark(",") || at == before) next();
        skip_lines();
    }
    if (closes(now())) next();
    --depth_;
}

value reader::read_list() {
    value v = make(value::type::list, {}, now().line);
    value arguments;
    read_arguments(arguments);
    v.items = std::move(arguments.items);
    if (!arguments.pairs.empty()) v.what = value::type::other;
    return v;
}

value reader::read_hash() {
    value v = make(value::type::hash, {}, now().line);
    ++depth_;
    next();
    skip_lines();
    v.pairs = read_pairs();
    skip_lines();
    if (!mark("}")) {  // `**defaults`, `{ |request| … }`: not a hash that can be read
        v.what = value::type::other;
        int open = 1;
        while (now().what != kind::end && open > 0) {
            if (opens(now())) ++open;
            if (closes(now())) --open;
            next();
        }
    } else {
        next();
    }
    --depth_;
    return v;
}

std::vector<named> reader::read_pairs() {
    std::vector<named> out;
    while (at_key()) {
        std::string key = now().text;
        const bool arrow = now().what != kind::label;
        next();
        if (arrow) next();
        skip_lines();
        value v = read();
        out.push_back({std::move(key), std::move(v)});
        // A comma goes on, also over the end of its line; a line may also end before the closing bracket.
        const std::size_t before = at;
        skip_lines();
        if (!mark(",")) {
            at = before;
            break;
        }
        next();
        skip_lines();
    }
    return out;
}

}  // namespace etagere::app::ruby
