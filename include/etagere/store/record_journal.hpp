// The journal of purges: one small record that all processes which share a memcached namespace read, change and write
// (layout: src/docs/records.md). Pure functions; decoding takes any bytes.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/cache/purging.hpp"
#include "etagere/store/record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::store::record {

struct journal {
    struct entry {
        cache::group_id group = 0;
        std::uint64_t seq = 0;  // about the Unix time of the purge in milliseconds, and higher than all before it
        std::uint16_t prefix_length = 0;
        bool soft = false;
        friend bool operator==(const entry&, const entry&) = default;
    };
    std::uint64_t era = 0;       // made anew with every journal that begins empty; never 0
    std::uint64_t newest = 0;    // highest number given so far
    std::uint64_t floor = 0;     // what was asked for before that number counts as purged, whatever it belongs to
    std::vector<entry> entries;  // one for each group and kind
    friend bool operator==(const journal&, const journal&) = default;
};

/// So many purges are told apart; beyond, the oldest quarter becomes part of the floor.
inline constexpr std::size_t most_journal_entries = 4096;

/// Puts an entry in, in the place of an older one for the same group and kind.
void add(journal& to, const journal::entry& e);
/// What either of them says, by the higher number. Of one era.
void merge(journal& into, const journal& other);
/// Keeps the bound: entries that the floor covers go, then the oldest become part of it. More is purged then, never
/// less.
void shrink(journal& j, std::size_t most = most_journal_entries);

std::string encode_journal(const journal& j, const seal& how);
/// errc::store_corrupt: damaged, or not signed as configured. errc::store_miss: of another version.
result<journal> decode_journal(std::string_view bytes, const seal& how);

}  // namespace etagere::store::record
