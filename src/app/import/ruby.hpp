// As much of Ruby as configurations are written in: tokens, and the values that options have. What is more than that
// stays a piece of text, never a guess. Nothing is evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::app::ruby {

enum class kind : std::uint8_t {
    end,
    line,    // end of a line, or `;`
    name,    // foo, Foo::Bar, @foo, $foo, do, end
    label,   // foo: or "foo":
    symbol,  // :foo or :"foo"
    text,    // '…' or "…"; #{…} is left as it is written
    words,   // %w[…] or %i[…]: the words with one space between
    number,  // digits
    regex,   // /…/
    mark,    // any other: ( ) [ ] { } , . => = || + …
};

struct token {
    kind what = kind::end;
    std::string text;
    int line = 0;
    bool spaced = false;     // blanks or a new line stood before it
    std::size_t at = 0;      // where it begins in the source,
    std::size_t behind = 0;  // and where it ends
};
/// Text of the input as it may be shown: on one line, whatever it was.
std::string plain(std::string_view text);

/// Ends with one token of kind `end`. Comments are left out.
std::vector<token> tokens(std::string_view source);

struct named;  // of a hash: a key and its value

struct value {
    enum class type : std::uint8_t { text, symbol, number, boolean, nil, list, hash, env, call, other };
    type what = type::other;
    std::string text;          // text, symbol: what it says; env: name of the variable; call: "Dalli::Client.new"
    std::int64_t number = 0;   // number (durations in seconds), boolean
    std::vector<value> items;  // list; call: its arguments; env: the default, where there is one
    std::vector<named> pairs;  // hash; call: its keyword arguments
    std::string source;        // as written, on one line
    int line = 0;

    bool is(type t) const noexcept { return what == t; }
    bool truth() const noexcept { return what != type::nil && (what != type::boolean || number != 0); }
};

struct named {
    std::string name;
    value is;
};

/// Reads values from tokens. `at` is always on a token; the last one is never passed.
class reader {
public:
    reader(std::string_view source, const std::vector<token>& all) : source_(source), all_(all) {}

    std::size_t at = 0;
    const token& now() const noexcept { return all_[at]; }
    bool is(kind k, std::string_view text) const noexcept { return now().what == k && now().text == text; }
    bool mark(std::string_view text) const noexcept { return is(kind::mark, text); }
    void next() noexcept {
        if (now().what != kind::end) ++at;
    }
    void skip_lines() noexcept {
        while (now().what == kind::line) next();
    }

    /// One value, up to the `,`, closing bracket, end of line or `do` that ends it.
    value read();
    /// `key: value, :key => value, …` without brackets around: arguments of a call. Stops where that ends.
    std::vector<named> read_pairs();
    /// A key of a hash here, and not a value: `foo:`, `:foo =>`, `"foo" =>`.
    bool at_key() const noexcept;

private:
    value read_simple();
    value read_list();
    value read_hash();
    void read_arguments(value& call);
    void skip_rest();
    void skip_balanced();
    std::string written(std::size_t from, std::size_t to) const;

    std::string_view source_;
    const std::vector<token>& all_;
    int depth_ = 0;
};

}  // namespace etagere::app::ruby
