// Structured field values (RFC 9651, which obsoletes RFC 8941): the strict parser for fields that are defined that way.
//
// A value is judged as a whole before anything of it is seen: one octet out of place, and there is nothing (§4.2: "If
// parsing fails, the entire field value MUST be ignored"). What is returned are views into the text, which has to
// outlive them; nothing here allocates except decoded(). Several lines of one field are one value: parse combined().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace etagere::http::structured {

enum class kind : std::uint8_t { integer, decimal, string, token, bytes, boolean, date, display_string };

/// §3.3. A key without a value is the boolean true.
struct bare_item {
    kind type = kind::boolean;
    std::int64_t number = 1;     // integer, date (seconds since 1970): itself; decimal: thousandths; boolean: 0 or 1
    std::string_view text = {};  // string, token, bytes, display_string: as it stands between its delimiters

    bool is(kind k) const noexcept { return type == k; }
    bool is_true() const noexcept { return type == kind::boolean && number == 1; }
    /// `text` with the escapes of a string, the base64 of bytes and the percent-encoding of a display string undone.
    std::string decoded() const;
};

/// §3.1.2. Where a key comes twice, the last one counts.
class parameters {
public:
    parameters() = default;
    explicit parameters(std::string_view valid) noexcept : text_(valid) {}

    std::optional<bare_item> find(std::string_view key) const noexcept;
    /// `each(key, bare_item)`, in the order of the text: the later of equal keys replaces the earlier one.
    template <class F> void for_each(F&& each) const;

private:
    std::string_view text_;
};

struct item {
    bare_item value;
    parameters with;
};

/// The items of an inner list (§3.1.1).
class inner_list {
public:
    inner_list() = default;
    explicit inner_list(std::string_view valid) noexcept : text_(valid) {}

    template <class F> void for_each(F&& each) const;  // each(item)

private:
    std::string_view text_;  // between the parentheses
};

/// A member of a list or of a dictionary: an item or an inner list, with parameters.
struct member {
    std::string_view key;  // "" in a list
    bool is_inner_list = false;
    bare_item value;   // where it is an item
    inner_list items;  // where it is an inner list
    parameters with;
};

/// §3.2.
class dictionary {
public:
    /// nullopt: not there, or not with that key. Where a key comes twice, the last one counts.
    std::optional<member> find(std::string_view key) const noexcept;
    /// `each(member)`, in the order of the text: the later of equal keys replaces the earlier one.
    template <class F> void for_each(F&& each) const;

private:
    friend std::optional<dictionary> parse_dictionary(std::string_view) noexcept;
    explicit dictionary(std::string_view valid) noexcept : text_(valid) {}
    std::string_view text_;
};

/// §3.1.
class list {
public:
    template <class F> void for_each(F&& each) const;  // each(member)

private:
    friend std::optional<list> parse_list(std::string_view) noexcept;
    explicit list(std::string_view valid) noexcept : text_(valid) {}
    std::string_view text_;
};

/// nullopt: no such value, to be treated as if the field were absent. An empty text is an empty dictionary or list, and
/// no item.
std::optional<dictionary> parse_dictionary(std::string_view text) noexcept;
std::optional<list> parse_list(std::string_view text) noexcept;
std::optional<item> parse_item(std::string_view text) noexcept;

// ---------------------------------------------------------------- walking what was judged valid

namespace detail {

// Cut the next one off the front of `rest`; false at the end.
bool next_parameter(std::string_view& rest, std::string_view& key, bare_item& value) noexcept;
bool next_item(std::string_view& rest, item& out) noexcept;
bool next_list_member(std::string_view& rest, member& out) noexcept;
bool next_dictionary_member(std::string_view& rest, member& out) noexcept;

}  // namespace detail

template <class F> void parameters::for_each(F&& each) const {
    std::string_view rest = text_;
    std::string_view key;
    bare_item value;
    while (detail::next_parameter(rest, key, value)) each(key, value);
}

template <class F> void inner_list::for_each(F&& each) const {
    std::string_view rest = text_;
    item one;
    while (detail::next_item(rest, one)) each(one);
}

template <class F> void list::for_each(F&& each) const {
    std::string_view rest = text_;
    member one;
    while (detail::next_list_member(rest, one)) each(one);
}

template <class F> void dictionary::for_each(F&& each) const {
    std::string_view rest = text_;
    member one;
    while (detail::next_dictionary_member(rest, one)) each(one);
}

}  // namespace etagere::http::structured
