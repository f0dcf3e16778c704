// GET /explain and GET /entry of the admin listener: what exchange/explain.hpp says, as JSON or text.
//
//   url=…            "http://host:port/path?query", or a path; required
//   method=…         GET without it
//   header=Name:%20value   as often as wanted
//   role=egress      the routes of egress listeners
//   format=text      for people; colour=1 with ANSI sequences
#pragma once

#include "etagere/admin/admin.hpp"
#include "etagere/exchange/explain.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace etagere::app {

/// Where the pages look; asked on the control thread.
struct explain_sources {
    std::function<std::shared_ptr<const exchange::runtime>()> running;
    std::function<std::string(exchange::role)> listening_at;  // authority of a listener of that role
    const exchange::collapse_table* collapse;                 // outlives the pages, as `on` does
    net::worker* on;
};
std::vector<admin::page> explain_pages(const explain_sources& from);

/// The question in a query, percent-decoded; an error is a sentence.
struct explain_question {
    exchange::inquiry about;
    bool as_text = false;
    bool colour = false;
};
std::expected<explain_question, std::string> read_explain_query(std::string_view query);
/// The query that read_explain_query() reads.
std::string write_explain_query(const explain_question& q);

/// "Name: value" → the pair; nullopt without a colon.
std::optional<std::pair<std::string, std::string>> split_field(std::string_view line);

}  // namespace etagere::app
