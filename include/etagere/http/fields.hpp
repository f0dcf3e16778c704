// An ordered list of header or trailer fields (RFC 9110 §5): names case-insensitive, repetitions kept, order kept.
#pragma once

#include "etagere/http/field_id.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace etagere::http {

/// token of RFC 9110 §5.6.2: a valid field name or method.
bool is_token(std::string_view text) noexcept;
/// field-value of RFC 9110 §5.5: no NUL, CR, LF, other controls except HTAB; obs-text allowed.
bool is_field_value(std::string_view text) noexcept;
/// ASCII case-insensitive equality.
bool iequals(std::string_view a, std::string_view b) noexcept;

/// Keeps its fields as they are sent, "Name: value" line after line, and beside each line where it lies and what it is:
/// all in one block of memory. clear() keeps the block, so a connection that reuses one allocates nothing in the steady
/// state. Views it gives are valid until the next non-const call. Not thread-safe to write; safe to read shared.
class fields {
public:
    struct entry {
        field_id id;
        std::string_view name;   // as received
        std::string_view value;  // without surrounding white space
    };
    class iterator;
    /// So many octets of lines are let in, erased ones among them: more than any head that is read. A little more has
    /// room, for what we add ourselves.
    static constexpr std::size_t most_octets = (std::size_t{1} << 21U) - 4096;

    fields() = default;
    fields(const fields& o);
    fields(fields&& o) noexcept { swap(o); }
    fields& operator=(const fields& o);
    fields& operator=(fields&& o) noexcept {
        fields taken(std::move(o));
        swap(taken);
        return *this;
    }
    ~fields() = default;
    void swap(fields& o) noexcept;

    /// The one way in. False, and nothing is added, where the name is no token, the value holds a forbidden octet, or
    /// there would be too many octets: whatever came in, no CR, LF or NUL can go out.
    [[nodiscard]] bool add(std::string_view name, std::string_view value);
    /// The same, for a caller that has looked `id` up already: it has to be find_field_id(name).
    [[nodiscard]] bool add(field_id id, std::string_view name, std::string_view value);
    /// For values made by us from numbers and checked parts; asserts what add() checks.
    void append(field_id id, std::string_view value);
    /// A field of other `fields`: it was checked when it came in there.
    void append(const entry& f) { push(f.id, f.name, f.value); }
    /// The same for field `i` of `of`, which is not this object: its line is copied as it is.
    void append(const fields& of, std::size_t i);
    /// Makes room for what `other` holds and so many fields and octets more.
    void reserve(const fields& other, std::size_t more_fields, std::size_t more_octets);
    /// Removes all of that name, then appends one.
    void set(field_id id, std::string_view value);
    /// The same in the octets of the one field of that name, for a value of the same size: what views see, and the text
    /// of live_in(), changes in place. False, and nothing changes, where there is none or several, or of another size.
    bool overwrite(field_id id, std::string_view value) noexcept;
    std::size_t erase(field_id id) noexcept;
    std::size_t erase(std::string_view name) noexcept;
    void clear() noexcept;

    bool has(field_id id) const noexcept {
        return id != field_id::other && (present_ >> static_cast<unsigned>(id) & 1U) != 0;
    }
    /// False: whatever is here has an id, and a name without one is not worth looking for.
    bool has_others() const noexcept { return (present_ & 1U) != 0; }
    /// True where one of several names is here: one bit for each, 1 << its field_id.
    bool has_any(std::uint64_t ids) const noexcept { return (present_ & ids) != 0; }
    std::size_t count(field_id id) const noexcept;
    /// First value of that name.
    std::optional<std::string_view> find(field_id id) const noexcept;
    std::optional<std::string_view> find(std::string_view name) const noexcept;
    /// "" where there is none. For fields where absent and empty mean the same.
    std::string_view get(field_id id) const noexcept { return find(id).value_or(std::string_view{}); }
    /// RFC 9110 §5.2: all values of that name joined by ", "; nullopt where there is none.
    std::optional<std::string> combined(field_id id) const;
    std::optional<std::string> combined(std::string_view name) const;

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    entry operator[](std::size_t i) const noexcept;
    /// "Name: value\r\n": the field as it is sent.
    std::string_view line(std::size_t i) const noexcept;
    iterator begin() const noexcept;
    iterator end() const noexcept;
    /// Bytes of the block: what a store charges for it.
    std::size_t memory() const noexcept { return capacity_ * sizeof(slot); }
    /// Releases spare capacity; for fields that are about to live long.
    void shrink();
    /// For fields that are sent as they lie: `text` has them from `at_octet` on, in their order, as http::h1 writes
    /// them, and takes the place of the lines. Changing them later is allowed, and ends that.
    void live_in(std::string_view text, std::size_t at_octet);
    bool lives_in_text() const noexcept { return in_text_; }
    /// The text of live_in(), as long as they live in it; else all lines, erased ones among them.
    std::string_view octets() const noexcept { return {begin_of_octets(), octets_}; }
    /// True where octets() are the lines and nothing else.
    bool in_one_piece() const noexcept { return !gaps_; }

private:
    struct slot {
        std::uint64_t at : 21;  // of the line, from the beginning of the block
        std::uint64_t value_size : 21;
        std::uint64_t name_size : 16;
        std::uint64_t id : 6;
    };
    static_assert(sizeof(slot) == 8 && static_cast<int>(field_id::count_) <= 1 << 6);
    static constexpr std::size_t addressable = (std::size_t{1} << 21U) - 1;
    static constexpr std::size_t colon = 2, line_end = 2;  // ": ", "\r\n"

    static std::size_t units(std::size_t octets, std::size_t fields) noexcept {
        return (octets + sizeof(slot) - 1) / sizeof(slot) + fields;
    }
    const char* begin_of_octets() const noexcept { return reinterpret_cast<const char*>(block_.get()); }
    char* begin_of_octets() noexcept { return reinterpret_cast<char*>(block_.get()); }
    slot& at(std::size_t i) noexcept { return block_[capacity_ - 1 - i]; }
    const slot& at(std::size_t i) const noexcept { return block_[capacity_ - 1 - i]; }
    field_id id_at(std::size_t i) const noexcept { return static_cast<field_id>(at(i).id); }
    std::string_view name_at(std::size_t i) const noexcept { return {begin_of_octets() + at(i).at, at(i).name_size}; }
    std::string_view value_at(std::size_t i) const noexcept {
        return {begin_of_octets() + at(i).at + at(i).name_size + colon, at(i).value_size};
    }
    void copy_fields(const fields& o) noexcept;
    bool push(field_id id, std::string_view name, std::string_view value);
    std::unique_ptr<slot[]> make_room(std::size_t octets);
    std::unique_ptr<slot[]> move_to(std::size_t capacity);
    template <class Predicate> std::size_t erase_where(Predicate goes) noexcept;

    // The lines from its beginning, the slots from its end, the first field's last.
    std::unique_ptr<slot[]> block_;
    std::uint32_t capacity_ = 0;  // of the block, in slots
    std::uint32_t octets_ = 0;
    std::uint32_t size_ = 0;
    bool in_text_ = false;
    bool gaps_ = false;  // something stands between the lines: what was erased, or the text's own
    std::uint64_t present_ = 0;
};

class fields::iterator {
public:
    using value_type = entry;
    using difference_type = std::ptrdiff_t;
    iterator(const fields* owner, std::size_t at) noexcept : owner_(owner), at_(at) {}
    entry operator*() const noexcept { return (*owner_)[at_]; }
    iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    bool operator==(const iterator& o) const noexcept { return at_ == o.at_; }

private:
    const fields* owner_;
    std::size_t at_;
};

inline fields::entry fields::operator[](std::size_t i) const noexcept {
    return {id_at(i), name_at(i), value_at(i)};
}
inline std::string_view fields::line(std::size_t i) const noexcept {
    return {begin_of_octets() + at(i).at, at(i).name_size + colon + at(i).value_size + line_end};
}
inline fields::iterator fields::begin() const noexcept {
    return {this, 0};
}
inline fields::iterator fields::end() const noexcept {
    return {this, size()};
}

}  // namespace etagere::http
