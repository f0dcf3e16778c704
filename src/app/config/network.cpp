// IP addresses and networks in the configuration.
#include "problems.hpp"
#include "scalar.hpp"

#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace etagere::app::config {
namespace {

/// 4 or 16 bytes in network order; empty for what is no IP literal.
std::vector<std::uint8_t> ip_bytes(const std::string& text) {
    std::array<std::uint8_t, 16> raw{};
    if (::inet_pton(AF_INET, text.c_str(), raw.data()) == 1) {
        return {raw.begin(), raw.begin() + 4};
    }
    if (::inet_pton(AF_INET6, text.c_str(), raw.data()) == 1) {
        return {raw.begin(), raw.end()};
    }
    return {};
}

std::string ip_text(const std::vector<std::uint8_t>& bytes) {
    std::array<char, INET6_ADDRSTRLEN> out{};
    ::inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), out.data(), out.size());
    return out.data();
}

}  // namespace

bool is_ip_literal(const std::string& host) {
    return !ip_bytes(host).empty();
}

bool is_loopback(const std::string& host) {
    const auto bytes = ip_bytes(host);
    if (bytes.size() == 4) {
        return bytes[0] == 127;
    }
    return host == "localhost" || (bytes.size() == 16 && ip_text(bytes) == "::1");
}

parsed<settings::network> parse_network(const scalar& s) {
    const std::size_t slash = s.text.find('/');
    settings::network out;
    out.bytes = ip_bytes(s.text.substr(0, slash));
    if (out.bytes.empty()) {
        return std::unexpected(fmt::format("{} is not a network; write, for example, \"10.0.0.0/8\"", quoted(s.shown)));
    }
    const std::size_t bits = out.bytes.size() * 8;
    std::size_t length = bits;
    if (slash != s.text.npos) {
        const char* begin = s.text.data() + slash + 1;
        const char* end = s.text.data() + s.text.size();
        const auto [rest, ec] = std::from_chars(begin, end, length);
        if (ec != std::errc() || rest != end || length > bits) {
            return std::unexpected(fmt::format("{} has no valid prefix length; it is 0 to {}", quoted(s.shown), bits));
        }
    }
    out.prefix_length = static_cast<std::uint8_t>(length);
    const auto given = out.bytes;
    for (std::size_t i = 0; i < out.bytes.size(); ++i) {
        const std::size_t kept = std::min<std::size_t>(8, length - std::min(length, i * 8));
        out.bytes[i] = static_cast<std::uint8_t>(out.bytes[i] & ~(0xffU >> kept));
    }
    if (out.bytes != given) {
        // Half of the time the length is the typing error, so the intention is asked for, not guessed.
        const std::string masked = s.literal() ? fmt::format("\"{}/{}\"", ip_text(out.bytes), length) : "zeros there";
        return std::unexpected(
            fmt::format("{} has bits beyond its prefix; write {} or a longer prefix", quoted(s.shown), masked));
    }
    return out;
}

}  // namespace etagere::app::config
