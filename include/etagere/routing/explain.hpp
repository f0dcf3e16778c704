// Why a request takes the route it takes, and why it does not take the others. For people: compiles tables of its own.
#pragma once

#include "etagere/http/message.hpp"
#include "etagere/routing/table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace etagere::routing {

enum class verdict : std::uint8_t {
    chosen,
    other_host,
    other_path,
    other_method,
    less_specific,  // it matches too, but the chosen one goes before it
};
struct considered {
    std::string name;
    verdict is = verdict::chosen;
    std::string because;  // one sentence
};
/// One for each of `routes`, in their order; `chosen` is what the table says.
std::vector<considered> consider(const std::vector<settings::route>& routes, const settings::settings& all,
                                 const table& compiled, const http::request_head& request);
std::string_view name(verdict v) noexcept;

}  // namespace etagere::routing
