#include "commands.hpp"

#include "etagere/app/config.hpp"
#include "etagere/app/import.hpp"

#include "process.hpp"
#include "version.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>

#include <boost/version.hpp>
#include <fmt/core.h>
#include <libmemcached/memcached.h>
#include <openssl/crypto.h>
#include <spdlog/version.h>

namespace etagere::app {

int run_command(const run_options& o) {
    const environment env = process_environment();
    const auto load = [o, env] {
        config_result r = load_config(o.config, env);
        if (!o.log_level.empty()) {
            using enum settings::log_level;
            r.value.observability.log_level = o.log_level == "trace"   ? trace
                                              : o.log_level == "debug" ? debug
                                              : o.log_level == "warn"  ? warn
                                              : o.log_level == "error" ? error
                                                                       : info;
        }
        return r;
    };
    config_result first = load();
    std::cerr << format_problems(first.problems, problem_format::text);
    if (!first.ok()) return exit_config;
    process p(std::move(first.value), load);
    return p.run();
}

int check_command(const check_options& o) {
    const config_result r = load_config(o.file, process_environment());
    const problem_format format = o.format == "json"     ? problem_format::json
                                  : o.format == "github" ? problem_format::github
                                                         : problem_format::text;
    std::cout << format_problems(r.problems, format);
    if (!r.ok()) return exit_config;
    if (r.problems.empty() && format == problem_format::text) std::cout << o.file << ": good\n";
    return o.strict && !r.problems.empty() ? exit_failed : exit_clean;
}

int import_rack_cache_command(const import_options& o) {
    const bool piped = o.file == "-";
    std::ifstream file;
    if (!piped) {
        file.open(o.file, std::ios::binary);
        if (!file || file.peek() == std::ifstream::traits_type::eof()) {
            std::cerr << fmt::format("etagere: {} cannot be read, or is empty\n", o.file);
            return exit_failed;
        }
    }
    std::istream& from = piped ? std::cin : file;
    std::string text(max_import_bytes + 1, '\0');  // one byte more, so that what is larger is seen to be
    from.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(from.gcount()));

    const imported result = import_rack_cache(text, piped ? "standard input" : o.file);
    for (const std::string& warning : result.warnings) std::cerr << "warning: " << warning << "\n";
    if (!result.found) {
        std::cerr << fmt::format("etagere: no options of Rack::Cache in {}\n", piped ? "standard input" : o.file);
        return exit_failed;
    }
    std::cout << result.yaml;
    return exit_clean;
}

int version_command(bool json) {
    const std::string boost =
        fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
    const std::string spdlog = fmt::format("{}.{}.{}", SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH);
    const char* const format = json ? "{{\"version\":\"{}\",\"revision\":\"{}\",\"compiler\":\"{}\",\"boost\":\"{}\","
                                      "\"openssl\":\"{}\",\"libmemcached\":\"{}\",\"spdlog\":\"{}\"}}\n"
                                    : "etagere {} ({})\ncompiler     {}\nboost        {}\nopenssl      {}\n"
                                      "libmemcached {}\nspdlog       {}\n";
    std::cout << fmt::format(fmt::runtime(format), version, revision, __VERSION__, boost,
                             OpenSSL_version(OPENSSL_VERSION_STRING), memcached_lib_version(), spdlog);
    return exit_clean;
}

}  // namespace etagere::app
