#include "etagere/http/message.hpp"

#include "etagere/http/authority.hpp"

#include <array>

namespace etagere::http {

method find_method(std::string_view text) noexcept {
    struct known {
        std::string_view name;
        method verb;
    };
    static constexpr std::array methods{
        known{"GET", method::get},         known{"HEAD", method::head},      known{"POST", method::post},
        known{"PUT", method::put},         known{"DELETE", method::delete_}, known{"CONNECT", method::connect},
        known{"OPTIONS", method::options}, known{"TRACE", method::trace},    known{"PATCH", method::patch},
    };
    for (const known& m : methods) {
        if (m.name == text) return m.verb;
    }
    return method::other;
}

bool is_safe(method m) noexcept {
    return m == method::get || m == method::head || m == method::options || m == method::trace;
}

bool is_idempotent(method m) noexcept {
    return is_safe(m) || m == method::put || m == method::delete_;
}

// Field by field, so that strings and fields keep their capacity.
void request_head::clear() {
    verb = method::get;
    method_name.assign("GET");
    target.assign("/");
    scheme.assign("http");
    host.clear();
    port = 0;
    protocol = version::http11;
    header.clear();
    body = framing::none();
    keep_alive = true;
    expects_continue = false;
    upgrade.clear();
}

std::string request_head::authority() const {
    std::string out = host;
    if (port != 0 && port != default_port(scheme)) out.append(":").append(std::to_string(port));
    return out;
}

std::string_view request_head::path() const noexcept {
    return std::string_view(target).substr(0, target.find('?'));
}

std::string_view request_head::query() const noexcept {
    const auto mark = target.find('?');
    return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
}

void response_head::clear() {
    status = 200;
    reason.clear();
    protocol = version::http11;
    header.clear();
    body = framing::none();
    declared_length = -1;
    keep_alive = true;
    upgrade.clear();
}

std::string_view status_phrase(int status) noexcept {
    switch (status) {
        case 100: return "Continue";
        case 101: return "Switching Protocols";
        case 102: return "Processing";
        case 103: return "Early Hints";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 203: return "Non-Authoritative Information";
        case 204: return "No Content";
        case 205: return "Reset Content";
        case 206: return "Partial Content";
        case 207: return "Multi-Status";
        case 208: return "Already Reported";
        case 226: return "IM Used";
        case 300: return "Multiple Choices";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 305: return "Use Proxy";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 402: return "Payment Required";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 407: return "Proxy Authentication Required";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 417: return "Expectation Failed";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 423: return "Locked";
        case 424: return "Failed Dependency";
        case 425: return "Too Early";
        case 426: return "Upgrade Required";
        case 428: return "Precondition Required";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 451: return "Unavailable For Legal Reasons";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        case 506: return "Variant Also Negotiates";
        case 507: return "Insufficient Storage";
        case 508: return "Loop Detected";
        case 511: return "Network Authentication Required";
        default: return "";
    }
}

}  // namespace etagere::http
