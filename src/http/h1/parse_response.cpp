#include "etagere/http/h1/parser.hpp"
#include "etagere/http/lists.hpp"

#include "head_fields.hpp"
#include "raw_head.hpp"

namespace etagere::http::h1 {
namespace {

// status-line = HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112 §4)
bool read_status_line(std::string_view line, response_head& out) {
    constexpr std::string_view start = "HTTP/1.";
    constexpr std::size_t version_at = start.size(), status_at = version_at + 2, reason_at = status_at + 4;
    if (line.size() < reason_at || !line.starts_with(start)) return false;
    const char minor = line[version_at];
    if ((minor != '0' && minor != '1') || line[version_at + 1] != ' ' || line[reason_at - 1] != ' ') return false;
    out.protocol = minor == '1' ? version::http11 : version::http10;
    out.status = 0;
    for (const char c : line.substr(status_at, 3)) {
        if (c < '0' || c > '9') return false;
        out.status = out.status * 10 + (c - '0');
    }
    const std::string_view reason = line.substr(reason_at);
    if (out.status < 100 || out.status > 599 || !is_field_value(reason)) return false;
    out.reason.assign(reason);
    return true;
}

// #token of RFC 9110 §5.6.1, empty members allowed.
bool is_token_list(std::string_view list) noexcept {
    for (;;) {
        const auto comma = list.find(',');
        const std::string_view member = trim(list.substr(0, comma));
        if (!member.empty() && !is_token(member)) return false;
        if (comma == std::string_view::npos) return true;
        list.remove_prefix(comma + 1);
    }
}

// field-line = field-name ":" OWS field-value OWS (RFC 9112 §5): no white space before the colon.
bool read_field(std::string_view line, head_fields& own, response_head& out) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon), value = trim(line.substr(colon + 1));
    const field_id id = find_field_id(name);
    if (!own.take(id, value)) return out.header.add(id, name, value);
    const bool options = id == field_id::connection || id == field_id::proxy_connection;
    return is_field_value(value) && (!options || is_token_list(value));
}

// `lines` are those behind the start line, the empty one included; each ends in CRLF. A line that is as the next one of
// `known` says the same.
bool read_fields(std::string_view lines, const fields& known, head_fields& own, response_head& out) {
    std::size_t next = 0;
    while (lines.size() > 2) {
        if (next < known.size() && lines.starts_with(known.line(next))) {
            lines.remove_prefix(known.line(next).size());
            out.header.append(known, next++);
            continue;
        }
        const auto end = lines.find('\n') + 1;
        const std::size_t before = out.header.size();
        if (!read_field(lines.substr(0, end - 2), own, out)) return false;
        next += out.header.size() - before;
        lines.remove_prefix(end);
    }
    return true;
}

bool is_interim(const response_head& head) noexcept {
    return head.status < 200;
}

// RFC 9112 §6.3. Never a guess: an origin whose framing can be read two ways can be made to answer for somebody else.
result<void> judge_framing(const head_fields& own, method answers, bool foreign_codings, response_head& out) {
    const bool coded = own.transfer_encodings != 0;
    const bool readable = own.chunked || (foreign_codings && own.foreign_coding);
    if (own.bad_length ||
        (coded && (own.transfer_encodings > 1 || !readable || own.content_length || out.protocol == version::http10))) {
        return fail(errc::upstream_bad_response);
    }
    const std::uint64_t length = own.content_length.value_or(0);
    if (is_interim(out) || out.status == 204) {
        // RFC 9110 §8.6, RFC 9112 §6.1: neither field may be there. Behind an interim response the final one follows,
        // so there nothing may be unclear; behind a 204 the connection is given up.
        if (is_interim(out) && (coded || length != 0)) return fail(errc::upstream_bad_response);
        if (coded || length != 0) out.keep_alive = false;
        return {};
    }
    if (own.content_length) out.declared_length = static_cast<std::int64_t>(length);
    if (out.status == 304 || answers == method::head) {
        // Legal, but some origins send the last chunk along: what would be read as the next response.
        if (coded) out.keep_alive = false;
    } else if (own.chunked) {
        out.body = framing::chunked();
    } else if (own.content_length) {
        out.body = framing::of_length(length);
    } else {
        out.body = framing::until_close();
        out.keep_alive = false;
    }
    return {};
}

result<std::size_t> read_response(std::string_view in, const head_limits& limits, method answers, const fields& known,
                                  response_head& out) {
    constexpr std::string_view start = "HTTP/1.";
    if (!start.starts_with(in.substr(0, start.size()))) return fail(errc::upstream_bad_response);

    const raw_head raw = scan_head(in, limits);
    switch (raw.found) {
        case head_scan::malformed: return fail(errc::upstream_bad_response);
        case head_scan::too_large: return fail(errc::upstream_head_too_large);
        case head_scan::incomplete: return 0;
        case head_scan::complete: break;
    }

    out.clear();
    head_fields own;
    const bool read = read_status_line(raw.start_line, out) &&
                      read_fields(raw.text.substr(raw.start_line.size() + 2), known, own, out);
    if (!read || own.too_many_options()) return fail(errc::upstream_bad_response);

    out.keep_alive = !own.close && (out.protocol == version::http11 || own.keep_alive);
    own.erase_named(out.header);
    if (out.status == 101) out.upgrade.assign(own.usable_upgrade());
    if (const auto ok = judge_framing(own, answers, limits.foreign_codings, out); !ok)
        return std::unexpected(ok.error());
    return raw.text.size();
}

}  // namespace

result<std::size_t> parse_response(std::string_view in, const head_limits& limits, method answers, response_head& out) {
    return read_response(in, limits, answers, {}, out);
}

result<std::size_t> response_parser::parse(std::string_view in, const head_limits& limits, method answers,
                                           response_head& out) {
    const result<std::size_t> taken = read_response(in, limits, answers, known_, out);
    // A head beyond the usual size is not worth its copy.
    constexpr std::size_t usual = 4096;
    if (taken && *taken != 0 && *taken <= usual && known_.octets() != out.header.octets()) known_ = out.header;
    return taken;
}

}  // namespace etagere::http::h1
