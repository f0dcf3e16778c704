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

    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return program.exit(e) == 0 ? exit_clean : exit_usage;
    }
    try {
        if (check_cmd->parsed()) return check_command(check);
        if (version_cmd->parsed()) return version_command(version_json);
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
