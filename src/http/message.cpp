#include "etagere/http/message.hpp"

#include "etagere/http/authority.hpp"

#include <algorithm>
#include <array>

namespace etagere::http {
namespace {

struct phrase {
    int status;
    std::string_view text;
};

// The registry of RFC 9110 §16.2.1, in order.
constexpr auto phrases = std::to_array<phrase>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
});

}  // namespace

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

// Field by field, so that strings and fields keep their capacity. What is mostly there already is not written again.
void request_head::clear() {
    verb = method::get;
    if (method_name != "GET") method_name.assign("GET");
    target.assign(1, '/');
    if (scheme != "http") scheme.assign("http");
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
    const auto* const found = std::ranges::lower_bound(phrases, status, {}, &phrase::status);
    return found != phrases.end() && found->status == status ? found->text : std::string_view();
}

}  // namespace etagere::http
