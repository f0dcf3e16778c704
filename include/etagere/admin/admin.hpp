// The admin listener: health for supervisors, metrics for Prometheus. Never reachable through a proxied listener.
//
//   GET /livez, /healthz   200 while the process runs
//   GET /readyz            200 or 503; ?verbose adds the checks
//   GET /metrics           Prometheus text format 0.0.4, at the configured path
//
// HEAD answers as GET without the content. Everything else: 404, 405, 401 without the token, 403 for what a web page in
// somebody's browser may have sent. Refusals are one JSON object, {"error": …}.
#pragma once

#include "etagere/net/transaction.hpp"

#include <functional>
#include <string>
#include <vector>

namespace etagere::admin {

struct readiness {
    struct check {
        std::string name;    // "config", "store default"
        bool ok = true;      // false does not make the whole unready: a degraded sidecar still serves
        std::string detail;  // one sentence, no secrets: /readyz needs no token
    };
    bool ready = false;
    std::string state;  // "starting", "ready", "draining"
    std::vector<check> checks;
};

struct admin_options {
    std::string metrics_path = "/metrics";
    std::string token;               // bearer token for everything but health; empty: none asked. Secret.
    std::vector<std::string> hosts;  // names that unsafe requests may use besides IP literals and localhost; lower case
};

/// Asked on the thread that serves the listener.
struct admin_functions {
    std::function<readiness()> readiness;
    std::function<std::string()> metrics;
};

/// Not thread-safe: belongs to the thread that serves its listener. Every request is answered in try_now().
class admin_handler final : public net::handler {
public:
    admin_handler(admin_options options, admin_functions functions);

    /// After a reload.
    void configure(admin_options options) { options_ = std::move(options); }

    bool try_now(net::transaction& t, net::immediate_answer& a) override;
    void wrote_now(net::transaction& t, const net::immediate_answer& a, const error_code& ec) override;
    net::task<void> handle(net::transaction& t) override;
    void refused(net::transaction& t, const error_code& why, int status) override;

private:
    admin_options options_;
    admin_functions functions_;
};

}  // namespace etagere::admin
