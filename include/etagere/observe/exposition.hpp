// Prometheus text format 0.0.4: families of samples, names and labels made safe.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace etagere::observe {

inline constexpr std::string_view exposition_content_type = "text/plain; version=0.0.4; charset=utf-8";

/// Upper bounds in microseconds, inclusive (`le`); one more bucket takes the rest.
inline constexpr std::array<std::uint64_t, 14> bucket_bounds_us{500,       1'000,     2'500,     5'000,     10'000,
                                                                25'000,    50'000,    100'000,   250'000,   500'000,
                                                                1'000'000, 2'500'000, 5'000'000, 10'000'000};
inline constexpr std::size_t bucket_count = bucket_bounds_us.size() + 1;

/// What a histogram held when it was read. `buckets` are not cumulative.
struct histogram_values {
    std::array<std::uint64_t, bucket_count> buckets{};
    std::uint64_t sum_us = 0;
    std::uint64_t count() const noexcept;
};

/// Appends to a text. All samples of a family follow its family() line: the format knows no second mention.
class exposition {
public:
    enum class kind : std::uint8_t { counter, gauge, histogram };
    struct label {
        std::string_view name, value;
    };
    using labels = std::initializer_list<label>;

    explicit exposition(std::string& out) noexcept : out_(out) {}

    /// `name` and `help` are ours; `name` must live until the next family.
    void family(std::string_view name, kind k, std::string_view help);
    void sample(labels l, std::uint64_t value);
    void sample(labels l, double value);
    /// Seconds: _bucket, _sum and _count.
    void histogram(labels l, const histogram_values& v);

private:
    void start(std::string_view suffix, labels l, std::string_view le = {});

    std::string& out_;
    std::string_view name_;
};

}  // namespace etagere::observe
