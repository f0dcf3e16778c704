#include "etagere/http/h1/serializer.hpp"

#include "etagere/base/writer.hpp"
#include "etagere/http/authority.hpp"
#include "etagere/http/field_policy.hpp"

#include <array>
#include <charconv>

namespace etagere::http::h1 {
namespace {

constexpr std::string_view crlf = "\r\n";

void write_number(std::string& out, std::uint64_t value, int base) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), end);
}

void write_fields(std::string& out, const fields& header) {
    if (header.in_one_piece() && !has_codec_owned(header)) {
        out.append(header.octets());
        return;
    }
    append_at_most(out, header.octets().size(), [&header](writer& to) {  // every line lies in the octets, once
        for (std::size_t i = 0; i < header.size(); ++i) {
            if (!is_codec_owned(header[i].id)) to += header.line(i);
        }
    });
}

constexpr std::size_t most_framing = 40;     // "Content-Length: ", digits, CRLF
constexpr std::size_t most_connection = 32;  // "Connection: keep-alive", CRLF

void write_content_length(writer& out, std::uint64_t length) noexcept {
    out += "Content-Length: ";
    out.number(length);
    out += "\r\n";
}

void write_framing(writer& out, framing how, std::int64_t declared_length) noexcept {
    switch (how.how) {
        case framing::kind::none:
            if (declared_length >= 0) write_content_length(out, static_cast<std::uint64_t>(declared_length));
            break;
        case framing::kind::length: write_content_length(out, how.length); break;
        case framing::kind::chunked: out += "Transfer-Encoding: chunked\r\n"; break;
        case framing::kind::until_close: break;
    }
}

void write_connection(writer& out, version client, bool keep_alive) noexcept {
    if (!keep_alive) {
        out += "Connection: close\r\n";
    } else if (client == version::http10) {
        out += "Connection: keep-alive\r\n";
    }
}

void write_authority(std::string& out, const request_head& head) {
    out.append(head.host);
    if (head.port == 0 || head.port == default_port(head.scheme)) return;
    out.append(":");
    write_number(out, head.port, 10);
}

// RFC 9110 §8.6: these anticipate content, so an empty body is said.
bool anticipates_content(method verb) noexcept {
    return verb == method::post || verb == method::put || verb == method::patch;
}

}  // namespace

void write_request_head(std::string& out, const request_head& head) {
    out.append(head.method_name).append(" ").append(head.target).append(" HTTP/1.1\r\nHost: ");
    write_authority(out, head);
    out.append(crlf);
    write_fields(out, head.header);
    append_at_most(out, most_framing, [&](writer& to) {
        if (head.body.how == framing::kind::none) {
            if (anticipates_content(head.verb)) write_content_length(to, 0);
        } else {
            write_framing(to, head.body, -1);
        }
    });
    if (!head.upgrade.empty()) out.append("Connection: Upgrade\r\nUpgrade: ").append(head.upgrade).append(crlf);
    out.append(crlf);
}

framing response_framing(const response_head& head, version client, method answers) noexcept {
    if (head.status < 200 || head.status == 204 || head.status == 304 || answers == method::head)
        return framing::none();
    switch (head.body.how) {
        case framing::kind::none: return framing::of_length(0);
        case framing::kind::length: return head.body;
        case framing::kind::chunked:
        case framing::kind::until_close: break;
    }
    return client == version::http11 ? framing::chunked() : framing::until_close();
}

void write_response_start(std::string& out, int status, std::string_view reason, const fields& header) {
    out.append("HTTP/1.1 ");
    write_number(out, static_cast<std::uint64_t>(status), 10);
    out.append(" ").append(reason).append(crlf);
    write_fields(out, header);
}

void write_head_end(std::string& out, framing how, std::int64_t declared_length, version client, bool keep_alive) {
    append_at_most(out, most_framing + most_connection + crlf.size(), [&](writer& to) {
        write_framing(to, how, declared_length);
        write_connection(to, client, keep_alive);
        to += "\r\n";
    });
}

void write_chunk_start(std::string& out, std::uint64_t size) {
    write_number(out, size, 16);
    out.append(crlf);
}

void write_last_chunk(std::string& out, const fields& trailers) {
    out.append("0\r\n");
    write_fields(out, trailers);
    out.append(crlf);
}

}  // namespace etagere::http::h1
