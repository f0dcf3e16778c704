// The admin listener: health for supervisors, metrics for Prometheus. Never reachable through a proxied listener.
//
//   GET /livez, /healthz   200 while the process runs
//   GET /readyz            200 or 503; ?verbose adds the checks
//   GET /metrics           Prometheus text format 0.0.4, at the configured path
//   and the pages that are passed in (admin_functions::pages)
//
// HEAD answers as GET without the content. Everything else: 404, 405, 401 without the token, 403 for what a web page in
// somebody's browser may have sent, 413. Refusals are one JSON object, {"error": …}.
#pragma once

#include "etagere/net/transaction.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
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
    std::string metrics_path = "/metrics";  // empty: no such page
    std::string token;                      // bearer token for everything but health; empty: none asked. Secret.
    std::vector<std::string> hosts;  // names that unsafe requests may use besides IP literals and localhost; lower case
};

struct reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string content;
    std::pair<std::string, std::string> more{};  // one field that belongs to the status
};
/// {"error": …}
reply refusal(int status, std::string_view error);

struct question {
    const http::request_head& head;
    std::string body;
};

/// A page that may take its time, behind the token. `head` lives until the answer is there.
struct page {
    std::string path;
    bool writes = false;  // POST with a body of at most 64 KiB; otherwise GET and HEAD
    std::function<net::task<reply>(question)> answer;
};

/// Asked on the thread that serves the listener.
struct admin_functions {
    std::function<readiness()> readiness;
    std::function<std::string()> metrics;
    std::vector<page> pages{};
};

/// Not thread-safe: belongs to the thread that serves its listener. Health, metrics and refusals are answered in
/// try_now(), pages in handle().
class admin_handler final : public net::handler {
public:
    admin_handler(admin_options options, admin_functions functions);

    /// After a reload.
    void configure(admin_options options) { options_ = std::move(options); }

    bool try_now(net::transaction& t, net::immediate_answer& a) override;
    void wrote_now(net::transaction& t, const net::immediate_answer& a, steady_time ended,
                   const error_code& ec) override;
    net::task<void> handle(net::transaction& t) override;
    void refused(net::transaction& t, const error_code& why, int status) override;

private:
    bool respond(const http::request_head& request, reply& r, const page*& behind) const;

    admin_options options_;
    admin_functions functions_;
};

}  // namespace etagere::admin
