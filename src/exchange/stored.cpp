// Answering from the store.
#include "compressing.hpp"
#include "exchange.hpp"
#include "keep.hpp"

namespace etagere::exchange {

net::task<bool> exchange::serve(store::object_ptr object, reason why, seconds age, seconds ttl) {
    std::vector<const cache::stored_response*> others;
    if (rules().repair_suffix) others = variants();
    const stored_answer planned = plan(*object, request_, rules(), state_.on().now().wall, others);
    if (!planned.usable) co_return false;
    if (planned.needs_body) {
        const steady_time before = state_.on().steady_now();
        auto [whole] = co_await state_.reads().bodies.ask(kept(), key(), object);
        record_.store_us += static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(state_.on().steady_now() - before).count());
        if (!whole) co_return false;
        object = std::move(*whole);
    }
    if (planned.needs_form && object->form(planned.coding) == nullptr) {
        const coded_object coded = co_await with_coding(state_, kept(), key(), object, planned.coding);
        object = coded.object;
        record_.encoded_bytes = coded.encoded;
    }
    record_.why = cache::served_as(why, planned.condition);
    record_.age_s = age.count();
    record_.ttl_s = ttl.count();
    record_.has_ttl = true;
    record_.entity_bytes = object->response.body_size;
    record_.not_modified = planned.condition == cache::precondition::not_modified;
    net::immediate_answer& a = t_.blank_answer();
    std::string cache_status;
    if (route_->cache_status) observe::append_cache_status(cache_status, record_);
    const bool several = planned.range.what == cache::range_answer::kind::several;
    fill_from_object(a, object, planned, age, cache_status, several ? state_.new_request_id() : std::string{});
    record_.status = a.status;
    record_.ttfb_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(state_.on().steady_now() - t_.started().steady).count());
    const result<void> sent = co_await t_.answer(a);
    if (!sent) record_.error = error_name(sent.error());
    note_form(record_, *object, a);
    etag_out_ = record_.etag_out;
    record_.etag_out = etag_out_;
    co_return true;
}

}  // namespace etagere::exchange
