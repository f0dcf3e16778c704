#include "raw_head.hpp"

namespace etagere::http::h1 {

raw_head scan_head(std::string_view in, const head_limits& limits) noexcept {
    raw_head head;
    std::size_t fields = 0;
    for (std::size_t at = 0;;) {
        const auto newline = in.find('\n', at);
        if (newline == std::string_view::npos) {
            if (in.size() > limits.header_bytes) head.found = head_scan::too_large;
            return head;
        }
        const std::size_t next = newline + 1;
        const bool bare = newline == at || in[newline - 1] != '\r';
        const std::string_view line = bare ? std::string_view() : in.substr(at, newline - 1 - at);
        if (bare || (at == 0 && line.empty()) || (at != 0 && (line.starts_with(' ') || line.starts_with('\t')))) {
            head.found = head_scan::malformed;
            return head;
        }
        if (at == 0) head.start_line = line;
        const bool is_field = at != 0 && !line.empty();
        if (next > limits.header_bytes || (is_field && ++fields > limits.fields)) {
            head.found = head_scan::too_large;
            return head;
        }
        if (line.empty()) {
            head.found = head_scan::complete;
            head.text = in.substr(0, next);
            return head;
        }
        at = next;
    }
}

}  // namespace etagere::http::h1
