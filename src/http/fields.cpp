#include "etagere/http/fields.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>

namespace etagere::http {
namespace {

constexpr std::uint64_t bit(field_id id) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(id);
}

constexpr std::size_t longest_name = std::numeric_limits<std::uint16_t>::max();

constexpr std::array<bool, 256> token_octets = [] {
    std::array<bool, 256> ok{};
    for (unsigned c = '0'; c <= '9'; ++c) ok[c] = true;
    for (unsigned c = 'a'; c <= 'z'; ++c) ok[c] = ok[c - 'a' + 'A'] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) ok[static_cast<unsigned char>(c)] = true;
    return ok;
}();

bool is_forbidden_in_value(char c) noexcept {
    const auto octet = static_cast<unsigned char>(c);
    return (octet < 0x20U && octet != '\t') || octet == 0x7FU;
}

// True where one of eight octets is below 0x20 or is 0x7F.
bool has_control8(std::uint64_t v) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t tops = ones * 0x80;
    const std::uint64_t del = v ^ (ones * 0x7F);
    return ((((v - ones * 0x20) & ~v) | ((del - ones) & ~del)) & tops) != 0;
}

// Folds the case of eight ASCII octets at once; others are left alone.
std::uint64_t to_lower8(std::uint64_t v) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    const std::uint64_t low7 = v & (ones * 0x7F);
    const std::uint64_t from_a = low7 + ones * (0x80 - 'A');
    const std::uint64_t past_z = low7 + ones * (0x80 - 'Z' - 1);
    return v | ((from_a & ~past_z & ~v & (ones * 0x80)) >> 2U);
}

template <class Word> std::uint64_t load(std::string_view text, std::size_t at) noexcept {
    Word v = 0;
    std::memcpy(&v, text.data() + at, sizeof v);
    return v;
}

// Up to seven octets as one word; every octet is in it at least once.
std::uint64_t load_short(std::string_view text) noexcept {
    const std::size_t n = text.size();
    if (n >= 4) return load<std::uint32_t>(text, 0) | load<std::uint32_t>(text, n - 4) << 32U;
    if (n == 0) return 0;
    return load<std::uint8_t>(text, 0) | load<std::uint8_t>(text, n / 2) << 8U | load<std::uint8_t>(text, n - 1) << 16U;
}

}  // namespace

bool is_token(std::string_view text) noexcept {
    if (text.empty()) return false;
    bool ok = true;
    for (const char c : text) ok &= token_octets[static_cast<unsigned char>(c)];
    return ok;
}

bool is_field_value(std::string_view text) noexcept {
    const std::size_t n = text.size();
    if (n < 8) return std::ranges::none_of(text, is_forbidden_in_value);
    // Eight octets a step, the last step overlapping. Rarely an octet looks forbidden and is a tab: then look closely.
    bool suspect = false;
    for (std::size_t at = 0; at + 8 <= n; at += 8) suspect |= has_control8(load<std::uint64_t>(text, at));
    suspect |= has_control8(load<std::uint64_t>(text, n - 8));
    return !suspect || std::ranges::none_of(text, is_forbidden_in_value);
}

bool iequals(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    const std::size_t n = a.size();
    if (n < 8) return to_lower8(load_short(a)) == to_lower8(load_short(b));
    const auto same8 = [&](std::size_t at) {
        return to_lower8(load<std::uint64_t>(a, at)) == to_lower8(load<std::uint64_t>(b, at));
    };
    for (std::size_t at = 0; at + 8 <= n; at += 8) {
        if (!same8(at)) return false;
    }
    return same8(n - 8);
}

bool fields::add(std::string_view name, std::string_view value) {
    return add(find_field_id(name), name, value);
}

bool fields::add(field_id id, std::string_view name, std::string_view value) {
    assert(id == find_field_id(name));
    // A name with an id is a token.
    const bool named = id != field_id::other || (name.size() <= longest_name && is_token(name));
    if (!named || !is_field_value(value)) return false;
    push(id, name, value);
    return true;
}

void fields::append(field_id id, std::string_view value) {
    const bool valid = id != field_id::other && is_field_value(value);
    assert(valid);
    if (valid) push(id, canonical_name(id), value);
}

void fields::reserve(const fields& other, std::size_t more_fields, std::size_t more_octets) {
    arena_.reserve(other.arena_.size() + more_octets);
    slots_.reserve(other.slots_.size() + more_fields);
}

void fields::set(field_id id, std::string_view value) {
    erase(id);
    append(id, value);
}

bool fields::overwrite(field_id id, std::string_view value) noexcept {
    assert(is_field_value(value));
    if (count(id) != 1) return false;
    const auto at = std::ranges::find(slots_, id, &slot::id);
    if (at->value_size != value.size()) return false;
    std::ranges::copy(value, arena_.begin() + at->value_at);
    return true;
}

std::size_t fields::erase(field_id id) noexcept {
    if (!has(id)) return 0;
    in_text_ = false;
    present_ &= ~bit(id);
    return std::erase_if(slots_, [id](const slot& s) { return s.id == id; });
}

std::size_t fields::erase(std::string_view name) noexcept {
    if (const field_id id = find_field_id(name); id != field_id::other) return erase(id);
    const std::size_t erased = std::erase_if(slots_, [&](const slot& s) {
        return s.id == field_id::other && iequals({arena_.data() + s.name_at, s.name_size}, name);
    });
    if (erased != 0) in_text_ = false;
    return erased;
}

void fields::clear() noexcept {
    arena_.clear();
    slots_.clear();
    present_ = 0;
    in_text_ = false;
}

std::size_t fields::count(field_id id) const noexcept {
    if (!has(id)) return 0;
    return static_cast<std::size_t>(std::ranges::count(slots_, id, &slot::id));
}

std::optional<std::string_view> fields::find(field_id id) const noexcept {
    if (!has(id)) return std::nullopt;
    const auto found = std::ranges::find(slots_, id, &slot::id);
    return std::string_view(arena_.data() + found->value_at, found->value_size);
}

std::optional<std::string_view> fields::find(std::string_view name) const noexcept {
    if (const field_id id = find_field_id(name); id != field_id::other) return find(id);
    if (!has_others()) return std::nullopt;
    for (const slot& s : slots_) {
        if (s.id != field_id::other || s.name_size != name.size()) continue;
        if (iequals({arena_.data() + s.name_at, s.name_size}, name)) {
            return std::string_view(arena_.data() + s.value_at, s.value_size);
        }
    }
    return std::nullopt;
}

std::optional<std::string> fields::combined(field_id id) const {
    return has(id) ? combined(canonical_name(id)) : std::nullopt;
}

std::optional<std::string> fields::combined(std::string_view name) const {
    const field_id id = find_field_id(name);
    std::optional<std::string> all;
    if (id == field_id::other ? !has_others() : !has(id)) return all;
    for (const entry f : *this) {
        if (f.id != id || !iequals(f.name, name)) continue;
        if (all) {
            all->append(", ").append(f.value);
        } else {
            all.emplace(f.value);
        }
    }
    return all;
}

fields::entry fields::operator[](std::size_t i) const noexcept {
    const slot& s = slots_[i];
    return {s.id, {arena_.data() + s.name_at, s.name_size}, {arena_.data() + s.value_at, s.value_size}};
}

std::size_t fields::memory() const noexcept {
    return arena_.capacity() + slots_.capacity() * sizeof(slot);
}

// Octets of erased fields go too, so that a stored head weighs what it says.
void fields::shrink() {
    fields tight;
    std::size_t octets = 0;
    for (const slot& s : slots_) octets += s.name_size + s.value_size;
    tight.arena_.reserve(octets);
    tight.slots_.reserve(slots_.size());
    for (const entry f : *this) tight.push(f.id, f.name, f.value);
    arena_.swap(tight.arena_);  // not a move: that would copy a short arena into the old, large one
    slots_.swap(tight.slots_);
    in_text_ = false;
}

void fields::live_in(std::string text, std::size_t at) {
    constexpr std::size_t colon = 2, line_end = 2;
    for (slot& s : slots_) {
        assert(text.compare(at, s.name_size, arena_, s.name_at, s.name_size) == 0);
        s.name_at = static_cast<std::uint32_t>(at);
        const std::size_t value_at = at + s.name_size + colon;
        assert(text.compare(value_at, s.value_size, arena_, s.value_at, s.value_size) == 0);
        s.value_at = static_cast<std::uint32_t>(value_at);
        at = value_at + s.value_size + line_end;
    }
    text.shrink_to_fit();
    arena_.swap(text);
    slots_.shrink_to_fit();
    in_text_ = true;
}

// `name` and `value` may be views into this very arena (set(a, get(b))): when it has to grow, the old one lives on
// until both are copied.
void fields::push(field_id id, std::string_view name, std::string_view value) {
    const std::size_t at = arena_.size(), after = at + name.size() + value.size();
    assert(after <= std::numeric_limits<std::uint32_t>::max());
    if (arena_.capacity() < after) {
        std::string larger;
        larger.reserve(std::max({std::size_t{512}, 2 * at, after}));
        larger.append(arena_).append(name).append(value);
        arena_.swap(larger);
    } else {
        arena_.resize_and_overwrite(after, [&](char* arena, std::size_t) {
            std::memcpy(arena + at, name.data(), name.size());
            std::memcpy(arena + at + name.size(), value.data(), value.size());
            return after;
        });
    }
    if (slots_.capacity() == 0) slots_.reserve(16);
    const auto name_at = static_cast<std::uint32_t>(at);
    slots_.push_back({.name_at = name_at,
                      .value_at = name_at + static_cast<std::uint32_t>(name.size()),
                      .value_size = static_cast<std::uint32_t>(value.size()),
                      .name_size = static_cast<std::uint16_t>(name.size()),
                      .id = id});
    present_ |= bit(id);
    in_text_ = false;
}

}  // namespace etagere::http
