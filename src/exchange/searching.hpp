// Answers for requests whose targets differ only in what the origin says does not matter (No-Vary-Search): where they
// lie, and who may have them.
#pragma once

#include "etagere/exchange/search_rules.hpp"
#include "etagere/routing/table.hpp"
#include "etagere/store/store.hpp"

#include <string>

namespace etagere::exchange {

/// The rule that is known for this path, where the route believes in such rules; else null.
search_rule known_rule(search_rules& known, const routing::route& route, const http::request_head& request);

/// The key of the simplified target, at which equivalent requests find their answer.
void make_search_key(std::string& out, const routing::route& route, const http::request_head& request,
                     const cache::search_variance& rule);

/// The key of a flight that all requests equivalent by that rule may share; `key` is that of the simplified target.
std::string search_flight(const std::string& key, const cache::search_variance& rule);

/// Takes out what does not carry the rule itself: it answers for its own target only.
void restrict_to(store::found& found, const cache::search_variance& rule);

/// Under which key an answer is to be kept: that of its own target, or of the simplified one where it carries a rule,
/// which is known from then on.
std::string key_to_keep(search_rules& known, const routing::route& route, const http::request_head& request,
                        const http::fields& answer);

/// The 304 has withdrawn or changed the rule by which `before` answers for other targets: it must not lie there any
/// more.
bool lost_rule(const cache::stored_response& before, const cache::stored_response& fresh);

}  // namespace etagere::exchange
