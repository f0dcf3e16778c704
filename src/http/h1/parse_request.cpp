#include "etagere/http/authority.hpp"
#include "etagere/http/field_policy.hpp"
#include "etagere/http/h1/parser.hpp"

#include "head_fields.hpp"
#include "raw_head.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

namespace etagere::http::h1 {
namespace {

namespace beast = boost::beast;

std::string_view view(beast::string_view text) noexcept {
    return {text.data(), text.size()};
}

// The third word of the request line decides alone between 400 and 505. Exactly the two versions we speak: RFC 9112
// §2.3 makes the literal case-sensitive, and what differs from it is no version.
result<version> judge_version(std::string_view start_line) {
    const auto space = start_line.rfind(' ');
    const std::string_view word = start_line.substr(space == std::string_view::npos ? 0 : space + 1);
    if (word == "HTTP/1.1") return version::http11;
    if (word == "HTTP/1.0") return version::http10;
    const auto digit = [&](std::size_t at) { return word[at] >= '0' && word[at] <= '9'; };
    if (word.size() == 8 && word.starts_with("HTTP/") && digit(5) && word[6] == '.' && digit(7)) {
        return fail(errc::version_not_supported);
    }
    return fail(errc::bad_request);
}

// RFC 3986 has no place for controls, white space, octets from 0x80 on, or '#', which a target never carries: origins
// disagree about what such a path names.
bool has_target_octets_only(std::string_view target) noexcept {
    unsigned bad = 0;
    for (const char c : target) {
        const auto octet = static_cast<unsigned char>(c);
        bad |= static_cast<unsigned>(octet <= 0x20U) | static_cast<unsigned>(octet >= 0x7FU) |
               static_cast<unsigned>(octet == '#');
    }
    return bad == 0;
}

// `line` is the request line, or as much of it as is there: a target that is too long is refused before it ends.
bool target_too_long(std::string_view line, std::size_t limit) noexcept {
    if (line.size() <= limit) return false;
    const auto method_end = line.find(' ');
    if (method_end == std::string_view::npos) return false;
    const std::string_view rest = line.substr(method_end + 1);
    return std::min(rest.find(' '), rest.size()) > limit;
}

bool is_token_octet(char c) noexcept {
    return is_token({&c, 1});
}

// Beast calls us for the request line and each field; views point into the head.
class request_reader final : public beast::http::basic_parser<true> {
public:
    request_reader(const head_limits& limits, request_head& out) : limits_(limits), out_(out) {}

    std::string_view target() const noexcept { return target_; }
    const head_fields& own() const noexcept { return own_; }

private:
    void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int,
                         beast::error_code&) override {
        if (out_.method_name != view(method)) out_.method_name.assign(view(method));
        out_.verb = find_method(view(method));
        target_ = view(target);
    }

    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                       beast::error_code& ec) override {
        const field_id id = find_field_id(view(name));
        if (own_.take(id, view(value)) || is_withheld(id, view(name))) return;
        if (id == field_id::other && view(name).find('_') != std::string_view::npos &&
            (!limits_.keep_underscores || is_underscore_twin(view(name)))) {
            return;
        }
        if (!out_.header.add(id, view(name), view(value))) ec = beast::http::error::bad_field;
    }

    void on_header_impl(beast::error_code&) override {}
    void on_finish_impl(beast::error_code&) override {}
    // Only heads are put in, so that nothing of the following is ever called.
    void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }

    const head_limits& limits_;
    request_head& out_;
    head_fields own_;
    std::string_view target_;
};

errc to_errc(const beast::error_code& ec) noexcept {
    using beast::http::error;
    const bool framing =
        ec == error::bad_content_length || ec == error::multiple_content_length || ec == error::bad_transfer_encoding;
    return framing ? errc::bad_framing : errc::bad_request;
}

// RFC 9112 §6.1, §6.3. Any doubt about where the body ends is an error: what follows would be read as a request.
result<void> judge_framing(const head_fields& own, request_head& out) {
    if (own.bad_length) return fail(errc::bad_framing);
    if (own.transfer_encodings == 0) {
        if (own.content_length) out.body = framing::of_length(*own.content_length);
        return {};
    }
    if (own.transfer_encodings > 1 || !own.chunked || own.content_length || out.protocol == version::http10) {
        return fail(errc::bad_framing);
    }
    out.body = framing::chunked();
    return {};
}

// RFC 9112 §3.2: the forms of the target. What is left in out.target is origin-form or "*". The authority of an
// absolute-form target comes back.
result<std::optional<std::string_view>> judge_target(std::string_view target, request_head& out) {
    if (out.verb == method::connect) return fail(errc::method_not_implemented);
    if (!has_target_octets_only(target)) return fail(errc::bad_request);
    if (target.starts_with('/')) {
        out.target.assign(target);
        return std::nullopt;
    }
    if (target == "*" && out.verb == method::options) {
        out.target.assign(target);
        return std::nullopt;
    }
    // absolute-form. Its scheme has to be the listener's: a client cannot make us believe that it came by TLS.
    const auto colon = target.find("://");
    if (colon == std::string_view::npos || !iequals(target.substr(0, colon), out.scheme))
        return fail(errc::bad_request);
    target.remove_prefix(colon + 3);
    const auto end = std::min(target.find_first_of("/?"), target.size());
    const std::string_view authority = target.substr(0, end);
    target.remove_prefix(end);
    if (target.empty() && out.verb == method::options) {
        out.target.assign("*");  // RFC 9112 §3.2.4
    } else {
        out.target.assign(target.starts_with('/') ? "" : "/").append(target);
    }
    return authority;
}

// RFC 9112 §3.2, §3.2.2: exactly one valid Host, and an absolute-form target's authority goes before it.
result<void> judge_host(const head_fields& own, std::optional<std::string_view> in_target, request_head& out) {
    out.port = default_port(out.scheme);
    if (own.hosts > 1 || (own.hosts == 0 && out.protocol != version::http10)) return fail(errc::bad_host);
    if (own.hosts == 0 && !in_target) return {};
    const std::optional<authority> in_host = parse_authority(own.host);
    if (own.hosts == 1 && !in_host) return fail(errc::bad_host);
    const std::optional<authority> found = in_target ? parse_authority(*in_target) : in_host;
    if (!found) return fail(errc::bad_host);
    out.host.assign(found->host);
    for (char& c : out.host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    out.port = found->port.value_or(out.port);
    return {};
}

result<void> judge_connection(const head_fields& own, request_head& out) {
    if (own.too_many_options()) return fail(errc::bad_request);
    const bool http11 = out.protocol == version::http11;
    out.keep_alive = http11 ? !own.close : own.keep_alive && !own.close;
    // With content, the end of the request and the start of the other protocol would be two peers' guesses.
    if (http11 && !out.body.has_body()) out.upgrade.assign(own.usable_upgrade());
    own.erase_named(out.header);
    if (own.expects && http11) {  // RFC 9110 §10.1.1: ignored in a 1.0 request
        if (!own.expects_only_continue) return fail(errc::expectation_failed);
        out.expects_continue = out.body.has_body();
    }
    return {};
}

std::string_view literal(version v) noexcept {
    return v == version::http10 ? "HTTP/1.0" : "HTTP/1.1";
}

/// `out` is clear.
result<std::size_t> read_request(std::string_view in, const head_limits& limits, std::string_view scheme,
                                 request_head& out) {
    const std::size_t skipped = in.starts_with("\r\n") ? 2 : 0;
    in.remove_prefix(skipped);
    if (in.empty() || (skipped == 0 && in == "\r")) return 0;
    // At once, not when a line end comes: this is a TLS handshake on a plain port, or noise.
    if (!is_token_octet(in.front())) return fail(errc::bad_request);

    const raw_head raw = scan_head(in, limits);
    if (target_too_long(raw.start_line.empty() ? in : raw.start_line, limits.target_bytes))
        return fail(errc::uri_too_long);
    switch (raw.found) {
        case head_scan::malformed: return fail(errc::bad_request);
        case head_scan::too_large: return fail(errc::header_fields_too_large);
        case head_scan::incomplete: return 0;
        case head_scan::complete: break;
    }

    if (out.scheme != scheme) out.scheme.assign(scheme);
    const result<version> protocol = judge_version(raw.start_line);
    if (!protocol) return std::unexpected(protocol.error());
    out.protocol = *protocol;

    request_reader reader(limits, out);
    reader.header_limit(static_cast<std::uint32_t>(raw.text.size()));
    reader.body_limit(boost::none);
    beast::error_code ec;
    reader.put(boost::asio::const_buffer(raw.text.data(), raw.text.size()), ec);
    if (ec) return fail(to_errc(ec));

    const head_fields& own = reader.own();
    const auto in_target = judge_target(reader.target(), out);
    if (!in_target) return std::unexpected(in_target.error());
    if (const auto ok = judge_host(own, *in_target, out); !ok) return std::unexpected(ok.error());
    if (const auto ok = judge_framing(own, out); !ok) return std::unexpected(ok.error());
    if (const auto ok = judge_connection(own, out); !ok) return std::unexpected(ok.error());
    return skipped + raw.text.size();
}

}  // namespace

result<std::size_t> parse_request(std::string_view in, const head_limits& limits, std::string_view scheme,
                                  request_head& out) {
    out.clear();
    return read_request(in, limits, scheme, out);
}

result<std::size_t> request_parser::parse(std::string_view in, const head_limits& limits, std::string_view scheme) {
    if (const std::size_t taken = repeat(in, limits, scheme); taken != 0) return taken;
    fields_.clear();
    head_.clear();
    const result<std::size_t> taken = read_request(in, limits, scheme, head_);
    if (!taken || *taken == 0) return taken;
    // The authority of an absolute-form target goes before Host; "*" is for one method only. A head beyond the usual
    // size is not worth its copy.
    constexpr std::size_t usual = 4096;
    const std::string_view text = in.substr(0, *taken);
    const auto target = text.find(' ') + 1;
    if (text[target] == '/' && text.size() <= usual) {
        fields_.assign(text.substr(text.find('\n', target) + 1));
        limits_ = limits;
    }
    return taken;
}

/// The octets taken; 0, and nothing has changed, where this is another head.
std::size_t request_parser::repeat(std::string_view in, const head_limits& limits, std::string_view scheme) {
    if (fields_.empty() || scheme != head_.scheme || limits != limits_) return 0;
    const auto newline = in.find('\n');
    if (newline == std::string_view::npos || !in.substr(newline + 1).starts_with(fields_)) return 0;
    const std::size_t size = newline + 1 + fields_.size();
    // A request line of the plain kind: method, origin-form, the same version. Any other is left to who judges them
    // all.
    const std::string_view line = in.substr(0, newline);
    const auto method_end = line.find(' ');
    const auto target_end = line.rfind(' ');
    if (size > limits.header_bytes || method_end == target_end) return 0;
    const std::string_view target = line.substr(method_end + 1, target_end - method_end - 1);
    const std::string_view rest = line.substr(target_end + 1);
    const bool plain = target.starts_with('/') && target.size() <= limits.target_bytes &&
                       has_target_octets_only(target) && rest.size() == 9 &&
                       rest.starts_with(literal(head_.protocol)) && rest.back() == '\r';
    if (!plain) return 0;
    const std::string_view name = line.substr(0, method_end);
    const method verb = find_method(name);
    if (verb == method::other || verb == method::connect) return 0;
    if (verb != head_.verb) {
        head_.verb = verb;
        head_.method_name.assign(name);
    }
    head_.target.assign(target);
    return size;
}

}  // namespace etagere::http::h1
