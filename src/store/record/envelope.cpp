#include "envelope.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace etagere::store::record {
namespace {

constexpr std::string_view magic = "etg";
constexpr std::uint16_t flag_signed = 1;

// Not crypto::constant_time_equal(): the pure core links no OpenSSL.
bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    unsigned differs = 0;
    for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
    return differs == 0;
}

std::string make_seal(std::string_view record, const seal& how) {
    std::string out;
    if (how.keyed()) {
        for (const unsigned char b : how.sign(how.key, record)) out += static_cast<char>(b);
    } else {
        put_int(out, XXH3_64bits(record.data(), record.size()));
    }
    return out;
}

}  // namespace

std::string open_envelope(kind what, std::size_t content) {
    std::string out;
    out.reserve(envelope_size + content + signature_size);
    out += magic;
    out += static_cast<char>(what);
    put_int(out, format_version);
    put_int(out, std::uint16_t{0});
    put_int(out, std::uint32_t{0});
    return out;
}

void close_envelope(std::string& record, const seal& how) {
    std::string head;
    put_int(head, how.keyed() ? flag_signed : std::uint16_t{0});
    put_int(head, static_cast<std::uint32_t>(record.size() - envelope_size));
    record.replace(envelope_size - head.size(), head.size(), head);
    record += make_seal(record, how);
}

result<std::string_view> unwrap(std::string_view bytes, kind what, const seal& how) {
    reader in(bytes);
    if (in.bytes(magic.size()) != magic || in.number<char>() != static_cast<char>(what))
        return fail(errc::store_corrupt);
    // Before the seal: another version may be sealed in another way.
    const auto version = in.number<std::uint16_t>();
    if (in.ok() && version != format_version) return fail(errc::store_miss);
    const auto flags = in.number<std::uint16_t>();
    const auto length = in.number<std::uint32_t>();
    const std::string_view content = in.bytes(length);
    const std::string_view found_seal = in.bytes(how.keyed() ? signature_size : checksum_size);
    if (!in.at_end() || flags != (how.keyed() ? flag_signed : 0)) return fail(errc::store_corrupt);
    const std::string_view sealed = bytes.substr(0, envelope_size + length);
    if (!equal_in_constant_time(make_seal(sealed, how), found_seal)) return fail(errc::store_corrupt);
    return content;
}

}  // namespace etagere::store::record
