#include "etagere/store/record.hpp"

#include "envelope.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace etagere::store::record {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

std::string_view as_text(const digest& d) noexcept {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}

bool parse_hex(std::string_view hex, digest& out) noexcept {
    if (hex.size() != 2 * out.size()) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t high = digits.find(hex[2 * i]);
        const std::size_t low = digits.find(hex[2 * i + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return false;
        out.at(i) = static_cast<unsigned char>(high << 4U | low);
    }
    return true;
}

}  // namespace

std::uint64_t entity_layout::length(std::uint32_t index) const noexcept {
    return std::min(piece, size - std::min(size, offset(index)));
}

entity_layout lay_out(const digest& sha256, std::uint64_t size, std::uint64_t largest_piece) {
    if (size <= largest_piece) return {.sha256 = sha256, .size = size, .piece = size, .count = 1};
    return {.sha256 = sha256,
            .size = size,
            .piece = largest_piece,
            .count = static_cast<std::uint32_t>((size + largest_piece - 1) / largest_piece)};
}

std::string entity_name(const entity_layout& layout) {
    std::string out(2 * layout.sha256.size(), '\0');
    for (std::size_t i = 0; i < layout.sha256.size(); ++i) {
        out[2 * i] = digits[layout.sha256[i] >> 4U];
        out[2 * i + 1] = digits[layout.sha256[i] & 0xFU];
    }
    if (layout.count > 1) out.append(1, '.').append(std::to_string(layout.piece));
    return out;
}

result<entity_layout> parse_entity_name(std::string_view name, std::uint64_t size) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    digest sha256{};
    if (!parse_hex(name.substr(0, dot), sha256)) return fail(errc::store_corrupt);
    std::uint64_t piece = size;
    if (dot < name.size()) {
        const std::string_view number = name.substr(dot + 1);
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), piece);
        if (error != std::errc{} || piece == 0 || piece >= size ||
            size / piece >= std::numeric_limits<std::uint32_t>::max()) {
            return fail(errc::store_corrupt);
        }
    }
    entity_layout layout = lay_out(sha256, size, piece);
    // One spelling a layout: "007" or a trailing letter would be a second name for the same records.
    if (entity_name(layout) != name) return fail(errc::store_corrupt);
    return layout;
}

std::string piece_key(const entity_layout& layout, std::uint32_t index) {
    std::string out = entity_name(layout);
    if (layout.count > 1) out.append(1, ':').append(std::to_string(index));
    return out;
}

std::string encode_piece(const entity_layout& layout, std::uint32_t index, std::string_view bytes, const seal& how) {
    std::string out = open_envelope(kind::piece, layout.sha256.size() + 16 + bytes.size());
    out += as_text(layout.sha256);
    put_int(out, layout.size);
    put_int(out, index);
    put_int(out, layout.count);
    out += bytes;
    close_envelope(out, how);
    return out;
}

result<std::string_view> decode_piece(std::string_view bytes, const entity_layout& layout, std::uint32_t index,
                                      const seal& how) {
    const result<std::string_view> content = unwrap(bytes, kind::piece, how);
    if (!content) return content;
    reader in(*content);
    const bool named = in.bytes(layout.sha256.size()) == as_text(layout.sha256);
    const auto size = in.number<std::uint64_t>();
    const auto at = in.number<std::uint32_t>();
    const auto count = in.number<std::uint32_t>();
    if (!in.ok() || !named || size != layout.size || at != index || count != layout.count ||
        in.left() != layout.length(index)) {
        return fail(errc::store_corrupt);
    }
    return in.bytes(in.left());
}

}  // namespace etagere::store::record
