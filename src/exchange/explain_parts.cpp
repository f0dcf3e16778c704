#include "explain_parts.hpp"

#include "etagere/base/bytes.hpp"
#include "etagere/crypto/digest.hpp"
#include "etagere/http/authority.hpp"

#include <algorithm>
#include <array>

namespace etagere::exchange {

std::vector<std::pair<std::string, std::string>> told_fields(const http::fields& header, const cache::policy& rules) {
    std::vector<std::string> names = rules.targeted;
    for (const std::string_view name :
         {"Cache-Control", "Date", "Expires", "Age", "Last-Modified", "ETag", "Vary", "No-Vary-Search", "Content-Type",
          "Content-Encoding", "Content-Location", "Content-Range"}) {
        names.emplace_back(name);
    }
    names.insert(names.end(), rules.tag_fields.begin(), rules.tag_fields.end());
    std::vector<std::pair<std::string, std::string>> told;
    for (const std::string& name : names) {
        if (cache::is_secret_name(name)) continue;
        if (auto value = header.combined(name)) told.emplace_back(name, std::move(*value));
    }
    return told;
}

std::string shown_value(std::string_view name, std::string_view value) {
    return cache::is_secret_name(name) ? "(not shown)" : std::string(value);
}

std::string shown_selector(const cache::selection::entry& s) {
    if (!s.value) return "(absent)";
    if (!cache::is_secret_name(s.name)) return std::string(*s.value);
    return "(digest " + crypto::sha256_hex(*s.value).substr(0, 12) + ")";
}

std::string body_digest(const store::object& o) {
    return o.body ? "xxh3-128:" + to_hex(xxh3_128(*o.body)) : std::string{};
}

reason told_reason(const account& a) noexcept {
    if (a.given && !a.given->fate.may.store) return a.given->fate.may.why;
    if (!a.what) return reason::none;
    const bool from_origin = a.what->what == cache::course::fetch;
    return from_origin && a.known.not_kept != reason::none ? a.known.not_kept : a.what->why;
}

std::string url_of(const account& a) {
    return a.refused ? a.about.url : a.request.scheme + "://" + a.request.authority() + a.request.target;
}

std::string_view name(cache::reuse_action a) noexcept {
    switch (a) {
        case cache::reuse_action::serve: return "serve";
        case cache::reuse_action::serve_revalidate: return "serve_stale";
        case cache::reuse_action::validate: return "validate";
        case cache::reuse_action::refuse: return "refuse";
        case cache::reuse_action::complete:
        case cache::reuse_action::fetch: break;
    }
    return "fetch";
}

std::string_view name(cache::request_class c) noexcept {
    switch (c) {
        case cache::request_class::cacheable: return "cacheable";
        case cache::request_class::pass: return "pass";
        case cache::request_class::unsafe: break;
    }
    return "unsafe";
}

namespace {

/// In single quotes, within which a shell reads nothing.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out += "'";
}

/// "$AUTHORIZATION" for Authorization: the asker's own secret stays with the asker.
std::string variable_of(std::string_view name) {
    std::string out = "$";
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        out += letter ? static_cast<char>(c & ~0x20) : (c >= '0' && c <= '9') ? c : '_';
    }
    return out;
}

}  // namespace

std::string as_curl(const account& a) {
    if (a.refused) return {};
    std::string out = "curl -sS -D - -o /dev/null";
    if (a.request.verb == http::method::head) {
        out = "curl -sS -I";
    } else if (a.request.verb != http::method::get) {
        out += " -X " + quoted(a.request.method_name);
    }
    if (a.about.at.starts_with("unix:")) {
        out += " --unix-socket " + quoted(a.about.at.substr(5));
    } else if (a.about.at != "localhost" && a.about.at != a.request.authority()) {
        out += " --connect-to " + quoted("::" + a.about.at);
    }
    for (const auto& [name, value] : a.about.fields) {
        if (http::iequals(name, "Host")) continue;
        out += " -H ";
        // curl drops a field that has no value unless a semicolon ends it.
        if (value.empty()) {
            out += quoted(name + ";");
        } else if (cache::is_secret_name(name)) {
            out.append(quoted(name + ": ")).append("\"").append(variable_of(name)).append("\"");
        } else {
            std::string line = name;
            line.append(": ").append(value);
            out += quoted(line);
        }
    }
    if (a.request.target == "*") out += " --request-target '*'";
    const bool star = a.request.target == "*";
    // Brackets and braces would be patterns to it.
    return out + " --path-as-is -g " +
           quoted(a.request.scheme + "://" + a.request.authority() + (star ? "/" : a.request.target));
}

}  // namespace etagere::exchange
