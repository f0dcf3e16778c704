// Settings in a line.
#pragma once

#include "etagere/routing/table.hpp"
#include "etagere/settings/settings.hpp"

#include <string>
#include <utility>
#include <vector>

namespace etagere::routing {

inline settings::route a_route(std::string name, std::string path, std::vector<std::string> methods = {},
                               std::string host = {}) {
    settings::route r;
    r.name = std::move(name);
    r.match = {.host = std::move(host), .path = std::move(path), .methods = std::move(methods)};
    r.upstream = "app";
    return r;
}

/// One upstream `app`, one store `default`.
inline settings::settings with(std::vector<settings::route> routes) {
    settings::settings s;
    s.upstreams.emplace_back().name = "app";
    s.stores.emplace_back().name = "default";
    s.routes = std::move(routes);
    return s;
}

}  // namespace etagere::routing
