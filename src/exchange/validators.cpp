// What a validation offers to the origin, and the 304s that are not for the response that was to be validated.
#include "etagere/crypto/digest.hpp"

#include "delivery.hpp"
#include "exchange.hpp"
#include "keep.hpp"

namespace etagere::exchange {

std::vector<const cache::stored_response*> exchange::variants() const {
    std::vector<const cache::stored_response*> all;
    for (const store::object_ptr& o : found_.set) all.push_back(&o->response);
    return all;
}

/// Nothing is offered where the whole answer is wanted: the store has none, or has lost its body.
cache::tag_offer exchange::make_offer() const {
    const bool validates = decision_.what == cache::reuse_action::validate && chosen_;
    // A HEAD for what is not here fills the cache, as a GET.
    const bool may_select_another =
        decision_.why == reason::miss_vary && !chosen_ && request_.verb != http::method::head;
    if (in_full_ || (!validates && !may_select_another) || (alone_ && !validates)) return {};
    return cache::make_offer(chosen_ ? &chosen_->response : nullptr, variants(), &request_, rules(), crypto::sha256_hex,
                             memory().form(state_.on().steady_now()));
}

cache::offer_verdict exchange::judge(const cache::tag_offer& offer, const http::response_head& answer) {
    const cache::stored_response* const chosen = chosen_ ? &chosen_->response : nullptr;
    const cache::offer_form form = cache::learn(offer, chosen, answer);
    if (form != offer.form) memory().learned(form, state_.on().steady_now());
    return cache::judge_offer(offer, chosen, variants(), request_, answer, rules(), crypto::sha256_hex);
}

/// RFC 9111 §4.3.3: the origin selects, for this request, what another request had brought. From now on it is this
/// one's too.
net::task<bool> exchange::serve_variant(std::size_t at, std::unique_ptr<upstream::call>& call, moment asked) {
    store::object_ptr object = found_.set[at];
    if (object->response.is_partial()) {  // it may not hold what this request wants
        call.reset();
        in_full_ = true;
        co_return false;
    }
    const wall_time received = state_.on().now().wall;
    cache::stored_response fresh = cache::freshen(object->response, call->head(), rules(), asked.wall, received);
    cache::reselect(fresh, request_, rules(), crypto::sha256_hex);
    fresh.known = asked_under_;
    cache::collect_tags(fresh, request_, rules());
    call.reset();  // the connection is free for others while this client is served
    if (!object->body) {
        auto [whole] = co_await state_.reads().bodies.ask(kept(), key(), object);
        if (!whole) {
            in_full_ = true;
            co_return false;
        }
        object = std::move(*whole);
    }
    const wall_time until = cache::keep_until(fresh, rules());
    object = store::make_object(std::move(fresh), object->body, until);
    if (!state_.collapse().invalidated_since(key(), asked.steady) && purge_of(*object).how == cache::purged::no) {
        kept().put(key(), object, rules().max_variants, state_.on().now());
        record_.freshened = true;
    }
    lead_.finish(cache::may_answer_others(object->response, rules())
                     ? outcome{outcome::kind::published, object, reason::revalidated, {}}
                     : outcome{outcome::kind::not_shareable, {}, reason::revalidated, {}});
    const seconds age = cache::current_age(object->response, received);
    const seconds ttl = cache::freshness_lifetime(object->response, rules()) - age;
    const bool sent = co_await serve(object, reason::revalidated, age, ttl);
    co_return sent;
}

/// RFC 9111 §4.3.4: the 304 updates nothing that is stored. It says, though, that what is stored is outdated: that is
/// forgotten, so that the next request brings the whole, and not one 304 after the other leaves the cache as it is.
net::task<void> exchange::pass_not_modified(upstream::call& call, moment asked) {
    kept().erase(key(), state_.on().now());
    record_.why = reason::revalidated_changed;
    record_.not_modified = true;
    lead_.finish({outcome::kind::not_shareable, {}, record_.why, {}});
    delivery d(*this, call, asked, delivery::keeping::no);
    co_await d.run();
}

}  // namespace etagere::exchange
