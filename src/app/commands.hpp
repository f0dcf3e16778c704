// The subcommands of the program. Each returns an exit code (process.hpp).
#pragma once

#include <string>

namespace etagere::app {

struct run_options {
    std::string config = "/etc/etagere/etagere.yaml";
    std::string log_level;  // "" as configured
};
int run_command(const run_options& o);

struct check_options {
    std::string file;
    std::string format = "text";  // text | json | github
    bool strict = false;          // warnings count
};
int check_command(const check_options& o);

int version_command(bool json);

struct health_options {
    std::string config;  // where the admin listener is looked up; "" uses `admin`
    std::string admin = "127.0.0.1:9901";
    bool ready = false;  // ask /readyz instead of /livez
};
int healthcheck_command(const health_options& o);

struct import_options {
    std::string file;  // "-": standard input
};
int import_rack_cache_command(const import_options& o);

}  // namespace etagere::app
