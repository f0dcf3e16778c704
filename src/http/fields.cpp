#include "etagere/http/fields.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

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

fields::fields(const fields& o) : capacity_(static_cast<std::uint32_t>(units(o.octets_, o.size_))) {
    if (capacity_ > 0) block_ = std::make_unique_for_overwrite<slot[]>(capacity_);
    copy_fields(o);
}

fields& fields::operator=(const fields& o) {
    if (this == &o) return *this;
    if (units(o.octets_, o.size_) > capacity_) return *this = fields(o);
    copy_fields(o);
    return *this;
}

/// Those of `o`, for which there is room.
void fields::copy_fields(const fields& o) noexcept {
    octets_ = o.octets_;
    size_ = o.size_;
    in_text_ = o.in_text_;
    gaps_ = o.gaps_;
    present_ = o.present_;
    if (o.octets_ > 0) std::memcpy(begin_of_octets(), o.begin_of_octets(), o.octets_);
    if (o.size_ > 0) std::copy_n(&o.at(o.size_ - 1), o.size_, &at(size_ - 1));
}

void fields::swap(fields& o) noexcept {
    std::swap(block_, o.block_);
    std::swap(capacity_, o.capacity_);
    std::swap(octets_, o.octets_);
    std::swap(size_, o.size_);
    std::swap(in_text_, o.in_text_);
    std::swap(gaps_, o.gaps_);
    std::swap(present_, o.present_);
}

bool fields::add(std::string_view name, std::string_view value) {
    return add(find_field_id(name), name, value);
}

bool fields::add(field_id id, std::string_view name, std::string_view value) {
    assert(id == find_field_id(name));
    // A name with an id is a token.
    const bool named = id != field_id::other || (name.size() <= longest_name && is_token(name));
    if (!named || !is_field_value(value) || octets_ + name.size() + value.size() > most_octets) return false;
    return push(id, name, value);
}

void fields::append(field_id id, std::string_view value) {
    const bool valid = id != field_id::other && is_field_value(value);
    assert(valid);
    if (valid) push(id, canonical_name(id), value);
}

void fields::reserve(const fields& other, std::size_t more_fields, std::size_t more_octets) {
    const std::size_t octets = other.octets_ + more_octets + more_fields * (colon + line_end);
    if (const std::size_t all = units(octets, other.size_ + more_fields); all > capacity_) move_to(all);
}

void fields::set(field_id id, std::string_view value) {
    erase(id);
    append(id, value);
}

bool fields::overwrite(field_id id, std::string_view value) noexcept {
    assert(is_field_value(value));
    if (count(id) != 1) return false;
    const std::string_view old = get(id);
    if (old.size() != value.size()) return false;
    std::ranges::copy(value, begin_of_octets() + (old.data() - begin_of_octets()));
    return true;
}

template <class Predicate> std::size_t fields::erase_where(Predicate goes) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        if (!goes(i)) at(kept++) = at(i);
    }
    const std::size_t gone = size_ - kept;
    size_ = static_cast<std::uint32_t>(kept);
    if (gone != 0) {
        in_text_ = false;
        gaps_ = true;
    }
    return gone;
}

std::size_t fields::erase(field_id id) noexcept {
    if (!has(id)) return 0;
    in_text_ = false;
    present_ &= ~bit(id);
    return erase_where([&](std::size_t i) { return id_at(i) == id; });
}

std::size_t fields::erase(std::string_view name) noexcept {
    if (const field_id id = find_field_id(name); id != field_id::other) return erase(id);
    return erase_where([&](std::size_t i) { return id_at(i) == field_id::other && iequals(name_at(i), name); });
}

void fields::clear() noexcept {
    octets_ = 0;
    size_ = 0;
    present_ = 0;
    in_text_ = gaps_ = false;
}

std::size_t fields::count(field_id id) const noexcept {
    if (!has(id)) return 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < size_; ++i) n += id_at(i) == id ? 1 : 0;
    return n;
}

std::optional<std::string_view> fields::find(field_id id) const noexcept {
    if (!has(id)) return std::nullopt;
    std::size_t i = 0;
    while (id_at(i) != id) ++i;
    return value_at(i);
}

std::optional<std::string_view> fields::find(std::string_view name) const noexcept {
    if (const field_id id = find_field_id(name); id != field_id::other) return find(id);
    if (!has_others()) return std::nullopt;
    for (std::size_t i = 0; i < size_; ++i) {
        if (id_at(i) != field_id::other || at(i).name_size != name.size()) continue;
        if (iequals(name_at(i), name)) return value_at(i);
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

// Octets of erased fields go too, so that a stored head weighs what it says.
void fields::shrink() {
    std::size_t octets = 0;
    for (std::size_t i = 0; i < size_; ++i) octets += line(i).size();
    fields tight;
    tight.move_to(units(octets, size_));
    for (const entry f : *this) tight.push(f.id, f.name, f.value);
    swap(tight);
}

void fields::live_in(std::string_view text, std::size_t at_octet) {
    assert(text.size() <= addressable);
    fields there;
    there.move_to(units(text.size(), size_));
    std::memcpy(there.begin_of_octets(), text.data(), text.size());
    there.octets_ = static_cast<std::uint32_t>(text.size());
    there.size_ = size_;
    there.in_text_ = there.gaps_ = true;
    there.present_ = present_;
    for (std::size_t i = 0; i < size_; ++i) {
        assert(text.substr(at_octet, line(i).size()) == line(i));
        there.at(i) = at(i);
        there.at(i).at = at_octet & addressable;
        at_octet += line(i).size();
    }
    swap(there);
}

/// Into a block of so many slots; gives back the one it was in.
std::unique_ptr<fields::slot[]> fields::move_to(std::size_t capacity) {
    fields larger;
    if (capacity > 0) larger.block_ = std::make_unique_for_overwrite<slot[]>(capacity);
    larger.capacity_ = static_cast<std::uint32_t>(capacity);
    larger.copy_fields(*this);
    swap(larger);
    return std::move(larger.block_);
}

/// For one more line. As move_to(): gives back the old block where it takes a new one.
std::unique_ptr<fields::slot[]> fields::make_room(std::size_t octets) {
    const std::size_t needed = units(octets_ + octets, size_ + 1);
    if (needed <= capacity_) return nullptr;
    constexpr std::size_t fewest = 80;  // of a small head
    return move_to(std::max({fewest, std::size_t{2} * capacity_, needed}));
}

void fields::append(const fields& of, std::size_t i) {
    assert(&of != this);
    const std::string_view line = of.line(i);
    if (octets_ + line.size() > addressable) return;
    make_room(line.size());
    std::memcpy(begin_of_octets() + octets_, line.data(), line.size());
    slot& added = at(size_++) = of.at(i);
    added.at = octets_ & addressable;
    octets_ += static_cast<std::uint32_t>(line.size());
    in_text_ = false;
    present_ |= bit(of.id_at(i));
}

// `name` and `value` may be views into this very block (set(a, get(b))): when it has to grow, the old one lives on
// until both are copied.
bool fields::push(field_id id, std::string_view name, std::string_view value) {
    const std::size_t size = name.size() + colon + value.size() + line_end;
    if (octets_ + size > addressable) return false;
    const std::unique_ptr<slot[]> old = make_room(size);
    char* to = begin_of_octets() + octets_;
    const auto put = [&to](std::string_view text) {
        std::memcpy(to, text.data(), text.size());
        to += text.size();
    };
    const std::uint64_t line_at = octets_;
    put(name);
    put(": ");
    put(value);
    put("\r\n");
    octets_ += static_cast<std::uint32_t>(size);
    at(size_++) = {.at = line_at & addressable,
                   .value_size = value.size() & addressable,
                   .name_size = name.size() & 0xFFFFU,
                   .id = static_cast<std::uint64_t>(id) & 0x3FU};
    in_text_ = false;
    present_ |= bit(id);
    return true;
}

}  // namespace etagere::http
