// What every record has around its content: magic, version, flags, length, and the seal at the end.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/store/record.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::store::record {

enum class kind : char { meta = 'M', piece = 'E', journal = 'J' };

inline constexpr std::size_t envelope_size = 12;
inline constexpr std::size_t checksum_size = 8;
inline constexpr std::size_t signature_size = 32;

/// Starts a record with room for `content` bytes, so that it is allocated once.
std::string open_envelope(kind what, std::size_t content);
/// Fills in the length and appends the seal.
void close_envelope(std::string& record, const seal& how);
/// The content of a record that verifies.
result<std::string_view> unwrap(std::string_view bytes, kind what, const seal& how);

// Integers are little-endian whatever the machine is.
template <class Integer> void put_int(std::string& out, Integer value) {
    auto v = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(Integer); ++i, v >>= 8U) out += static_cast<char>(v & 0xFFU);
}

/// Takes a record's content apart. After the first thing that is not there, everything reads as zero and ok() is false.
class reader {
public:
    explicit reader(std::string_view bytes) noexcept : rest_(bytes) {}

    template <class Integer> Integer number() noexcept {
        const std::string_view raw = bytes(sizeof(Integer));
        std::uint64_t v = 0;
        for (std::size_t i = raw.size(); i > 0; --i) v = v << 8U | static_cast<unsigned char>(raw[i - 1]);
        return static_cast<Integer>(v);
    }
    std::string_view bytes(std::size_t n) noexcept {
        if (n > rest_.size()) {
            ok_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }
    bool ok() const noexcept { return ok_; }
    bool at_end() const noexcept { return ok_ && rest_.empty(); }
    std::size_t left() const noexcept { return rest_.size(); }

private:
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace etagere::store::record
