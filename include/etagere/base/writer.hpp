// Text that is put together without a check, or a call, for each piece: whoever makes it says first how long it can
// get at most. For what every request makes: keys, heads, log lines.
#pragma once

#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace etagere {

/// Writes into room that was made before. Writing more than that is a bug of the caller, which builds with assertions
/// catch. Appends like a std::string, so that one template can fill either.
class writer {
public:
    /// Decimal digits of any number of ours, a sign included.
    static constexpr std::size_t most_digits = 20;

    writer(char* at, [[maybe_unused]] std::size_t room) noexcept
        : at_(at)
#ifndef NDEBUG
          ,
          end_(at + room)
#endif
    {
    }

    /// A literal: its length is known to the compiler, so it is a few moves.
    template <std::size_t N> writer& operator+=(const char (&literal)[N]) noexcept {
        check(N - 1);
        std::memcpy(at_, literal, N - 1);
        at_ += N - 1;
        return *this;
    }
    writer& operator+=(char c) noexcept {
        check(1);
        *at_++ = c;
        return *this;
    }
    writer& operator+=(std::string_view text) noexcept {
        append(text);
        return *this;
    }
    void append(std::string_view text) noexcept {
        check(text.size());
        copy(text.data(), text.size());
        at_ += text.size();
    }
    /// In decimal.
    template <class Number> void number(Number n) noexcept {
        check(most_digits);
        if (n < 0 || n >= 10'000) {
            at_ = std::to_chars(at_, at_ + most_digits, n).ptr;
            return;
        }
        // Most numbers are small: two digits at a time, from a table.
        const auto small = static_cast<unsigned>(n);
        const unsigned high = small / 100;
        if (high >= 10) {
            pair(high);
        } else if (high > 0) {
            *at_++ = static_cast<char>('0' + high);
        }
        if (small >= 10) {
            pair(small % 100);
        } else {
            *at_++ = static_cast<char>('0' + small);
        }
    }
    /// Below 1,000, with leading zeros.
    void three_digits(unsigned n) noexcept {
        check(3);
        *at_++ = static_cast<char>('0' + n / 100);
        pair(n % 100);
    }

    char* at() const noexcept { return at_; }
    /// What was written at at().
    void advance(std::size_t n) noexcept {
        check(n);
        at_ += n;
    }

private:
    void pair(unsigned below_100) noexcept {
        std::memcpy(at_, &digit_pairs[std::size_t{2} * below_100], 2);
        at_ += 2;
    }
    static constexpr std::array<char, 200> digit_pairs = [] {
        std::array<char, 200> table{};
        for (std::size_t i = 0; i < 100; ++i) {
            table[2 * i] = static_cast<char>('0' + i / 10);
            table[2 * i + 1] = static_cast<char>('0' + i % 10);
        }
        return table;
    }();
    /// Most pieces are short: two overlapping moves of one width take less than a call.
    void copy(const char* from, std::size_t n) const noexcept {
        if (n > 32) {
            std::memcpy(at_, from, n);
        } else if (n >= 16) {
            ends<16>(from, n);
        } else if (n >= 8) {
            ends<8>(from, n);
        } else if (n >= 4) {
            ends<4>(from, n);
        } else if (n > 0) {
            at_[0] = from[0];
            at_[n / 2] = from[n / 2];
            at_[n - 1] = from[n - 1];
        }
    }
    template <std::size_t Width> void ends(const char* from, std::size_t n) const noexcept {
        std::memcpy(at_, from, Width);
        std::memcpy(at_ + n - Width, from + n - Width, Width);
    }
    void check([[maybe_unused]] std::size_t n) const noexcept {
#ifndef NDEBUG
        assert(static_cast<std::size_t>(end_ - at_) >= n);
#endif
    }

    char* at_;
#ifndef NDEBUG
    char* end_;
#endif
};

/// Appends what `write(writer&)` writes, at most `most` octets. Allocates where `out` has no such room left.
template <class Write> void append_at_most(std::string& out, std::size_t most, Write&& write) {
    const std::size_t before = out.size();
    out.resize_and_overwrite(before + most, [&](char* data, std::size_t) {
        writer to(data + before, most);
        std::forward<Write>(write)(to);
        return static_cast<std::size_t>(to.at() - data);
    });
}

}  // namespace etagere
