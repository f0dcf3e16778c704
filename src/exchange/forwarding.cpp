#include "forwarding.hpp"

#include "etagere/base/writer.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/lists.hpp"

#include <algorithm>
#include <utility>

namespace etagere::exchange {

namespace {

using http::field_id;

/// Our member of Via, behind the version that the message came in.
std::string_view via(http::version v) noexcept {
    switch (v) {
        case http::version::http10: return "1.0 etagere";
        case http::version::http2: return "2 etagere";
        case http::version::http11: break;
    }
    return "1.1 etagere";
}

/// What origins believe of where a request came from (Rack and Rails read all of these). A stranger may not say it.
constexpr std::string_view believed_from_proxies[] = {
    "Forwarded",         "X-Forwarded-For",    "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Prefix",
    "X-Forwarded-Proto", "X-Forwarded-Scheme", "X-Forwarded-Ssl",  "X-Forwarded-By",   "X-Forwarded-Server",
    "X-Real-IP",         "X-Client-IP",        "Client-IP",        "True-Client-IP",   "X-Cluster-Client-IP",
    "X-Url-Scheme",      "Front-End-Https",    "X-Host",           "X-Forwarded-Path", "X-Script-Name",
};

/// Of the fields that the table of known names has, one bit each.
std::uint64_t known_believed() noexcept {
    std::uint64_t ids = 0;
    for (const std::string_view name : believed_from_proxies)
        ids |= 1ULL << std::to_underlying(http::find_field_id(name));
    return ids;
}

bool is_believed(const http::fields::entry& f) noexcept {
    static const std::uint64_t known = known_believed();
    if (f.id != field_id::other) return (known >> std::to_underlying(f.id) & 1U) != 0;
    return std::ranges::any_of(believed_from_proxies, [&f](std::string_view name) {
        return name.size() == f.name.size() && http::iequals(name, f.name);
    });
}

void append_to_list(http::fields& header, field_id id, std::string_view member) {
    if (!header.has(id)) {
        header.append(id, member);
        return;
    }
    std::string value = header.combined(id).value_or(std::string{});
    if (!value.empty()) value += ", ";
    value += member;
    header.set(id, value);
}

/// The request without those of its fields that do not go on.
http::request_head passed_on(const http::request_head& in, bool from_stranger) {
    constexpr std::size_t ours = 6, octets_of_ours = 384;  // what upstream_request() adds
    http::request_head out{.verb = in.verb,
                           .method_name = in.method_name,
                           .target = in.target,
                           .scheme = in.scheme,
                           .host = in.host,
                           .port = in.port,
                           .protocol = in.protocol,
                           .header = {},
                           .body = in.body,
                           .keep_alive = in.keep_alive,
                           .expects_continue = in.expects_continue,
                           .upgrade = in.upgrade};
    out.header.reserve(in.header, ours, octets_of_ours);
    const auto stays = [from_stranger](const http::fields::entry& f) {
        if (f.id == field_id::expect) return false;  // answered by us: the origin must not wait for it again
        return !from_stranger || !is_believed(f);
    };
    bool all_stay = true;
    for (const http::fields::entry f : in.header) all_stay = all_stay && stays(f);
    if (all_stay) {
        out.header = in.header;
        return out;
    }
    for (std::size_t i = 0; i < in.header.size(); ++i) {
        if (stays(in.header[i])) out.header.append(in.header, i);
    }
    return out;
}

/// RFC 7239 §6: IPv6 in brackets and quotes; a Unix peer has no address to tell.
std::string forwarded_element(const net::peer_info& peer, const http::request_head& in, std::string_view authority) {
    constexpr std::size_t most_around = 32;
    const bool v6 = peer.address.find(':') != std::string::npos;
    std::string out;
    append_at_most(out, most_around + peer.address.size() + authority.size() + in.scheme.size(), [&](writer& to) {
        to += "for=";
        if (v6) to += "\"[";
        if (peer.address == "unix") {
            to += "unknown";
        } else {
            to += std::string_view(peer.address);
        }
        if (v6) to += "]\"";
        if (!authority.empty()) {
            to += ";host=\"";
            to += authority;
            to += '"';
        }
        to += ";proto=";
        to += std::string_view(in.scheme);
    });
    return out;
}

void set_forwarding(http::fields& header, const http::request_head& in, const net::peer_info& peer) {
    const std::string authority = in.host.empty() ? std::string{} : in.authority();
    if (peer.address != "unix") append_to_list(header, field_id::x_forwarded_for, peer.address);
    if (!header.has(field_id::x_forwarded_proto)) header.append(field_id::x_forwarded_proto, in.scheme);
    if (!header.has(field_id::x_forwarded_host) && !in.host.empty()) {
        header.append(field_id::x_forwarded_host, authority);
    }
    append_to_list(header, field_id::forwarded, forwarded_element(peer, in, authority));
}

}  // namespace

std::string_view believed_request_id(const http::request_head& in, const net::peer_info& peer, role as) noexcept {
    if (!peer.trusted && as != role::egress) return {};
    const std::string_view id = in.header.get(field_id::x_request_id);
    const auto harmless = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
               c == '.';
    };
    if (id.empty() || id.size() > 128 || !std::ranges::all_of(id, harmless)) return {};
    return id;
}

http::request_head upstream_request(const http::request_head& in, const net::peer_info& peer, role as,
                                    std::string_view request_id) {
    http::request_head out = passed_on(in, as == role::ingress && !peer.trusted);
    // On the way out nobody's address is anybody's business; towards our own API the origin needs the client.
    if (as == role::ingress) set_forwarding(out.header, in, peer);
    out.header.set(field_id::x_request_id, request_id);
    append_to_list(out.header, field_id::via, via(in.protocol));
    if (in.verb == http::method::options && in.header.has(field_id::max_forwards)) {
        if (const auto hops = http::parse_delta_seconds(in.header.get(field_id::max_forwards)); hops && *hops > 0) {
            out.header.set(field_id::max_forwards, std::to_string(*hops - 1));  // RFC 9110 §7.6.2
        }
    }
    return out;
}

void complete_response(http::response_head& head, wall_time received) {
    append_to_list(head.header, field_id::via, via(head.protocol));
    if (!head.header.has(field_id::date)) {
        head.header.append(field_id::date, http::format_date(std::chrono::floor<seconds>(received)));
    }
}

}  // namespace etagere::exchange
