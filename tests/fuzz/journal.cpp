// The journal of purges is read from a memcached that others can write to: decoding refuses, or gives back what encodes
// to the same bytes; merging and shrinking what was read forgets no purge.
#include "etagere/store/record_journal.hpp"

#include "check.hpp"

#include <algorithm>
#include <string>

namespace record = etagere::store::record;

namespace {

// A seal that every record has, so that the fuzzer gets past it.
record::digest no_signature(std::string_view, std::string_view) {
    return {};
}

std::string sealed(std::string_view content) {
    std::string out = "etgJ";
    out += std::string("\2\0\1\0", 4);
    for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(content.size() >> shift & 0xFFU);
    out += content;
    out.append(32, '\0');
    return out;
}

bool covers(const record::journal& j, const record::journal::entry& e) {
    return e.seq <= j.floor || std::ranges::any_of(j.entries, [&](const auto& other) {
               return other.group == e.group && other.soft == e.soft && other.seq >= e.seq;
           });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const record::seal open{.key = "k", .sign = no_signature};
    FUZZ_CHECK(!record::decode_journal(bytes, {}));  // nobody guesses a checksum of 64 bits

    const std::string one = sealed(bytes);
    const auto j = record::decode_journal(one, open);
    if (!j) return 0;
    FUZZ_CHECK(record::encode_journal(*j, open) == one);
    record::journal both{.era = j->era, .newest = 0, .floor = 0, .entries = {}};
    record::merge(both, *j);
    record::shrink(both, 4);
    FUZZ_CHECK(both.entries.size() <= 4 && both.floor <= both.newest);
    for (const auto& e : j->entries) FUZZ_CHECK(covers(both, e));
    return 0;
}
