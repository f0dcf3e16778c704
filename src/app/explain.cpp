// `etagere route` and `etagere explain`.
#include "etagere/exchange/explain.hpp"

#include "etagere/app/config.hpp"

#include "admin_client.hpp"
#include "commands.hpp"
#include "explain_pages.hpp"
#include "process.hpp"

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <unistd.h>

namespace etagere::app {

namespace {

/// Only for eyes: no colour in a pipe, and none for who does not want it (no-color.org).
bool wants_colour() {
    const environment env = process_environment();
    const bool unwanted = !env("NO_COLOR").value_or("").empty();
    return ::isatty(STDOUT_FILENO) == 1 && !unwanted && env("TERM").value_or("dumb") != "dumb";
}

wall_time now() {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

int wrong_usage(std::string_view why) {
    std::cerr << "etagere: " << why << "\n";
    return exit_usage;
}

std::optional<exchange::field_list> split_fields(const std::vector<std::string>& lines) {
    exchange::field_list fields;
    for (const std::string& line : lines) {
        auto field = split_field(line);
        if (!field) return std::nullopt;
        fields.push_back(std::move(*field));
    }
    return fields;
}

constexpr std::string_view not_a_field = "-H and -R take \"Name: value\"";

std::optional<settings::settings> load(const std::string& file, int& code) {
    config_result r = load_config(file, process_environment());
    if (r.ok()) return std::move(r.value);
    std::cerr << format_problems(r.problems, problem_format::text);
    code = exit_config;
    return std::nullopt;
}

std::string read_file(const std::string& path) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void print(const exchange::account& a, exchange::detail what, bool json) {
    std::cout << (json ? exchange::as_json(a, what) : exchange::as_text(a, what, wants_colour()));
}

int explain_offline(const explain_options& o, exchange::inquiry about) {
    int code = exit_clean;
    const auto config = load(o.config, code);
    if (!config) return code;
    const auto routes = routing::compile(*config);
    if (!routes) {  // the loader refuses such a file before
        std::cerr << "etagere: " << routes.error() << "\n";
        return exit_config;
    }
    auto account = exchange::open_account(std::move(about), now());
    if (!account) return wrong_usage(account.error());
    exchange::explain_route(*account, *config, *routes);
    if (!o.response.empty() || !o.answer_fields.empty() || o.status != 0) {
        const auto fields = split_fields(o.answer_fields);
        if (!fields) return wrong_usage(not_a_field);
        auto answer = o.response.empty() ? exchange::read_answer(o.status == 0 ? 200 : o.status, *fields)
                                         : exchange::read_answer(read_file(o.response));
        if (!answer) return wrong_usage(answer.error());
        exchange::explain_answer(*account, std::move(*answer));
    }
    print(*account, o.response.empty() && !account->given ? exchange::detail::route : exchange::detail::all, o.json);
    return account->route == nullptr ? exit_failed : exit_clean;
}

}  // namespace

int route_command(const route_options& o) {
    int code = exit_clean;
    const auto fields = split_fields(o.fields);
    if (!fields) return wrong_usage(not_a_field);
    const auto config = load(o.config, code);
    if (!config) return code;
    const auto routes = routing::compile(*config);
    if (!routes) {  // the loader refuses such a file before
        std::cerr << "etagere: " << routes.error() << "\n";
        return exit_config;
    }
    exchange::inquiry about{.method = o.method, .url = o.url, .fields = *fields};
    about.as = o.egress ? exchange::role::egress : exchange::role::ingress;
    auto account = exchange::open_account(std::move(about), now());
    if (!account) return wrong_usage(account.error());
    exchange::explain_route(*account, *config, *routes);
    print(*account, exchange::detail::route, o.json);
    return account->route == nullptr ? exit_failed : exit_clean;
}

int explain_command(const explain_options& o) {
    auto fields = split_fields(o.fields);
    if (!fields) return wrong_usage(not_a_field);
    exchange::inquiry about{.method = o.method, .url = o.url, .fields = std::move(*fields)};
    about.as = o.egress ? exchange::role::egress : exchange::role::ingress;
    if (o.offline || !o.response.empty() || !o.answer_fields.empty() || o.status != 0) {
        return explain_offline(o, std::move(about));
    }
    admin_question q{.where = o.admin, .method = "GET", .target = {}, .token = o.token, .body = {}};
    if (!o.admin_given) {
        int code = exit_clean;
        const auto config = load(o.config, code);
        if (!config) return code;
        const admin_place place = find_admin(*config);
        q.where = place.where;
        if (q.token.empty()) q.token = place.token;
    }
    q.target = "/explain?" + write_explain_query({std::move(about), !o.json, !o.json && wants_colour()});
    const auto answer = ask_admin(q);
    if (!answer) {
        std::cerr << "nobody answers at " << q.where << "; --offline -c FILE explains routes and answers without\n";
        return exit_unreachable;
    }
    if (answer->status != 200) {
        std::cerr << "étagère at " << q.where << " answers " << answer->status << ": " << answer->body;
        return answer->status == 400 ? exit_usage : exit_failed;
    }
    std::cout << answer->body;
    return exit_clean;
}

}  // namespace etagere::app
