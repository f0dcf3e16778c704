#include "etagere/crypto/digest.hpp"

#include <cstdlib>
#include <memory>

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

/// Found once: OpenSSL looks an algorithm up by name in every call that is given only EVP_sha256(), which costs more
/// than the digest of a key. Never freed: threads may digest until the process ends.
const EVP_MD* algorithm(const char* name) {
    EVP_MD* const found = EVP_MD_fetch(nullptr, name, nullptr);
    require(found != nullptr);
    return found;
}

const EVP_MD* sha256_algorithm() {
    static const EVP_MD* const found = algorithm("SHA256");
    return found;
}

struct free_context {
    void operator()(EVP_MD_CTX* c) const noexcept { EVP_MD_CTX_free(c); }
};

template <std::size_t Size> std::array<unsigned char, Size> digest(std::string_view bytes, const EVP_MD* algorithm) {
    thread_local const std::unique_ptr<EVP_MD_CTX, free_context> context(EVP_MD_CTX_new());
    std::array<unsigned char, Size> out{};
    unsigned size = 0;
    require(context && EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
            EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
            EVP_DigestFinal_ex(context.get(), out.data(), &size) == 1 && size == Size);
    return out;
}

template <std::size_t Size> std::string hex(const std::array<unsigned char, Size>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out(2 * Size, '\0');
    for (std::size_t i = 0; i < Size; ++i) {
        out[2 * i] = digits[bytes[i] >> 4U];
        out[2 * i + 1] = digits[bytes[i] & 0xFU];
    }
    return out;
}

}  // namespace

std::array<unsigned char, 32> sha256(std::string_view bytes) {
    return digest<32>(bytes, sha256_algorithm());
}

std::array<unsigned char, 32> hmac_sha256(std::string_view key, std::string_view bytes) {
    std::array<unsigned char, 32> out{};
    unsigned size = 0;
    // "" and not null: HMAC() takes a null key for "the key of the last call".
    const char* const key_data = key.empty() ? "" : key.data();
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    require(HMAC(sha256_algorithm(), key_data, static_cast<int>(key.size()), data, bytes.size(), out.data(), &size) !=
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
