// What is asked, in which order.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class order : std::uint8_t { sequential, uniform, zipf };

struct options {
    std::uint16_t port = 0;
    std::string target = "/";
    std::vector<std::string> fields;  // whole lines, without their end
    std::size_t connections = 64;
    double seconds = 3600;
    std::uint64_t requests = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t keys = 1;
    std::uint32_t first = 0;  // the first key
    bench::order order = order::sequential;
    double exponent = 1;  // of the Zipf distribution
    long rate = 0;        // requests a second, 0: as many as can be
    bool close = false;
    int status = 200;
    std::optional<std::uint64_t> body;
};

/// None where the command line is not understood.
std::optional<options> parse_options(int argc, char** argv);

/// The texts of the requests. Target and fields may hold {k}: the number of the key.
class request_source {
public:
    explicit request_source(const options& o);
    /// Valid until the next call.
    std::string_view next();
    /// As many as were wanted have been taken.
    bool all_taken() const { return left_ == 0; }

private:
    std::uint32_t next_key();
    std::uint64_t random();

    std::vector<std::string> pieces_;  // the text between the places of {k}
    std::uint64_t left_;
    std::uint32_t keys_;
    std::uint32_t first_;
    order order_;
    std::uint32_t at_ = 0;
    std::uint64_t state_ = 0x9e3779b97f4a7c15;  // always the same: runs are to be alike
    std::vector<std::uint32_t> drawn_;          // of the Zipf distribution, in advance
    std::string text_;
};

}  // namespace bench
