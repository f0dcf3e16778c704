// One request's life behind the fast path. The steps, in order: route → class (cacheable, pass, unsafe) → look up →
// decide → serve, or ask the origin (as leader, follower or alone) → judge → deliver and keep → record.
#pragma once

#include "etagere/cache/offer.hpp"
#include "etagere/cache/ranges.hpp"
#include "etagere/exchange/proxy.hpp"
#include "etagere/observe/record.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace etagere::exchange {

/// What is known of a request before an exchange begins for it: by try_now(), or because it was loaded since.
struct prior_look {
    std::shared_ptr<const runtime> in;      // what the request started with, whatever is loaded meanwhile
    const routing::route* route = nullptr;  // null: nothing is known. Else it is cacheable
    store::found found;                     // under its exact key
    bool all_levels = false;                // were asked; else memory alone was
    bool failed = false;                    // the level behind memory did not answer
    std::uint64_t waited_us = 0;            // for that level
};

/// What a look-up is to bring along: most conditional requests are answered without a body.
wish wish_of(const http::request_head& request) noexcept;

class exchange {
public:
    exchange(worker_state& state, role as, net::transaction& t, prior_look known);

    net::task<void> run();
    /// The record of what happened; views into this object and the transaction.
    observe::record& record() noexcept { return record_; }
    bool routed() const noexcept { return route_ != nullptr; }

private:
    enum class next : std::uint8_t { done, again, origin };  // again: look up once more; origin: go and ask

    // exchange.cpp: the steps
    void take_route(const routing::route& route);
    net::task<void> cached();
    /// In memory. `rule`: what is known for the path. False: there is another level, which has to be asked.
    bool look_up(const search_rule& rule);
    net::task<void> look_up_further(search_rule rule);
    /// What memory has under that key, for which the request stands from here on. False: nothing.
    bool look_here(const std::string& key, search_rule rule);
    net::task<void> look_further(const std::string& key, search_rule rule);
    /// `key` is a member.
    void stand_for(const std::string& key, search_rule rule);
    void take(store::found found);
    /// What was found under the exact key before this began. False: nothing.
    bool take_known();
    void decide();
    /// Those who are equivalent by one rule fly together, apart from those who know of no rule.
    const std::string& flight_key() const noexcept { return rule_ ? search_flight_ : key(); }
    /// Under which an answer is looked for: exact_key_, or that of the simplified target.
    const std::string& key() const noexcept { return *key_; }
    cache::purge_state purge_of(const store::object& o) const;
    void forget_purged();
    /// The origin is not asked.
    bool decided_here() const noexcept;
    net::task<next> from_store();
    /// The flight that this request follows; null: it asks for itself, alone or as a leader.
    std::shared_ptr<flight> join();
    net::task<next> follow(std::shared_ptr<flight> with);
    net::task<bool> serve_collapsed(const outcome& result);
    net::task<void> send_local(int status, std::string_view text, reason why);
    net::task<void> send_error(error_code ec);
    net::task<void> options_for_us();

    // origin.cpp: asking the origin and judging its answer
    net::task<void> ask_origin();
    http::request_head origin_request(const cache::tag_offer& offer, bool alone);
    net::task<bool> validated(const cache::tag_offer& offer, std::unique_ptr<upstream::call>& call, moment asked);
    net::task<void> failed_at_origin(error_code ec);
    net::task<bool> freshened(std::unique_ptr<upstream::call>& call, moment asked);
    net::task<bool> serve_on_error(cache::origin_failure how);

    // completion.cpp: parts of what is not here whole (RFC 9111 §3.4)
    std::optional<http::range_request> part_to_ask_for() const;
    net::task<bool> completed(std::unique_ptr<upstream::call>& call, moment asked);
    net::task<store::object_ptr> stored_now();

    /// `head` outlives the call of it.
    net::task<result<std::unique_ptr<upstream::call>>> send_upstream(http::request_head& head, bool with_body);
    void note(const upstream::call& call);
    net::task<void> pass();
    net::task<void> switch_protocols(upstream::call& call);
    void invalidate(const http::response_head& answer);
    void purge_after(const http::response_head& answer);
    /// Where the answer to this POST is one to later GETs: their route, and the request and key to keep it under.
    const routing::route* route_of_later_gets(const http::response_head& answer, http::request_head& as_get,
                                              std::string& key) const;

    // validators.cpp: what a validation offers, and the 304s that are not for the chosen response
    std::vector<const cache::stored_response*> variants() const;
    cache::tag_offer make_offer() const;
    cache::offer_verdict judge(const cache::tag_offer& offer, const http::response_head& answer);
    net::task<bool> serve_variant(std::size_t at, std::unique_ptr<upstream::call>& call, moment asked);
    net::task<void> pass_not_modified(upstream::call& call, moment asked);

    /// Answers from a stored response; false, and nothing was sent, where its body cannot be had.
    net::task<bool> serve(store::object_ptr object, reason why, seconds age, seconds ttl);

    const settings::settings& config() const noexcept { return runtime_->config; }
    const cache::policy& rules() const noexcept { return route_->policy; }
    store::store& kept() const noexcept { return *runtime_->stores[route_->store]; }
    route_memory& memory() const noexcept { return runtime_->memories[route_->index]; }

    friend class delivery;

    worker_state& state_;
    role role_;
    prior_look known_;  // `found` until the first look-up
    net::transaction& t_;
    const http::request_head& request_;
    std::shared_ptr<const runtime> runtime_;  // prior_look::in
    const routing::route* route_ = nullptr;
    std::string request_id_;
    std::string exact_key_;                  // of the target as it came
    const std::string* key_ = &exact_key_;   // see key()
    search_rule rule_;                       // what made the difference; null: nothing did
    std::string search_key_;                 // by the rule that is known for the path; "" without
    std::string search_flight_;              // see flight_key()
    std::string part_key_;                   // flight_key() and the range that is asked for
    const std::string* join_key_ = nullptr;  // with whom it shares a fetch: flight_key() or part_key_

    store::found found_;
    store::object_ptr chosen_;  // the variant this request selects; null without
    cache::reuse_decision decision_;
    bool store_failed_ = false;      // its remote level did not answer, and keeps nothing either
    cache::purge_state purge_;       // of chosen_, or of what it would have been
    cache::purge_mark asked_under_;  // what was known of purges when the origin was asked
    leadership lead_;
    bool alone_ = false;  // the answer is not expected to be kept: the client's own condition goes to the origin
    collapse_table::memory not_kept_;  // why not, and how long that is remembered
    bool in_full_ = false;  // what is stored turned out to be of no use: ask for the whole, without a condition
    std::optional<http::range_request> part_;  // what the origin is asked for; without: the whole

    moment now_{};  // of the steps up to the origin; who waited sets it anew
    observe::record record_;
    std::string error_text_;
    std::string etag_out_;
};

/// What a request gets from étagère itself, before any route's policy counts. `route`: its own; null without.
enum class own_business : std::uint8_t {
    none,
    trace,     // 405
    options,   // 204
    no_route,  // 404
};
own_business answered_here(const http::request_head& request, const routing::route* route) noexcept;

/// The whole body, at most so many octets (errc::store_too_large).
net::task<result<std::string>> read_whole(upstream::call& call, std::uint64_t most);

/// RFC 9111 §4.4: everything that is kept under the URL of this request, whatever else parts its keys.
void purge_url_of(const runtime& in, const routing::route& route, const http::request_head& request, moment now);

/// RFC 5861 §3: refreshes `object`, which lies under `key`, while its stale copy is being served. Detached; never more
/// than one a flight key at a time.
void refresh_in_background(worker_state& state, std::shared_ptr<const runtime> config, const routing::route& route,
                           const std::string& key, const std::string& flight_key, const http::request_head& request,
                           http::request_head upstream_head, store::object_ptr object);

/// The route's policy for it, with what an audit of a validated hit needs. Fetches the response in full without a
/// client waiting, where the share says so, no other audit of the route is under way and the origin has a connection to
/// spare; counts what that shows of the 304, and replaces what is proven wrong. Detached.
void audit_in_background(worker_state& state, std::shared_ptr<const runtime> config, const routing::route& route,
                         const std::string& key, const http::request_head& request,
                         const http::request_head& upstream_head, store::object_ptr object);

}  // namespace etagere::exchange
