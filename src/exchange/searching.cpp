#include "searching.hpp"

#include "etagere/cache/key.hpp"
#include "etagere/crypto/digest.hpp"

#include <algorithm>

namespace etagere::exchange {

search_rule known_rule(search_rules& known, const routing::route& route, const http::request_head& request) {
    return route.policy.no_vary_search ? known.find(route.name, request) : nullptr;
}

void make_search_key(std::string& out, const routing::route& route, const http::request_head& request,
                     const cache::search_variance& rule) {
    cache::make_search_key(out, route.name, request, rule, route.policy, crypto::sha256_hex);
}

std::string search_flight(const std::string& key, const cache::search_variance& rule) {
    // No key goes on with an 's': no text can look like another key.
    return key + 's' + rule.text;
}

void restrict_to(store::found& found, const cache::search_variance& rule) {
    const auto carries = [&rule](const store::object_ptr& o) { return cache::carries(o->response.header, rule); };
    if (!found.set || std::ranges::all_of(found.set, carries)) return;
    std::vector<store::object_ptr> rest;
    std::ranges::copy_if(found.set, std::back_inserter(rest), carries);
    found.set = std::move(rest);
}

std::string key_to_keep(search_rules& known, const routing::route& route, const http::request_head& request,
                        const http::fields& answer) {
    std::string key;
    auto rule = route.policy.no_vary_search ? cache::find_search_variance(answer) : std::nullopt;
    if (rule) {
        make_search_key(key, route, request, *rule);
        known.learn(route.name, request, std::move(*rule));
    } else {
        cache::make_key(key, route.name, request, route.policy, crypto::sha256_hex);
    }
    return key;
}

bool lost_rule(const cache::stored_response& before, const cache::stored_response& fresh) {
    const auto rule = cache::find_search_variance(before.header);
    return rule && !cache::carries(fresh.header, *rule);
}

}  // namespace etagere::exchange
