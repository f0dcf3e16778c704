#include "etagere/http/h1/body.hpp"

#include "etagere/http/field_policy.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <optional>

namespace etagere::http::h1 {
namespace {

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// 1*HEXDIG, cut off the front. Sixteen digits are all that 64 bits hold, so nothing wraps; leading zeros count.
std::optional<std::uint64_t> take_size(std::string_view& line) noexcept {
    constexpr std::size_t most_digits = 16;
    std::uint64_t size = 0;
    std::size_t n = 0;
    for (; n < line.size() && hex_value(line[n]) >= 0; ++n) {
        if (n == most_digits) return std::nullopt;
        size = size << 4U | static_cast<std::uint64_t>(hex_value(line[n]));
    }
    if (n == 0) return std::nullopt;
    line.remove_prefix(n);
    return size;
}

void skip_space(std::string_view& text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

bool take_token(std::string_view& text) noexcept {
    std::size_t n = 0;
    while (n < text.size() && is_token(text.substr(n, 1))) ++n;
    text.remove_prefix(n);
    return n != 0;
}

// quoted-string of RFC 9110 §5.6.4. That no control is in it, is_field_value() has seen.
bool take_quoted(std::string_view& text) noexcept {
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return true;
        }
    }
    return false;
}

// chunk-ext of RFC 9112 §7.1.1: read for its grammar, then ignored, and never passed on.
bool is_chunk_extension(std::string_view text) noexcept {
    if (!is_field_value(text)) return false;
    while (!text.empty()) {
        skip_space(text);
        if (!text.starts_with(';')) return false;
        text.remove_prefix(1);
        skip_space(text);
        if (!take_token(text)) return false;
        std::string_view value = text;
        skip_space(value);
        if (!value.starts_with('=')) continue;
        value.remove_prefix(1);
        skip_space(value);
        if (!(value.starts_with('"') ? take_quoted(value) : take_token(value))) return false;
        text = value;
    }
    return true;
}

}  // namespace

void body_decoder::start(framing how, const body_limits& limits) {
    limits_ = limits;
    left_ = 0;
    line_.clear();
    trailer_bytes_ = 0;
    trailer_count_ = 0;
    trailers_.clear();
    switch (how.how) {
        case framing::kind::none: state_ = state::done; break;
        case framing::kind::length:
            left_ = how.length;
            state_ = left_ == 0 ? state::done : state::length;
            break;
        case framing::kind::chunked: state_ = state::chunk_line; break;
        case framing::kind::until_close: state_ = state::until_close; break;
    }
}

result<body_decoder::step> body_decoder::decode(std::string_view in) {
    step taken;
    while (taken.consumed < in.size() && state_ != state::done) {
        const std::string_view rest = in.substr(taken.consumed);
        switch (state_) {
            case state::length:
            case state::chunk_data:
            case state::until_close:
                taken.content = take_content(rest);
                taken.consumed += taken.content.size();
                return taken;
            case state::chunk_line:
            case state::chunk_end:
            case state::trailer: {
                const bool trailer = state_ == state::trailer;
                const std::size_t limit = trailer ? limits_.trailer_bytes - trailer_bytes_ : limits_.chunk_line_bytes;
                const auto n = take_line(rest, limit);
                if (!n) return std::unexpected(n.error());
                taken.consumed += *n;
                break;
            }
            case state::failed: return fail(errc::bad_framing);
            case state::done: break;
        }
    }
    if (state_ == state::failed) return fail(errc::bad_framing);
    return taken;
}

result<void> body_decoder::end_of_input() {
    if (state_ == state::until_close) state_ = state::done;
    if (state_ == state::done) return {};
    return refuse();
}

bool body_decoder::done() const noexcept {
    return state_ == state::done;
}

std::uint64_t body_decoder::remaining() const noexcept {
    return state_ == state::length ? left_ : 0;
}

const fields& body_decoder::trailers() const noexcept {
    return trailers_;
}

std::unexpected<error_code> body_decoder::refuse() {
    state_ = state::failed;
    return fail(errc::bad_framing);
}

std::string_view body_decoder::take_content(std::string_view in) {
    if (state_ == state::until_close) return in;
    const std::string_view content = in.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size())));
    left_ -= content.size();
    if (left_ == 0) state_ = state_ == state::length ? state::done : state::chunk_end;
    return content;
}

// Takes one line, or keeps the part of it that is there. A line that comes whole is read where it lies. Whatever the
// pieces, a line of more than `limit` octets with its CRLF is refused.
result<std::size_t> body_decoder::take_line(std::string_view in, std::size_t limit) {
    const auto newline = in.find('\n');
    const std::size_t taken = newline == std::string_view::npos ? in.size() : newline + 1;
    if (line_.size() + taken > limit) return refuse();
    std::string_view line = in.substr(0, taken);
    if (!line_.empty() || newline == std::string_view::npos) {
        line_.append(line);
        if (newline == std::string_view::npos) return taken;
        line = line_;
    }
    if (!line.ends_with("\r\n") || !accept_line(line)) return refuse();
    line_.clear();
    return taken;
}

bool body_decoder::accept_line(std::string_view line) {
    const std::string_view text = line.substr(0, line.size() - 2);
    if (state_ == state::chunk_end) {
        state_ = state::chunk_line;
        return text.empty();  // RFC 9112 §7.1: the data ends where its size says, with CRLF and nothing else
    }
    if (state_ == state::trailer) {
        trailer_bytes_ += line.size();
        return accept_trailer(text);
    }
    std::string_view extension = text;
    const auto size = take_size(extension);
    if (!size || !is_chunk_extension(extension)) return false;
    left_ = *size;
    state_ = left_ == 0 ? state::trailer : state::chunk_data;
    return true;
}

bool body_decoder::accept_trailer(std::string_view line) {
    if (line.empty()) {
        state_ = state::done;
        return true;
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || ++trailer_count_ > limits_.trailer_fields) return false;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (!is_token(name) || !is_field_value(value)) return false;
    return is_forbidden_trailer(find_field_id(name), name) || trailers_.add(name, value);
}

}  // namespace etagere::http::h1
