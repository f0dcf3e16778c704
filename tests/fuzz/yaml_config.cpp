// Any bytes as a configuration file: no crash, bounded work, and an answer that keeps its promises. What is accepted
// also compiles into routes.
#include "etagere/app/config.hpp"
#include "etagere/routing/table.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace etagere::app;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const environment env = [](const std::string& name) {
        return name == "SET" ? std::optional<std::string>("10s") : std::nullopt;
    };
    const file_reader files = [](const std::string&) -> std::expected<std::string, std::string> {
        return std::unexpected("no files here");
    };
    const config_result r = parse_config(text, "fuzz.yaml", env, files);
    if (r.problems.size() > 101) {
        std::abort();
    }
    for (const config_problem& p : r.problems) {
        // One line each, whatever was in the file: messages go to terminals and logs.
        for (const std::string& part : {p.message, p.path, p.hint}) {
            for (const char c : part) {
                if (static_cast<unsigned char>(c) < 0x20) {
                    std::abort();
                }
            }
        }
    }
    for (const problem_format f : {problem_format::text, problem_format::json, problem_format::github}) {
        static_cast<void>(format_problems(r.problems, f));
    }
    if (r.ok() && !etagere::routing::compile(r.value)) {
        std::abort();
    }
    return 0;
}
