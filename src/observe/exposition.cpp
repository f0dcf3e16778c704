#include "etagere/observe/exposition.hpp"

#include "etagere/observe/text.hpp"

#include <numeric>

namespace etagere::observe {
namespace {

constexpr std::array<std::string_view, bucket_count> bucket_labels{
    "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"};

double to_seconds(std::uint64_t microseconds) noexcept {
    return static_cast<double>(microseconds) / 1e6;
}

/// Text format 0.0.4: backslash, quote and line feed are escaped in a label value, nothing else.
void append_label_value(std::string& out, std::string_view value) {
    for (const char c : value) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || c == '"') out += '\\';
        out += c;
    }
}

}  // namespace

std::uint64_t histogram_values::count() const noexcept {
    return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0});
}

void exposition::family(std::string_view name, kind k, std::string_view help) {
    constexpr std::array<std::string_view, 3> kinds{"counter", "gauge", "histogram"};
    name_ = name;
    out_ += "# HELP ";
    out_ += name;
    out_ += ' ';
    out_ += help;
    out_ += "\n# TYPE ";
    out_ += name;
    out_ += ' ';
    out_ += kinds[static_cast<std::size_t>(k)];
    out_ += '\n';
}

void exposition::start(std::string_view suffix, labels l, std::string_view le) {
    out_ += name_;
    out_ += suffix;
    char separator = '{';
    const auto append = [this, &separator](std::string_view name, std::string_view value) {
        out_ += separator;
        out_ += name;
        out_ += "=\"";
        append_label_value(out_, value);
        out_ += '"';
        separator = ',';
    };
    for (const label& one : l) append(one.name, one.value);
    if (!le.empty()) append("le", le);
    if (separator == ',') out_ += '}';
    out_ += ' ';
}

void exposition::sample(labels l, std::uint64_t value) {
    start({}, l);
    append_number(out_, value);
    out_ += '\n';
}

void exposition::sample(labels l, double value) {
    start({}, l);
    append_number(out_, value);
    out_ += '\n';
}

void exposition::histogram(labels l, const histogram_values& v) {
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        up_to += v.buckets[i];
        start("_bucket", l, bucket_labels[i]);
        append_number(out_, up_to);
        out_ += '\n';
    }
    start("_sum", l);
    append_number(out_, to_seconds(v.sum_us));
    out_ += '\n';
    start("_count", l);
    append_number(out_, up_to);
    out_ += '\n';
}

}  // namespace etagere::observe
