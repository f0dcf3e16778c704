// The command line: one table of subcommands, each with its own options.
#include "commands.hpp"
#include "process.hpp"

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
    using namespace etagere::app;
    CLI::App program("étagère: a caching HTTP reverse proxy for APIs", "etagere");
    program.require_subcommand(0, 1);
    program.set_version_flag("-V,--version", std::string("etagere ") + ETAGERE_VERSION);

    run_options run;
    const auto add_run_options = [&run](CLI::App& to) {
        to.add_option("-c,--config", run.config, "configuration file")
            ->envname("ETAGERE_CONFIG")
            ->capture_default_str();
        to.add_option("-l,--log-level", run.log_level, "overrides observability.log_level")
            ->envname("ETAGERE_LOG_LEVEL")
            ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}));
    };
    add_run_options(program);
    CLI::App* const run_cmd = program.add_subcommand("run", "serve in the foreground, log to stdout (the default)");
    add_run_options(*run_cmd);

    check_options check;
    CLI::App* const check_cmd = program.add_subcommand("check", "read a configuration and report every problem of it");
    check_cmd->add_option("file", check.file, "configuration file")->required();
    check_cmd->add_option("--format", check.format, "of the report")
        ->check(CLI::IsMember({"text", "json", "github"}))
        ->capture_default_str();
    check_cmd->add_flag("--strict", check.strict, "warnings are an error too (exit code 1)");

    bool version_json = false;
    CLI::App* const version_cmd = program.add_subcommand("version", "what this build is made of");
    version_cmd->add_flag("--json", version_json, "as JSON");

    purge_options purge;
    CLI::App* const purge_cmd =
        program.add_subcommand("purge", "forget stored answers, here and in every étagère that shares the memcached");
    purge_cmd->add_option("url", purge.urls, "http://host/path?query, or /path for every host; all variants of it");
    purge_cmd->add_option("--tag", purge.tags, "what carries this tag: Surrogate-Key, Cache-Groups, tags of a route");
    purge_cmd->add_option("--prefix", purge.prefixes, "http://host/path, or /path for every host; what begins so");
    purge_cmd->add_option("--route", purge.routes, "what this route keeps");
    purge_cmd->add_flag("--soft", purge.soft, "it counts as stale: may be validated");
    purge_cmd->add_option("-c,--config", purge.config, "configuration file that names the admin listener and its token")
        ->envname("ETAGERE_CONFIG");
    CLI::Option* const purge_admin =
        purge_cmd->add_option("--admin", purge.admin, "address of the admin listener: host:port or unix:/path")
            ->envname("ETAGERE_ADMIN")
            ->capture_default_str();
    purge_cmd->add_option("--token", purge.token, "of the admin listener")->envname("ETAGERE_ADMIN_TOKEN");

    health_options health;
    CLI::App* const health_cmd =
        program.add_subcommand("healthcheck", "ask a running étagère how it is; for containers without curl");
    health_cmd->add_option("-c,--config", health.config, "configuration file that names the admin listener")
        ->envname("ETAGERE_CONFIG");
    CLI::Option* const admin =
        health_cmd->add_option("--admin", health.admin, "address of the admin listener: host:port or unix:/path")
            ->envname("ETAGERE_ADMIN")
            ->capture_default_str();
    health_cmd->add_flag("--ready", health.ready, "ready to serve, not only alive");

    import_options import;
    CLI::App* const import_cmd = program.add_subcommand("import", "another cache's configuration as one of étagère's");
    import_cmd->require_subcommand(1);
    CLI::App* const rack_cache_cmd =
        import_cmd->add_subcommand("rack-cache", "YAML for Rack::Cache's options; what has no like is told");
    rack_cache_cmd->add_option("file", import.file, "production.rb, config.ru, application.rb; - for stdin")
        ->required();

    const auto add_question = [](CLI::App& to, std::vector<std::string>& fields, bool& egress, bool& json) {
        to.add_option("-H,--header", fields, "field of the request, \"Name: value\"; as often as wanted")
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        to.add_flag("--egress", egress, "a request to an egress listener");
        to.add_flag("--json", json, "all of it, as JSON");
    };
    route_options route;
    CLI::App* const route_cmd = program.add_subcommand("route", "which route, key and policy a request gets, and why");
    route_cmd->add_option("method", route.method, "GET, POST …")->required();
    route_cmd->add_option("url", route.url, "http://host/path?query, or a path")->required();
    route_cmd->add_option("-c,--config", route.config, "configuration file")
        ->envname("ETAGERE_CONFIG")
        ->capture_default_str();
    add_question(*route_cmd, route.fields, route.egress, route.json);

    explain_options why;
    CLI::App* const explain_cmd = program.add_subcommand(
        "explain", "what a running étagère would do with a request now, and why; nothing is sent");
    explain_cmd->add_option("url", why.url, "http://host/path?query, or a path")->required();
    explain_cmd->add_option("-X,--method", why.method, "of the request")->capture_default_str();
    explain_cmd->add_option("-c,--config", why.config, "configuration file that names the admin listener and its token")
        ->envname("ETAGERE_CONFIG");
    CLI::Option* const explain_admin =
        explain_cmd->add_option("--admin", why.admin, "address of the admin listener: host:port or unix:/path")
            ->envname("ETAGERE_ADMIN")
            ->capture_default_str();
    explain_cmd->add_option("--token", why.token, "of the admin listener")->envname("ETAGERE_ADMIN_TOKEN");
    explain_cmd->add_flag("--offline", why.offline, "routes and policy of the configuration file; nobody is asked");
    explain_cmd->add_option("--response", why.response,
                            "file with an answer, as of curl -i, or - for stdin: would it be kept? (offline)");
    explain_cmd->add_option("-R,--response-header", why.answer_fields, "the same, field by field (offline)")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->excludes("--response");
    explain_cmd->add_option("--status", why.status, "of the answer that -R describes; 200 where it is not given")
        ->check(CLI::Range(200, 599))
        ->excludes("--response");
    add_question(*explain_cmd, why.fields, why.egress, why.json);

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return program.exit(e) == 0 ? exit_clean : exit_usage;
    }
    try {
        if (check_cmd->parsed()) return check_command(check);
        if (version_cmd->parsed()) return version_command(version_json);
        if (route_cmd->parsed()) return route_command(route);
        if (explain_cmd->parsed()) {
            // Without either, the usual place is asked; a configuration file says where else that is.
            const bool named = explain_cmd->get_option("--config")->count() > 0;
            why.admin_given = explain_admin->count() > 0 || !named;
            return explain_command(why);
        }
        if (purge_cmd->parsed()) {
            if (purge.urls.empty() && purge.tags.empty() && purge.prefixes.empty() && purge.routes.empty()) {
                std::cerr << "etagere purge: name a URL, --tag, --prefix or --route\n";
                return exit_usage;
            }
            purge.admin_given = purge_admin->count() > 0;
            return purge_command(purge);
        }
        if (health_cmd->parsed()) {
            if (admin->count() > 0) health.config.clear();
            return healthcheck_command(health);
        }
        if (rack_cache_cmd->parsed()) return import_rack_cache_command(import);
        return run_command(run);
    } catch (const std::exception& e) {
        std::cerr << "etagere: " << e.what() << "\n";
        return exit_internal;
    }
}
