// What fuzz targets say when a property does not hold: the property, then abort, so that libFuzzer keeps the input.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define FUZZ_CHECK(condition)                                                                   \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                       \
        }                                                                                       \
    } while (false)

namespace etagere::fuzz {

/// Octets of the input, cut off the front one by one; 0 at the end.
struct input {
    std::string_view rest;

    input(const std::uint8_t* data, std::size_t size) : rest(reinterpret_cast<const char*>(data), size) {}

    std::uint8_t octet() noexcept {
        if (rest.empty()) return 0;
        const auto first = static_cast<std::uint8_t>(rest.front());
        rest.remove_prefix(1);
        return first;
    }
    /// What stands before the next NUL, which is taken too.
    std::string_view text() noexcept {
        const std::string_view part = rest.substr(0, rest.find('\0'));
        rest.remove_prefix(part.size() + (part.size() < rest.size() ? 1 : 0));
        return part;
    }
};

}  // namespace etagere::fuzz
