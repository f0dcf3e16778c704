// The bytes of a record in a remote store: pure functions between values and bytes (layout: src/docs/records.md).
// Decoding takes any bytes: it never crashes, never allocates more than a small multiple of what it was given, and
// refuses everything that is not exactly what was asked for. Thread-safe; no state.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/base/time.hpp"
#include "etagere/cache/stored_response.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::store::record {

/// Goes into every record and into the names of records. A record of another version is no error: a rolling deployment
/// has both for a while.
inline constexpr std::uint16_t format_version = 2;

using digest = std::array<unsigned char, 32>;
/// HMAC-SHA-256; injected, because the pure core has no OpenSSL.
using sign_fn = digest (*)(std::string_view key, std::string_view bytes);

/// How records are sealed. With an empty key: a checksum (xxh3-64), against accidents. With a key: an HMAC, against
/// whoever can write to the store; unsigned records are then refused.
struct seal {
    std::string key;  // secret
    sign_fn sign = nullptr;
    bool keyed() const noexcept { return !key.empty(); }
};

/// One variant of a key without its bytes.
struct variant {
    cache::stored_response response;
    std::string entity;  // entity_name()
    wall_time keep_until{};
};

/// The meta record: the full key and all variants.
std::string encode_meta(std::string_view key, std::span<const variant> variants, const seal& how);
/// errc::store_corrupt: damaged, not signed as configured, or of another key. errc::store_miss: of another version.
/// The responses are indexed.
result<std::vector<variant>> decode_meta(std::string_view bytes, std::string_view key, const seal& how);

/// Where the bytes of an entity are: one record, or `count` records of `piece` bytes (the last may be shorter).
struct entity_layout {
    digest sha256{};
    std::uint64_t size = 0;   // of all
    std::uint64_t piece = 0;  // == size where one record holds it all
    std::uint32_t count = 1;

    std::uint64_t offset(std::uint32_t index) const noexcept { return index * piece; }
    std::uint64_t length(std::uint32_t index) const noexcept;
};
entity_layout lay_out(const digest& sha256, std::uint64_t size, std::uint64_t largest_piece);
/// "<64 hex>", or "<64 hex>.<piece>" where there are several records: all that a reader needs besides the size.
std::string entity_name(const entity_layout& layout);
/// errc::store_corrupt where `name` is none of ours.
result<entity_layout> parse_entity_name(std::string_view name, std::uint64_t size);
/// The part of the record's key after the prefix: "<name>" or "<name>:<index>".
std::string piece_key(const entity_layout& layout, std::uint32_t index);

/// `bytes` are those at layout.offset(index).
std::string encode_piece(const entity_layout& layout, std::uint32_t index, std::string_view bytes, const seal& how);
/// The view is into `bytes`. Errors as decode_meta().
result<std::string_view> decode_piece(std::string_view bytes, const entity_layout& layout, std::uint32_t index,
                                      const seal& how);

}  // namespace etagere::store::record
