// The subcommands of the program. Each returns an exit code (process.hpp).
#pragma once

#include <string>
#include <vector>

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

struct purge_options {
    std::string config;  // names the admin listener and its token; "" for neither
    std::string admin = "127.0.0.1:9901";
    bool admin_given = false;
    std::string token;
    std::vector<std::string> urls;
    std::vector<std::string> tags;
    std::vector<std::string> prefixes;
    std::vector<std::string> routes;
    bool soft = false;
};
int purge_command(const purge_options& o);

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

struct route_options {
    std::string config = "/etc/etagere/etagere.yaml";
    std::string method;
    std::string url;
    std::vector<std::string> fields;  // "Name: value"
    bool egress = false;
    bool json = false;
};
int route_command(const route_options& o);

struct explain_options {
    std::string config = "/etc/etagere/etagere.yaml";  // names the admin listener where `admin` is not given
    std::string admin = "127.0.0.1:9901";
    bool admin_given = false;
    std::string token;
    std::string url;
    std::string method = "GET";
    std::vector<std::string> fields;  // "Name: value"
    bool egress = false;
    bool json = false;
    bool offline = false;                    // ask nobody: routes and policy of `config`
    std::string response;                    // file with an answer, "-" for stdin: would it be kept? Offline
    std::vector<std::string> answer_fields;  // likewise, field by field
    int status = 0;                          // of that answer; 0: not given
};
int explain_command(const explain_options& o);

}  // namespace etagere::app
