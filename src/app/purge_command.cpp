// `etagere purge`: POST /purge of a running étagère.
#include "etagere/app/config.hpp"
#include "etagere/observe/text.hpp"

#include "admin_client.hpp"
#include "commands.hpp"
#include "process.hpp"

#include <iostream>
#include <string_view>

namespace etagere::app {

namespace {

std::string body_of(const purge_options& o) {
    std::string body = o.soft ? R"({"soft":true)" : R"({"soft":false)";
    const auto list = [&body](std::string_view name, const std::vector<std::string>& all) {
        body += ",";
        observe::append_json_string(body, name);
        body += ":[";
        for (const std::string& one : all) {
            if (&one != &all.front()) body += ",";
            observe::append_json_string(body, one);
        }
        body += "]";
    };
    list("urls", o.urls);
    list("tags", o.tags);
    list("prefixes", o.prefixes);
    list("routes", o.routes);
    return body + "}";
}

}  // namespace

int purge_command(const purge_options& o) {
    admin_question q{.where = o.admin, .method = "POST", .target = "/purge", .token = o.token, .body = body_of(o)};
    if (!o.config.empty()) {
        const config_result r = load_config(o.config, process_environment());
        if (!r.ok()) {
            std::cerr << format_problems(r.problems, problem_format::text);
            return exit_config;
        }
        const admin_place place = find_admin(r.value);
        if (!o.admin_given) q.where = place.where;
        if (q.token.empty()) q.token = place.token;
    }
    const auto answer = ask_admin(q);
    if (!answer) {
        std::cerr << "nobody answers at " << q.where << "\n";
        return exit_unreachable;
    }
    (answer->status == 200 ? std::cout : std::cerr) << answer->body;
    const bool nothing = answer->body.starts_with(R"({"purged":0,)");
    return answer->status == 200 && !nothing ? exit_clean : exit_failed;
}

}  // namespace etagere::app
