#include "plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <getopt.h>

namespace bench {
namespace {

template <class N> bool number(const char* text, N& out) {
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, out);
    return error == std::errc{} && stop == end;
}

bool read_order(std::string_view text, options& o) {
    if (text == "sequential")
        o.order = order::sequential;
    else if (text == "uniform")
        o.order = order::uniform;
    else if (text.starts_with("zipf:") && number(text.data() + 5, o.exponent))
        o.order = order::zipf;
    else
        return false;
    return true;
}

bool read_option(char letter, const char* value, options& o) {
    switch (letter) {
        case 'p': return number(value, o.port) && o.port != 0;
        case 't': o.target = value; return true;
        case 'h': o.fields.emplace_back(value); return true;
        case 'c': return number(value, o.connections) && o.connections > 0;
        case 's': return number(value, o.seconds) && o.seconds > 0;
        case 'n': return number(value, o.requests);
        case 'k': return number(value, o.keys) && o.keys > 0;
        case 'f': return number(value, o.first);
        case 'o': return read_order(value, o);
        case 'r': return number(value, o.rate) && o.rate > 0 && o.rate < 1'000'000;
        case 'x': o.close = true; return true;
        case 'e': return number(value, o.status);
        case 'b': return number(value, o.body.emplace());
        default: return false;
    }
}

/// Inverse transform sampling of P(k) ∝ (k + 1)^-exponent.
std::vector<std::uint32_t> draw_zipf(std::uint32_t keys, double exponent, std::uint64_t count, auto random) {
    std::vector<double> cumulated(keys);
    double sum = 0;
    for (std::uint32_t k = 0; k < keys; ++k) cumulated[k] = sum += std::pow(k + 1.0, -exponent);
    std::vector<std::uint32_t> drawn(count);
    for (std::uint32_t& k : drawn) {
        const double point = sum * static_cast<double>(random() >> 11) * 0x1p-53;
        const auto at = std::ranges::upper_bound(cumulated, point);
        k = std::min(static_cast<std::uint32_t>(at - cumulated.begin()), keys - 1);
    }
    return drawn;
}

}  // namespace

std::optional<options> parse_options(int argc, char** argv) {
    static constexpr std::array<option, 14> names{{{"port", required_argument, nullptr, 'p'},
                                                   {"target", required_argument, nullptr, 't'},
                                                   {"field", required_argument, nullptr, 'h'},
                                                   {"connections", required_argument, nullptr, 'c'},
                                                   {"seconds", required_argument, nullptr, 's'},
                                                   {"requests", required_argument, nullptr, 'n'},
                                                   {"keys", required_argument, nullptr, 'k'},
                                                   {"first", required_argument, nullptr, 'f'},
                                                   {"order", required_argument, nullptr, 'o'},
                                                   {"rate", required_argument, nullptr, 'r'},
                                                   {"close", no_argument, nullptr, 'x'},
                                                   {"status", required_argument, nullptr, 'e'},
                                                   {"body", required_argument, nullptr, 'b'},
                                                   {nullptr, 0, nullptr, 0}}};
    options o;
    for (int letter; (letter = getopt_long(argc, argv, "", names.data(), nullptr)) != -1;) {
        if (!read_option(static_cast<char>(letter), optarg, o)) return std::nullopt;
    }
    if (o.port == 0 || optind != argc) return std::nullopt;
    return o;
}

request_source::request_source(const options& o) : left_(o.requests), keys_(o.keys), first_(o.first), order_(o.order) {
    std::string text = "GET " + o.target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(o.port) + "\r\n";
    for (const std::string& f : o.fields) text += f + "\r\n";
    if (o.close) text += "Connection: close\r\n";
    text += "\r\n";
    for (std::size_t at = 0;;) {
        const std::size_t place = text.find("{k}", at);
        pieces_.push_back(text.substr(at, place - at));
        if (place == text.npos) break;
        at = place + 3;
    }
    if (order_ == order::zipf) drawn_ = draw_zipf(keys_, o.exponent, 1U << 20, [this] { return random(); });
}

std::string_view request_source::next() {
    --left_;
    if (pieces_.size() == 1) return pieces_[0];
    std::array<char, 10> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), first_ + next_key()).ptr;
    text_ = pieces_[0];
    for (std::size_t i = 1; i < pieces_.size(); ++i) {
        text_.append(digits.data(), end);
        text_ += pieces_[i];
    }
    return text_;
}

std::uint32_t request_source::next_key() {
    switch (order_) {
        case order::sequential: {
            const std::uint32_t key = at_;
            at_ = at_ + 1 == keys_ ? 0 : at_ + 1;
            return key;
        }
        case order::zipf: return drawn_[at_ = (at_ + 1) % drawn_.size()];
        case order::uniform: break;
    }
    return static_cast<std::uint32_t>(((random() >> 32) * keys_) >> 32);
}

// splitmix64
std::uint64_t request_source::random() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace bench
