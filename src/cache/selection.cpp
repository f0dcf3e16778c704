#include "etagere/cache/selection.hpp"

#include <cassert>
#include <cstring>

namespace etagere::cache {
namespace {

using block_size = std::uint32_t;

}  // namespace

selection::selection(const std::vector<selector>& of) {
    if (of.empty()) return;
    std::size_t size = sizeof(block_size);
    for (const selector& s : of) size += sizeof(sizes) + s.name.size() + (s.value ? s.value->size() : 0);
    assert(size < sizes::no_value);
    block_ = std::make_unique_for_overwrite<char[]>(size);
    char* to = block_.get();
    const auto put = [&to](const void* from, std::size_t octets) {
        if (octets > 0) std::memcpy(to, from, octets);
        to += octets;
    };
    const auto all = static_cast<block_size>(size);
    put(&all, sizeof all);
    for (const selector& s : of) {
        const sizes each{static_cast<std::uint32_t>(s.name.size()),
                         s.value ? static_cast<std::uint32_t>(s.value->size()) : sizes::no_value};
        put(&each, sizeof each);
        put(s.name.data(), s.name.size());
        if (s.value) put(s.value->data(), s.value->size());
    }
}

selection::selection(const selection& o) {
    const std::string_view octets = o.octets();
    if (octets.empty()) return;
    block_ = std::make_unique_for_overwrite<char[]>(octets.size());
    std::memcpy(block_.get(), octets.data(), octets.size());
}

selection& selection::operator=(const selection& o) {
    if (this != &o) *this = selection(o);
    return *this;
}

std::string_view selection::octets() const noexcept {
    if (!block_) return {};
    block_size size = 0;
    std::memcpy(&size, block_.get(), sizeof size);
    return {block_.get(), size};
}

std::size_t selection::size() const noexcept {
    std::size_t n = 0;
    for (auto at = begin(); at != end(); ++at) ++n;
    return n;
}

selection::iterator selection::begin() const noexcept {
    return iterator(block_ ? block_.get() + sizeof(block_size) : nullptr);
}

selection::iterator selection::end() const noexcept {
    const std::string_view all = octets();
    return iterator(all.data() + all.size());
}

selection::entry selection::operator[](std::size_t i) const noexcept {
    iterator at = begin();
    while (i-- > 0) ++at;
    return *at;
}

selection::sizes selection::iterator::read() const noexcept {
    sizes each{};
    std::memcpy(&each, at_, sizeof each);
    return each;
}

selection::entry selection::iterator::operator*() const noexcept {
    const sizes each = read();
    const char* const name = at_ + sizeof each;
    if (each.value == sizes::no_value) return {{name, each.name}, std::nullopt};
    return {{name, each.name}, std::string_view(name + each.name, each.value)};
}

selection::iterator& selection::iterator::operator++() noexcept {
    at_ += read().octets();
    return *this;
}

}  // namespace etagere::cache
