// `etagere healthcheck`: is the process there, is it ready?
#include "etagere/app/config.hpp"

#include "admin_client.hpp"
#include "commands.hpp"
#include "process.hpp"

#include <iostream>

namespace etagere::app {

int healthcheck_command(const health_options& o) {
    admin_question q{.where = o.admin, .target = o.ready ? "/readyz" : "/livez"};
    if (!o.config.empty()) {
        const config_result r = load_config(o.config, process_environment());
        if (!r.ok()) {
            std::cerr << format_problems(r.problems, problem_format::text);
            return exit_config;
        }
        q.where = find_admin(r.value).where;
    }
    const auto answer = ask_admin(q);
    if (!answer) {
        std::cerr << "nobody answers at " << q.where << "\n";
        return exit_failed;
    }
    std::cout << answer->body;
    return answer->status == 200 ? exit_clean : exit_failed;
}

}  // namespace etagere::app
