#include "etagere/routing/explain.hpp"

namespace etagere::routing {
namespace {

/// Whether the request would take a route of which only these conditions are left: asked of a table, so that the rules
/// of matching stand in one place.
bool takes(const settings::route& from, const settings::match& only, const settings::settings& all,
           const http::request_head& request) {
    settings::route r = from;
    r.match = only;
    const auto t = table::compile({r}, all);
    return t && t->match(request) != nullptr;
}

std::string quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

considered judge(const settings::route& r, const settings::settings& all, const route* chosen,
                 const http::request_head& request) {
    if (chosen != nullptr && chosen->name == r.name) {
        std::string because = r.match.host.empty() ? std::string{} : "host " + quoted(r.match.host) + ", ";
        because += "path " + quoted(r.match.path);
        if (!r.match.methods.empty()) because += ", methods " + joined(r.match.methods);
        return {r.name, verdict::chosen, std::move(because)};
    }
    if (!takes(r, {.host = r.match.host, .path = "/**", .methods = {}}, all, request)) {
        return {r.name, verdict::other_host, "is for host " + quoted(r.match.host) + ", not " + quoted(request.host)};
    }
    if (!takes(r, {.host = {}, .path = r.match.path, .methods = {}}, all, request)) {
        return {r.name, verdict::other_path, "its path is " + quoted(r.match.path)};
    }
    if (!takes(r, {.host = {}, .path = "/**", .methods = r.match.methods}, all, request)) {
        return {r.name, verdict::other_method, "takes " + joined(r.match.methods) + " only"};
    }
    return {r.name, verdict::less_specific,
            "matches too, but \"" + (chosen == nullptr ? std::string{} : chosen->name) +
                "\" goes before it: more exact, or written first"};
}

}  // namespace

std::string_view name(verdict v) noexcept {
    switch (v) {
        case verdict::chosen: return "chosen";
        case verdict::other_host: return "host";
        case verdict::other_path: return "path";
        case verdict::other_method: return "method";
        case verdict::less_specific: break;
    }
    return "less_specific";
}

std::vector<considered> consider(const std::vector<settings::route>& routes, const settings::settings& all,
                                 const table& compiled, const http::request_head& request) {
    const route* const chosen = compiled.match(request);
    std::vector<considered> out;
    out.reserve(routes.size());
    for (const settings::route& r : routes) out.push_back(judge(r, all, chosen, request));
    return out;
}

}  // namespace etagere::routing
