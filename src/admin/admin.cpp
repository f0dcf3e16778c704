#include "etagere/admin/admin.hpp"

#include "etagere/http/date.hpp"
#include "etagere/http/h1/serializer.hpp"
#include "etagere/observe/exposition.hpp"
#include "etagere/observe/text.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <tuple>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <openssl/crypto.h>

namespace etagere::admin {
namespace {

using http::field_id;

constexpr std::size_t most_body = std::size_t{64} * 1024;

/// A page in a browser sends Origin, or (with a name of its own that resolves to us) a Host that is not ours: S272.
bool is_our_host(std::string_view host, const std::vector<std::string>& names) {
    if (host == "localhost" || std::ranges::find(names, host) != names.end()) return true;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    boost::system::error_code not_an_address;
    boost::asio::ip::make_address(host, not_an_address);
    return !not_an_address;
}

/// RFC 6750 §2.1. Takes equally long wherever the tokens differ.
bool has_token(const http::fields& header, std::string_view wanted) {
    constexpr std::string_view scheme = "Bearer ";
    if (header.count(field_id::authorization) != 1) return false;
    std::string_view given = header.get(field_id::authorization);
    if (!http::iequals(given.substr(0, scheme.size()), scheme)) return false;
    given.remove_prefix(scheme.size());
    return given.size() == wanted.size() && CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0;
}

bool is_verbose(std::string_view query) noexcept {
    return query == "verbose" || query.starts_with("verbose&") || query.starts_with("verbose=");
}

reply tell_readiness(const readiness& now, bool verbose) {
    reply r;
    r.status = now.ready ? 200 : 503;
    r.content = R"({"status":)";
    observe::append_json_string(r.content, now.state);
    if (verbose) {
        r.content += R"(,"checks":[)";
        for (const auto& check : now.checks) {
            if (&check != &now.checks.front()) r.content += ',';
            r.content += R"({"name":)";
            observe::append_json_string(r.content, check.name);
            r.content += check.ok ? R"(,"ok":true,"detail":)" : R"(,"ok":false,"detail":)";
            observe::append_json_string(r.content, check.detail);
            r.content += '}';
        }
        r.content += ']';
    }
    r.content += "}\n";
    return r;
}

reply not_allowed(std::string_view allowed) {
    reply r = refusal(405, allowed == "POST" ? "only POST" : "only GET and HEAD");
    r.more = {"Allow", std::string(allowed)};
    return r;
}

struct wire {
    std::string start, content;
};

void fill(net::immediate_answer& a, const net::transaction& t, const http::request_head& request, reply r) {
    http::fields header;
    header.append(field_id::date, http::format_date(std::chrono::floor<seconds>(t.started().wall)));
    header.append(field_id::content_type, r.content_type);
    header.append(field_id::cache_control, "no-store");
    if (!r.more.first.empty()) std::ignore = header.add(r.more.first, r.more.second);
    auto bytes = std::make_unique<wire>();
    http::h1::write_response_start(bytes->start, r.status, http::status_phrase(r.status), header);
    bytes->content = std::move(r.content);

    a.status = r.status;
    a.start = bytes->start;
    if (request.verb == http::method::head) {
        a.declared_length = static_cast<std::int64_t>(bytes->content.size());
    } else {
        a.how = http::framing::of_length(bytes->content.size());
        a.body = bytes->content;
    }
    a.pin = pin(std::unique_ptr<const wire>(std::move(bytes)));
}

/// What a page was sent; 413 where it is too much.
net::task<result<std::string>> read_whole(net::transaction& t) {
    std::string body;
    if (!t.request().body.has_body()) co_return body;
    for (;;) {
        const result<std::string_view> piece = co_await t.body().read();
        if (!piece) co_return std::unexpected(piece.error());
        if (piece->empty()) co_return body;
        if (body.size() + piece->size() > most_body) co_return fail(errc::content_too_large);
        body += *piece;
    }
}

}  // namespace

reply refusal(int status, std::string_view error) {
    reply r;
    r.status = status;
    r.content = R"({"error":)";
    observe::append_json_string(r.content, error);
    r.content += "}\n";
    return r;
}

admin_handler::admin_handler(admin_options options, admin_functions functions)
    : options_(std::move(options)), functions_(std::move(functions)) {}

/// False where `behind` has to be asked.
bool admin_handler::respond(const http::request_head& request, reply& r, const page*& behind) const {
    const auto say = [&r](reply with) {
        r = std::move(with);
        return true;
    };
    const bool reads = request.verb == http::method::get || request.verb == http::method::head;
    // A page that made its own name resolve to us does not know the token.
    const bool rebound = !reads && options_.token.empty() && !is_our_host(request.host, options_.hosts);
    const bool from_a_page = request.header.has(field_id::origin) || rebound;
    if (from_a_page) return say(refusal(403, "not for web pages"));

    const std::string_view path = request.path();
    const bool live = path == "/livez" || path == "/healthz";
    const bool readyz = path == "/readyz";
    if (!live && !readyz) {
        if (!options_.token.empty() && !has_token(request.header, options_.token)) {
            r = refusal(401, "bearer token required");
            r.more = {"WWW-Authenticate", "Bearer"};
            return true;
        }
        const auto at = std::ranges::find(functions_.pages, path, &page::path);
        if (at != functions_.pages.end()) {
            if (at->writes ? request.verb != http::method::post : !reads) {
                return say(not_allowed(at->writes ? "POST" : "GET, HEAD"));
            }
            behind = &*at;
            return false;
        }
        if (path != options_.metrics_path) return say(refusal(404, "no such page"));
    }
    if (!reads) return say(not_allowed("GET, HEAD"));
    if (readyz) return say(tell_readiness(functions_.readiness(), is_verbose(request.query())));
    if (live) {
        r.content = "{\"status\":\"alive\"}\n";
    } else {
        r.content_type = observe::exposition_content_type;
        r.content = functions_.metrics();
    }
    return true;
}

bool admin_handler::try_now(net::transaction& t, net::immediate_answer& a) {
    const http::request_head& request = t.request();
    reply r;
    const page* behind = nullptr;
    if (!respond(request, r, behind)) return false;
    fill(a, t, request, std::move(r));
    // What a refused request carries is not read.
    a.close = request.body.has_body();
    return true;
}

void admin_handler::wrote_now(net::transaction&, const net::immediate_answer&, steady_time, const error_code&) {}

net::task<void> admin_handler::handle(net::transaction& t) {
    net::immediate_answer a;
    reply r;
    const page* behind = nullptr;
    bool unread = t.request().body.has_body();
    if (!respond(t.request(), r, behind)) {
        result<std::string> body = co_await read_whole(t);
        if (body) {
            unread = false;
            question asked{t.request(), std::move(*body)};
            r = co_await behind->answer(std::move(asked));
        } else {
            const int status = http_status(body.error());
            if (status == 0) co_return t.abort();
            r = refusal(status, error_name(body.error()));
        }
    }
    fill(a, t, t.request(), std::move(r));
    a.close = unread;
    co_await t.answer(a);
}

void admin_handler::refused(net::transaction&, const error_code&, int) {}

}  // namespace etagere::admin
