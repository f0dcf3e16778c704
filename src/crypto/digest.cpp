#include "etagere/crypto/digest.hpp"

#include <cstdlib>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace etagere::crypto {
namespace {

// A digest fails only where OpenSSL has no memory or lacks the algorithm: neither leaves anything to go on with, and a
// wrong name for a record would be worse than the end of the process.
void require(bool ok) {
    if (!ok) std::abort();
}

template <std::size_t Size> std::array<unsigned char, Size> digest(std::string_view bytes, const EVP_MD* algorithm) {
    std::array<unsigned char, Size> out{};
    unsigned size = 0;
    require(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, algorithm, nullptr) == 1 && size == Size);
    return out;
}

template <std::size_t Size> std::string hex(const std::array<unsigned char, Size>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * Size);
    for (const unsigned char b : bytes) {
        out += digits[b >> 4U];
        out += digits[b & 0xFU];
    }
    return out;
}

}  // namespace

std::array<unsigned char, 32> sha256(std::string_view bytes) {
    return digest<32>(bytes, EVP_sha256());
}

std::array<unsigned char, 32> hmac_sha256(std::string_view key, std::string_view bytes) {
    std::array<unsigned char, 32> out{};
    unsigned size = 0;
    // "" and not null: HMAC() takes a null key for "the key of the last call".
    const char* const key_data = key.empty() ? "" : key.data();
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    require(HMAC(EVP_sha256(), key_data, static_cast<int>(key.size()), data, bytes.size(), out.data(), &size) !=
                nullptr &&
            size == out.size());
    return out;
}

std::string sha256_hex(std::string_view bytes) {
    return hex(sha256(bytes));
}

std::string md5_hex(std::string_view bytes) {
    return hex(digest<16>(bytes, EVP_md5()));
}

bool constant_time_equal(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace etagere::crypto
