// Reads answers as far as a load generator has to: status, length, whether the connection goes on.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

class answer_reader {
public:
    enum class state : std::uint8_t { incomplete, complete, unreadable };

    void reset() { *this = {}; }

    /// Takes what came. Answers need a Content-Length unless their status forbids a body; one is read at a time.
    state take(std::string_view bytes) {
        if (!in_body_) {
            if (head_.empty()) {
                const std::size_t end = bytes.find("\r\n\r\n");
                if (end != bytes.npos) {  // the common case: no copy
                    if (!read_head(bytes.substr(0, end + 2))) return state::unreadable;
                    return take_body(bytes.size() - end - 4);
                }
            }
            head_ += bytes;
            const std::size_t end = head_.find("\r\n\r\n");
            if (end == head_.npos) return head_.size() > 65536 ? state::unreadable : state::incomplete;
            if (!read_head(std::string_view(head_).substr(0, end + 2))) return state::unreadable;
            return take_body(head_.size() - end - 4);
        }
        return take_body(bytes.size());
    }

    int status() const { return status_; }
    std::uint64_t body() const { return length_; }
    bool closes() const { return closes_; }

private:
    state take_body(std::size_t more) {
        in_body_ = true;
        got_ += more;
        if (got_ > length_) return state::unreadable;  // nobody asked for more
        return got_ == length_ ? state::complete : state::incomplete;
    }
    static bool same(std::string_view name, std::string_view lower) {
        if (name.size() != lower.size()) return false;
        for (std::size_t i = 0; i < name.size(); ++i) {
            const char c = name[i] >= 'A' && name[i] <= 'Z' ? static_cast<char>(name[i] + 32) : name[i];
            if (c != lower[i]) return false;
        }
        return true;
    }
    /// `head` ends with the line end of its last line.
    bool read_head(std::string_view head) {
        if (head.size() < 13 || !head.starts_with("HTTP/1.")) return false;
        std::from_chars(head.data() + 9, head.data() + 12, status_);
        std::optional<std::uint64_t> length;
        if (status_ == 304 || status_ == 204) length = 0;
        closes_ = head[7] == '0';
        for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
            const std::size_t end = head.find("\r\n", at);
            const std::string_view line = head.substr(at, end - at);
            at = end + 2;
            const std::size_t colon = line.find(':');
            if (colon == line.npos) return false;
            std::string_view value = line.substr(colon + 1);
            while (value.starts_with(' ')) value.remove_prefix(1);
            if (colon == 14 && !length && same(line.substr(0, colon), "content-length")) {
                std::uint64_t n = 0;
                if (std::from_chars(value.data(), value.data() + value.size(), n).ec != std::errc{}) return false;
                length = n;
            } else if (colon == 10 && same(line.substr(0, colon), "connection")) {
                closes_ = same(value, "close");
            }
        }
        if (!length) return false;
        length_ = *length;
        return true;
    }

    std::string head_;  // what came of a head that is not complete
    bool in_body_ = false;
    bool closes_ = false;
    int status_ = 0;
    std::uint64_t length_ = 0;
    std::uint64_t got_ = 0;
};

}  // namespace bench
