// Settings → a runtime: stores and upstreams made, or taken over from the configuration before.
#pragma once

#include "etagere/exchange/runtime.hpp"
#include "etagere/net/listener.hpp"
#include "etagere/observe/access_log.hpp"
#include "etagere/observe/metrics.hpp"

#include <expected>
#include <memory>
#include <string>

namespace etagere::app {

/// What did not change between `previous` (may be null) and `config` lives on: a reload empties no cache and closes no
/// connection. The error is a sentence for the operator.
std::expected<std::shared_ptr<const exchange::runtime>, std::string> assemble(settings::settings config,
                                                                              const exchange::runtime* previous,
                                                                              observe::metrics& metrics);

net::bind_address bind_address_of(const settings::listener& l);
net::listener_options listener_options_of(const settings::listener& l);
observe::access_options access_options_of(const settings::access_log& l);

}  // namespace etagere::app
