#include "ruby.hpp"

#include <algorithm>
#include <array>

namespace etagere::app::ruby {
namespace {

bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_blank(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\r';
}

class lexer {
public:
    explicit lexer(std::string_view source) noexcept : source_(source) {}

    std::vector<token> run() {
        while (at_ < source_.size()) step();
        add(kind::end, {}, source_.size());
        return std::move(out_);
    }

private:
    char peek(std::size_t ahead = 0) const noexcept {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }
    bool starts(std::string_view text) const noexcept { return source_.substr(at_).starts_with(text); }
    bool at_line_start() const noexcept { return at_ == 0 || source_[at_ - 1] == '\n'; }

    void add(kind what, std::string text, std::size_t from) {
        out_.push_back({what, std::move(text), line_, spaced_, from, at_});
        spaced_ = false;
    }

    /// Whether a value may begin here, so that `/` begins a regex and `?x`, `:` and `%w` mean what they mean there.
    bool expects_value() const noexcept {
        if (out_.empty()) return true;
        const token& last = out_.back();
        if (last.what == kind::mark) return last.text != ")" && last.text != "]" && last.text != "}";
        return last.what == kind::line || last.what == kind::label;
    }

    void step() {
        const char c = peek();
        if (c == '\n') {
            ++at_;
            add(kind::line, {}, at_ - 1);
            ++line_;
            spaced_ = true;
        } else if (is_blank(c)) {
            ++at_;
            spaced_ = true;
        } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
            at_ += peek(1) == '\r' ? 3 : 2;
            ++line_;
            spaced_ = true;
        } else if (c == '#') {
            at_ = std::min(source_.find('\n', at_), source_.size());
        } else if (at_line_start() && starts("=begin")) {
            skip_block_comment();
        } else if (at_line_start() && starts("__END__")) {
            at_ = source_.size();
        } else if (c == '\'' || c == '"') {
            quoted(kind::text);
        } else if (c == ':' && (is_letter(peek(1)) || peek(1) == '"')) {
            symbol();
        } else if (c == '%' && (peek(1) == 'w' || peek(1) == 'i' || peek(1) == 'W') && bracket(peek(2)) != '\0') {
            word_list();
        } else if (c == '/' && (expects_value() || after_match())) {
            regex();
        } else if (is_digit(c)) {
            number();
        } else if (is_letter(c) || ((c == '@' || c == '$') && is_letter(peek(1)))) {
            name();
        } else {
            mark();
        }
    }

    bool after_match() const noexcept { return out_.back().what == kind::mark && out_.back().text == "=~"; }

    void skip_block_comment() {
        const std::size_t end = std::min(source_.find("\n=end", at_), source_.size());
        line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
        at_ = end;
        if (at_ == source_.size()) return;
        at_ = std::min(source_.find('\n', at_ + 1), source_.size());
        ++line_;
    }

    /// Up to the closing quote. `#{…}` stays as it is written, quotes inside it included.
    std::string delimited(char close) {
        std::string text;
        int braces = 0;
        while (at_ < source_.size()) {
            const char c = source_[at_++];
            if (c == '\n') ++line_;
            if (c == close && braces == 0) break;
            if (c == '\\' && at_ < source_.size() && braces == 0) {
                if (source_[at_] == '\n') ++line_;
                text += source_[at_++];
                continue;
            }
            if (c == '#' && peek() == '{' && close != '\'') {
                ++braces;
                text += c;
                text += source_[at_++];
                continue;
            }
            if (braces > 0 && c == '{') ++braces;
            if (braces > 0 && c == '}') --braces;
            text += c;
        }
        return text;
    }

    void quoted(kind what) {
        const std::size_t from = at_;
        const int first_line = line_;
        const char close = source_[at_++];
        std::string text = delimited(close);
        // "foo": is a label, "a" ? "b" : "c" is not.
        if (what == kind::text && peek() == ':' && peek(1) != ':') {
            ++at_;
            what = kind::label;
        }
        add(what, std::move(text), from);
        out_.back().line = first_line;
    }

    void symbol() {
        const std::size_t from = at_++;
        if (peek() == '"') {
            ++at_;
            add(kind::symbol, delimited('"'), from);
            return;
        }
        add(kind::symbol, word(), from);
    }

    static char bracket(char open) noexcept {
        constexpr std::string_view opening = "[({<", closing = "])}>";
        const auto at = opening.find(open);
        return open != '\0' && at != std::string_view::npos ? closing[at] : '\0';
    }

    void word_list() {
        const std::size_t from = at_;
        const char close = bracket(peek(2));
        at_ += 3;
        std::string joined;
        bool gap = false;
        while (at_ < source_.size()) {
            const char c = source_[at_++];
            if (c == '\n') ++line_;
            if (c == close) break;
            if (is_blank(c) || c == '\n') {
                gap = !joined.empty();
                continue;
            }
            if (gap) joined += ' ';
            gap = false;
            joined += c;
        }
        add(kind::words, std::move(joined), from);
    }

    /// On one line, or it is a division.
    void regex() {
        std::size_t end = at_ + 1;
        bool in_class = false;
        while (end < source_.size() && source_[end] != '\n' && (source_[end] != '/' || in_class)) {
            if (source_[end] == '[') in_class = true;
            if (source_[end] == ']') in_class = false;
            if (source_[end] == '\\') ++end;
            ++end;
        }
        if (end >= source_.size() || source_[end] != '/') {
            mark();
            return;
        }
        const std::size_t from = at_;
        at_ = end + 1;
        while (is_letter(peek())) ++at_;
        add(kind::regex, std::string(source_.substr(from + 1, end - from - 1)), from);
    }

    void number() {
        const std::size_t from = at_;
        while (is_digit(peek()) || (peek() == '_' && is_digit(peek(1)))) ++at_;
        // 1.5 is one number, 1.day is not.
        if (peek() == '.' && is_digit(peek(1))) {
            ++at_;
            while (is_digit(peek())) ++at_;
        }
        std::string digits(source_.substr(from, at_ - from));
        std::erase(digits, '_');
        add(kind::number, std::move(digits), from);
    }

    std::string word() {
        const std::size_t from = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        if ((peek() == '?' || peek() == '!') && peek(1) != '=') ++at_;
        return std::string(source_.substr(from, at_ - from));
    }

    void name() {
        const std::size_t from = at_;
        std::string text;
        while (peek() == '@' || peek() == '$') text += source_[at_++];
        text += word();
        while (starts("::") && is_letter(peek(2))) {
            at_ += 2;
            text += "::" + word();
        }
        if (peek() == ':' && peek(1) != ':') {
            ++at_;
            add(kind::label, std::move(text), from);
            return;
        }
        add(kind::name, std::move(text), from);
    }

    void mark() {
        constexpr std::array<std::string_view, 16> longer{
            "=>", "->", "||=", "||", "&&", "==", "=~", "!=", "<<", ">>", "<=", ">=", "**", "::", "..", "&."};
        const std::size_t from = at_;
        if (peek() == ';') {
            ++at_;
            add(kind::line, {}, from);
            return;
        }
        const auto* const found = std::ranges::find_if(longer, [this](std::string_view m) { return starts(m); });
        const std::size_t size = found == longer.end() ? 1 : found->size();
        at_ += size;
        add(kind::mark, std::string(source_.substr(from, size)), from);
    }

    std::string_view source_;
    std::size_t at_ = 0;
    int line_ = 1;
    bool spaced_ = false;
    std::vector<token> out_;
};

}  // namespace

std::vector<token> tokens(std::string_view source) {
    return lexer(source).run();
}

}  // namespace etagere::app::ruby
