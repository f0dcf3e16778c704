// Any bytes are a record somebody may find in a shared memcached: decoding must refuse or give back a value that
// encodes to what was read, and must not allocate beyond a small multiple of its input (libFuzzer's -rss_limit_mb sees
// that).
#include "etagere/store/record.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace record = etagere::store::record;

namespace {

// A seal that every record has, so that the fuzzer gets past it.
record::digest no_signature(std::string_view, std::string_view) {
    return {};
}

std::string sealed(char kind, std::string_view content) {
    std::string out = "etg";
    out += kind;
    out += static_cast<char>(record::format_version);
    out += std::string("\0\1\0", 3);
    for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(content.size() >> shift & 0xFFU);
    out += content;
    out.append(32, '\0');
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const record::seal open{.key = "k", .sign = no_signature};

    if (record::decode_meta(bytes, "", {})) std::abort();  // nobody guesses a checksum of 64 bits

    const std::string meta = sealed('M', bytes);
    const std::string_view key = bytes.size() >= 8 ? bytes.substr(4, static_cast<unsigned char>(bytes[0])) : "";
    if (const auto variants = record::decode_meta(meta, key, open)) {
        const std::string again = record::encode_meta(key, *variants, open);
        const auto twice = record::decode_meta(again, key, open);
        if (!twice || record::encode_meta(key, *twice, open) != again) std::abort();
    }

    const auto layout = record::parse_entity_name(bytes.substr(0, bytes.size() / 2), size * 7);
    if (layout && record::entity_name(*layout) != bytes.substr(0, bytes.size() / 2)) std::abort();
    const record::entity_layout one = record::lay_out({}, size, 16);
    if (const auto piece = record::decode_piece(sealed('E', bytes), one, 0, open)) {
        if (piece->size() != one.length(0)) std::abort();
    }
    return 0;
}
