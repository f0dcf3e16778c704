#include "etagere/store/record_journal.hpp"

#include "envelope.hpp"

#include <algorithm>
#include <unordered_map>

namespace etagere::store::record {
namespace {

constexpr std::size_t entry_size = 8 + 8 + 2 + 1;
constexpr std::uint8_t flag_soft = 1;

std::uint64_t key_of(const journal::entry& e) noexcept {
    return e.group ^ (e.soft ? 0x9E3779B97F4A7C15U : 0U);  // the two kinds of one group never meet; see same()
}
bool same(const journal::entry& a, const journal::entry& b) noexcept {
    return a.group == b.group && a.soft == b.soft;
}

}  // namespace

void add(journal& to, const journal::entry& e) {
    to.newest = std::max(to.newest, e.seq);
    const auto old = std::ranges::find_if(to.entries, [&](const auto& have) { return same(have, e); });
    if (old == to.entries.end()) {
        to.entries.push_back(e);
    } else if (old->seq < e.seq) {
        *old = e;
    }
}

void merge(journal& into, const journal& other) {
    into.newest = std::max(into.newest, other.newest);
    into.floor = std::max(into.floor, other.floor);
    std::unordered_multimap<std::uint64_t, std::size_t> at;
    at.reserve(into.entries.size() + other.entries.size());
    for (std::size_t i = 0; i < into.entries.size(); ++i) at.emplace(key_of(into.entries[i]), i);
    for (const journal::entry& e : other.entries) {
        const auto [first, last] = at.equal_range(key_of(e));
        const auto old =
            std::find_if(first, last, [&](const auto& have) { return same(into.entries[have.second], e); });
        if (old == last) {
            at.emplace(key_of(e), into.entries.size());
            into.entries.push_back(e);
        } else if (into.entries[old->second].seq < e.seq) {
            into.entries[old->second] = e;
        }
    }
}

void shrink(journal& j, std::size_t most) {
    std::erase_if(j.entries, [&](const journal::entry& e) { return e.seq <= j.floor; });
    if (j.entries.size() <= most) return;
    const std::size_t kept = most - most / 4;
    const auto newest = j.entries.end() - static_cast<std::ptrdiff_t>(kept);
    std::ranges::nth_element(j.entries, newest, {}, &journal::entry::seq);
    for (auto e = j.entries.begin(); e != newest; ++e) j.floor = std::max(j.floor, e->seq);
    j.entries.erase(j.entries.begin(), newest);
}

std::string encode_journal(const journal& j, const seal& how) {
    std::string out = open_envelope(kind::journal, 28 + j.entries.size() * entry_size);
    put_int(out, j.era);
    put_int(out, j.newest);
    put_int(out, j.floor);
    put_int(out, static_cast<std::uint32_t>(j.entries.size()));
    for (const journal::entry& e : j.entries) {
        put_int(out, e.group);
        put_int(out, e.seq);
        put_int(out, e.prefix_length);
        put_int(out, e.soft ? flag_soft : std::uint8_t{0});
    }
    close_envelope(out, how);
    return out;
}

result<journal> decode_journal(std::string_view bytes, const seal& how) {
    const result<std::string_view> content = unwrap(bytes, kind::journal, how);
    if (!content) return std::unexpected(content.error());
    reader in(*content);
    journal j;
    j.era = in.number<std::uint64_t>();
    j.newest = in.number<std::uint64_t>();
    j.floor = in.number<std::uint64_t>();
    const auto count = in.number<std::uint32_t>();
    if (!in.ok() || j.era == 0 || j.floor > j.newest || in.left() != count * entry_size) {
        return fail(errc::store_corrupt);
    }
    j.entries.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        journal::entry e;
        e.group = in.number<std::uint64_t>();
        e.seq = in.number<std::uint64_t>();
        e.prefix_length = in.number<std::uint16_t>();
        const auto flags = in.number<std::uint8_t>();
        e.soft = flags == flag_soft;
        const bool plausible =
            flags <= flag_soft && e.seq != 0 && e.seq <= j.newest && e.prefix_length <= cache::longest_prefix;
        if (!plausible) return fail(errc::store_corrupt);
        j.entries.push_back(e);
    }
    return j;
}

}  // namespace etagere::store::record
