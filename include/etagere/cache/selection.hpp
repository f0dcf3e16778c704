// Which requests a stored response is for: the request fields that select it, and what they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::cache {

/// A lower-case name of a request field that Vary names, with the normalised value it had: nullopt where the request
/// had none (absent and empty differ, RFC 9111 §4.1). Of what may be a credential only a digest: these go to stores
/// that others can read.
struct selector {
    std::string name;
    std::optional<std::string> value;
    friend bool operator==(const selector&, const selector&) = default;
};

/// The selectors of one response, in their order. Immutable but for assignment; one block of memory, none while it is
/// empty. Safe to read shared.
class selection {
public:
    /// Views into the selection.
    struct entry {
        std::string_view name;
        std::optional<std::string_view> value;
        friend bool operator==(const entry&, const entry&) = default;
    };
    class iterator;

    selection() = default;
    selection(const std::vector<selector>& of);
    selection(std::initializer_list<selector> of) : selection(std::vector(of)) {}
    selection(const selection& o);
    selection(selection&&) noexcept = default;
    selection& operator=(const selection& o);
    selection& operator=(selection&&) noexcept = default;
    ~selection() = default;

    bool empty() const noexcept { return block_ == nullptr; }
    std::size_t size() const noexcept;
    iterator begin() const noexcept;
    iterator end() const noexcept;
    entry operator[](std::size_t i) const noexcept;
    friend bool operator==(const selection& a, const selection& b) noexcept { return a.octets() == b.octets(); }
    /// Bytes of the block.
    std::size_t memory() const noexcept { return octets().size(); }

private:
    /// In front of each entry's octets: the name's, then the value's.
    struct sizes {
        static constexpr std::uint32_t no_value = UINT32_MAX;
        std::uint32_t name;
        std::uint32_t value;
        std::size_t octets() const noexcept { return sizeof(sizes) + name + (value == no_value ? 0 : value); }
    };
    std::string_view octets() const noexcept;

    std::unique_ptr<char[]> block_;  // its size, then the entries
};

class selection::iterator {
public:
    using value_type = entry;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    entry operator*() const noexcept;
    iterator& operator++() noexcept;
    iterator operator++(int) noexcept {
        iterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const iterator&) const noexcept = default;

private:
    friend class selection;
    explicit iterator(const char* at) noexcept : at_(at) {}
    sizes read() const noexcept;
    const char* at_ = nullptr;
};

}  // namespace etagere::cache
