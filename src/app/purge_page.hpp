// POST /purge of the admin listener.
#pragma once

#include "etagere/admin/admin.hpp"
#include "etagere/exchange/purging.hpp"
#include "etagere/observe/metrics.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace etagere::app {

/// {"url"|"tag"|"prefix"|"route": text, "urls"|"tags"|"prefixes"|"routes": [text …], "soft": bool}, at least one of the
/// names. The error is a sentence for whoever sent it.
std::expected<exchange::purge_order, std::string> parse_purge(std::string_view json);

/// `running` is asked on the thread of the listener, which is that of `control`.
admin::page purge_page(std::function<std::shared_ptr<const exchange::runtime>()> running, observe::metrics& metrics,
                       net::worker& control);

}  // namespace etagere::app
