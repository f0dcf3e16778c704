// What the origin of the benchmarks serves. A target is /KIND/SIZE, and anything behind a further slash makes it
// another URL of the same content:
//
//   /c/1024     cacheable for a week, with an ETag
//   /y/1024     the same with Vary: X-Variant
//   /v/1024     may be kept, has to be asked about every time (no-cache)
//   /n/1024     private, no-store
//   /m/17       cacheable, of a size between 64 and 4,096 bytes that follows from the number: for churn
//
// A request that carries the ETag gets a 304, where there is one. Answers are made once and kept: serving one is a
// look-up.
#pragma once

#include <charconv>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace bench {

inline constexpr std::string_view entity_tag = "\"bench-v1\"";

struct document {
    std::string whole;         // head and body
    std::string not_modified;  // empty where there is no tag
    std::size_t head_bytes = 0;
};

inline std::string letters(std::size_t size) {
    std::string s(size, ' ');
    for (std::size_t i = 0; i < size; ++i) s[i] = static_cast<char>('a' + (i * 7 + i / 31) % 26);
    return s;
}

class documents {
public:
    /// The document of a target, or none. It lives as long as this object.
    const document* find(std::string_view target) {
        if (target.size() < 4 || target[0] != '/' || target[2] != '/') return nullptr;
        const char kind = target[1];
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(target.data() + 3, target.data() + target.size(), number);
        if (error != std::errc{} || (end != target.data() + target.size() && *end != '/')) return nullptr;
        const std::uint32_t size = kind == 'm' ? 64 + number * 2654435761U % 4033 : number;
        if (size > 64U * 1024 * 1024) return nullptr;
        const std::uint64_t id = std::uint64_t{static_cast<unsigned char>(kind)} << 32 | size;
        const auto at = made_.find(id);
        if (at != made_.end()) return &at->second;
        const auto policy = policy_of(kind);
        if (!policy) return nullptr;
        return &made_.emplace(id, make(*policy, size)).first->second;
    }

private:
    static std::optional<std::string_view> policy_of(char kind) {
        switch (kind) {
            case 'c':
            case 'm': return "public, max-age=604800";
            case 'y': return "public, max-age=604800\r\nVary: X-Variant";
            case 'v': return "public, no-cache";
            case 'n': return "private, no-store";
            default: return std::nullopt;
        }
    }
    static std::string date(std::time_t when) {
        std::tm parts{};
        gmtime_r(&when, &parts);
        std::string text(64, '\0');
        text.resize(std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
        return text;
    }
    static document make(std::string_view policy, std::size_t size) {
        // The date is that of the making: a prebuilt answer is the point of it, and a week of lifetime covers the run.
        const bool tagged = policy.find("no-store") == policy.npos;
        std::string common = "\r\nServer: bench\r\nDate: " + date(std::time(nullptr)) + "\r\nCache-Control: ";
        common += policy;
        if (tagged) common += "\r\nETag: " + std::string(entity_tag);
        document d;
        d.whole = "HTTP/1.1 200 OK" + common + "\r\nLast-Modified: " + date(std::time(nullptr) - 86400) +
                  "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
        d.head_bytes = d.whole.size();
        d.whole += letters(size);
        if (tagged) d.not_modified = "HTTP/1.1 304 Not Modified" + common + "\r\n\r\n";
        return d;
    }

    std::unordered_map<std::uint64_t, document> made_;
};

}  // namespace bench
