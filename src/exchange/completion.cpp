// What is here in part: asking for a part, and making a whole of parts (RFC 9111 §3.3, §3.4).
#include "etagere/crypto/digest.hpp"

#include "exchange.hpp"
#include "keep.hpp"
#include "searching.hpp"

namespace etagere::exchange {

/// The client's ranges, where what it wants of them is not here whole and not about to be. A stale whole is validated
/// and cut: its range alone would leave the rest as it is.
std::optional<http::range_request> exchange::part_to_ask_for() const {
    const bool whole_is_here = chosen_ && !chosen_->response.is_partial();
    if (in_full_ || whole_is_here || decision_.what == cache::reuse_action::complete) return std::nullopt;
    return cache::wanted_range(request_);
}

/// The answer to what asked for the rest. True where the client was answered. Else, with in_full_, it was of no use, or
/// it is a full answer that takes the place of the part.
net::task<bool> exchange::completed(std::unique_ptr<upstream::call>& call, moment asked) {
    if (call->head().status != 206) {
        in_full_ = call->head().status == 416 || call->head().status == 304 || call->head().status == 412;
        if (in_full_) call.reset();
        co_return false;
    }
    in_full_ = true;
    const wall_time received = state_.on().now().wall;
    const http::response_head head = cache::fill_in_fields(call->head(), chosen_->response);
    const cache::part_judgement judged = cache::judge_part(request_, head, rules(), received);
    if (!judged.may.store || judged.range != cache::missing_range(chosen_->response)) {
        call.reset();
        co_return false;
    }
    cache::stored_response rest =
        cache::make_part(request_, head, judged, rules(), asked.wall, received, crypto::sha256_hex);
    if (!cache::may_combine(chosen_->response, rest)) {
        call.reset();
        co_return false;
    }
    const result<std::string> bytes = co_await read_whole(*call, judged.range.size());
    call.reset();
    if (!bytes || bytes->size() != judged.range.size()) co_return false;
    store::object_ptr held = chosen_;
    if (!held->body) {
        auto [loaded] = co_await state_.reads().bodies.ask(kept(), key(), held);
        if (!loaded) co_return false;
        held = std::move(*loaded);
    }
    cache::combined both = cache::combine(held->response, *held->body, rest, *bytes);
    if (both.response.is_partial()) co_return false;

    both.response.known = cache::older(held->response.known, asked_under_);
    cache::collect_tags(both.response, request_, rules());
    const wall_time until = cache::keep_until(both.response, rules());
    const store::object_ptr object = store::make_object(std::move(both.response), store::share(both.body), until);
    const cache::purged purge = purge_of(*object).how;
    if (purge == cache::purged::hard) co_return false;  // meanwhile; what was here is not to be used any more
    const bool current = purge == cache::purged::no && !state_.collapse().invalidated_since(key(), asked.steady);
    const std::string keep_under = key_to_keep(*runtime_->searches, *route_, request_, object->response.header);
    if (current) kept().put(keep_under, object, rules().max_variants, state_.on().now());
    record_.stored = current;
    lead_.finish(current && judged.may.shareable ? outcome{outcome::kind::published, object, reason::miss_partial, {}}
                                                 : outcome{outcome::kind::not_shareable, {}, reason::miss_partial, {}});
    const seconds age = cache::current_age(object->response, received);
    const bool sent =
        co_await serve(object, reason::miss_partial, age, cache::freshness_lifetime(object->response, rules()) - age);
    co_return sent;
}

/// What the store has now for this request, with its body; null without. Another request may have brought more of it
/// since this one looked.
net::task<store::object_ptr> exchange::stored_now() {
    store::found found = kept().peek(key(), state_.on().now());
    if (rule_) restrict_to(found, *rule_);
    store::object_ptr now = chosen_;
    state_.candidates.clear();
    for (const store::object_ptr& o : found.set) state_.candidates.push_back(&o->response);
    const int at = cache::select_variant(state_.candidates, request_, rules(), crypto::sha256_hex);
    if (at >= 0) now = found.set[static_cast<std::size_t>(at)];
    if (!now || now->body || !now->response.is_partial()) co_return now;
    auto [loaded] = co_await state_.reads().bodies.ask(kept(), key(), now);
    if (!loaded) co_return nullptr;
    co_return std::move(*loaded);
}

}  // namespace etagere::exchange
