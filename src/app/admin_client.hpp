// Asking a running étagère, for the subcommands: one request to its admin listener by plain sockets with timeouts;
// needs no event loop.
#pragma once

#include "etagere/settings/settings.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace etagere::app {

struct admin_question {
    std::string where = "127.0.0.1:9901";  // host:port or unix:/path
    std::string method = "GET";
    std::string target = "/";  // origin-form
    std::string token{};       // "" for none
    std::string body{};
};
struct admin_answer {
    int status = 0;
    std::string body;
};
/// nullopt where nobody answers, or not with HTTP.
std::optional<admin_answer> ask_admin(const admin_question& q);

/// Where the first admin listener of that configuration is, as `where` of a question, and its token.
struct admin_place {
    std::string where;
    std::string token;
};
admin_place find_admin(const settings::settings& s);

}  // namespace etagere::app
