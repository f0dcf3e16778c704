// What étagère would do with a request now, and why, without doing it: route, key, what is stored, the decision, what
// would follow. Nothing is sent to an origin, no flight is joined, and the store is only looked at.
//
// For people and their tools: allocates, and is never on the way of a request. What is shown holds no credentials and
// no bodies.
#pragma once

#include "etagere/cache/explain.hpp"
#include "etagere/cache/key.hpp"
#include "etagere/exchange/proxy.hpp"
#include "etagere/routing/explain.hpp"

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etagere::exchange {

using field_list = std::vector<std::pair<std::string, std::string>>;

/// A request that somebody asks about.
struct inquiry {
    role as = role::ingress;
    std::string method = "GET";
    std::string url{};  // "http://host:port/path?query" or "/path?query"
    field_list fields{};
    std::string at = "localhost";  // authority of a URL that is a path; where curl has to connect to
};

/// An answer that somebody asks about: would it be kept?
struct given_answer {
    http::response_head head;
    cache::fate fate;
};

struct account {
    inquiry about;
    http::request_head request;
    error_code refused;  // the strict layer would not let it in
    int refused_status = 0;

    std::shared_ptr<const runtime> config;  // keeps `route` alive where it comes from a running one
    std::vector<routing::considered> routes;
    const routing::route* route = nullptr;  // null: none matches
    std::string upstream, store_name;
    std::string key;                     // "" where the store is not asked
    std::vector<cache::key_part> parts;  // of the key, secrets digested
    std::string query_rule;              // No-Vary-Search by which the key was simplified; "" without

    bool looked = false;  // into a store, of a running étagère
    store::found found;
    error_code store_failed;
    cache::key_knowledge known;
    std::optional<cache::explanation> what;  // without a store: only for what needs none
    std::optional<given_answer> given;
    wall_time now{};
};

/// The request as étagère would read it; an error is a sentence about the question itself.
std::expected<account, std::string> open_account(inquiry about, wall_time now);
/// Route, policy and key: needs no running étagère.
void explain_route(account& a, const settings::settings& config, const routing::tables& routes);
/// All of it. Runs on `on`, whose io_context has to be running.
net::task<void> explain(account& a, std::shared_ptr<const runtime> running, const collapse_table& collapse,
                        net::worker& on);
/// What would become of that answer, where the route was found.
void explain_answer(account& a, http::response_head answer);

/// An answer of an origin: fields, or a whole head with or without its status line, lines ending in LF or CRLF.
std::expected<http::response_head, std::string> read_answer(int status, const field_list& fields);
std::expected<http::response_head, std::string> read_answer(std::string_view head);

enum class detail : std::uint8_t {
    all,
    route,  // no decision: what is the same for every moment
    entry,  // what is stored
};
std::string as_json(const account& a, detail what);
/// A short text; `colour`: with ANSI sequences.
std::string as_text(const account& a, detail what, bool colour);
/// The command that sends this request; credentials become variables of the shell.
std::string as_curl(const account& a);

}  // namespace etagere::exchange
