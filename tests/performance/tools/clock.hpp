// Time and its distribution.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace bench {

inline std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// Durations in ns. Values below 64 are counted exactly, larger ones in 64 steps an octave: within 1.6 %.
class histogram {
public:
    void add(std::uint64_t ns) {
        ++steps_[step_of(ns)];
        ++count_;
        max_ = std::max(max_, ns);
    }
    /// The smallest duration that a share `q` of all do not exceed; 0 without any.
    double quantile_us(double q) const {
        const auto wanted = static_cast<std::uint64_t>(q * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            seen += steps_[i];
            if (seen > wanted) return static_cast<double>(std::min(top_of(i), max_)) / 1e3;
        }
        return max_us();
    }
    double max_us() const { return static_cast<double>(max_) / 1e3; }

private:
    static constexpr std::size_t steps = 64;  // an octave
    static std::size_t step_of(std::uint64_t ns) {
        if (ns < steps) return ns;
        const auto shift = static_cast<std::size_t>(std::bit_width(ns)) - 7;  // leaves 64 to 127
        return shift * steps + (ns >> shift);
    }
    static std::uint64_t top_of(std::size_t step) {
        if (step < 2 * steps) return step;
        const std::size_t shift = step / steps - 1;
        return ((step - shift * steps + 1) << shift) - 1;
    }
    std::array<std::uint64_t, 60 * steps> steps_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace bench
