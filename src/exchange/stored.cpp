// Answering from the store, and asking its remote levels from a coroutine.
#include "compressing.hpp"
#include "exchange.hpp"
#include "keep.hpp"

#include <boost/asio/post.hpp>

namespace etagere::exchange {

namespace {

/// Turns a completion that may come on any thread into one on this worker.
template <class T, class Start> net::task<T> on_worker(net::worker& on, Start start) {
    auto answer = net::asio::async_initiate<const net::use_task_t, void(T)>(
        [&on, start = std::move(start)](auto handler) mutable {
            start([&on, handler = std::move(handler)](T value) mutable {
                net::asio::post(on.executor(), [handler = std::move(handler), value = std::move(value)]() mutable {
                    std::move(handler)(std::move(value));
                });
            });
        },
        net::use_task);
    auto [value] = co_await std::move(answer);
    co_return std::move(value);
}

}  // namespace

net::task<result<store::found>> load(store::store& from, net::worker& on, const std::string& key) {
    auto start = [&](store::store::found_handler done) { from.load(key, on.now(), std::move(done)); };
    result<store::found> out = co_await on_worker<result<store::found>>(on, std::move(start));
    co_return out;
}

net::task<result<store::found>> inspect(store::store& from, net::worker& on, const std::string& key) {
    auto start = [&](store::store::found_handler done) { from.inspect(key, on.now(), std::move(done)); };
    result<store::found> out = co_await on_worker<result<store::found>>(on, std::move(start));
    co_return out;
}

net::task<result<store::object_ptr>> load_body(store::store& from, net::worker& on, const std::string& key,
                                               store::object_ptr head) {
    auto start = [&](store::store::body_handler done) { from.load_body(key, head, on.now(), std::move(done)); };
    result<store::object_ptr> out = co_await on_worker<result<store::object_ptr>>(on, std::move(start));
    co_return out;
}

net::task<bool> exchange::serve(store::object_ptr object, reason why, seconds age, seconds ttl) {
    std::vector<const cache::stored_response*> others;
    if (rules().repair_suffix) others = variants();
    const stored_answer planned = plan(*object, request_, rules(), state_.on().now().wall, others);
    if (!planned.usable) co_return false;
    if (planned.needs_body) {
        const steady_time before = state_.on().now().steady;
        result<store::object_ptr> whole = co_await load_body(kept(), state_.on(), key_, object);
        record_.store_us += static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(state_.on().now().steady - before).count());
        if (!whole) co_return false;
        object = std::move(*whole);
    }
    if (planned.needs_form && object->form(planned.coding) == nullptr) {
        const coded_object coded = co_await with_coding(state_, kept(), key_, object, planned.coding);
        object = coded.object;
        record_.encoded_bytes = coded.encoded;
    }
    record_.why = cache::served_as(why, planned.condition);
    record_.age_s = age.count();
    record_.ttl_s = ttl.count();
    record_.has_ttl = true;
    record_.entity_bytes = object->response.body_size;
    record_.not_modified = planned.condition == cache::precondition::not_modified;
    net::immediate_answer a;
    std::string cache_status;
    if (route_->cache_status) observe::append_cache_status(cache_status, record_);
    const bool several = planned.range.what == cache::range_answer::kind::several;
    fill_from_object(a, object, planned, age, cache_status, several ? state_.new_request_id() : std::string{});
    record_.status = a.status;
    record_.ttfb_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(state_.on().now().steady - t_.started().steady).count());
    const result<void> sent = co_await t_.answer(a);
    if (!sent) record_.error = error_name(sent.error());
    note_form(record_, *object, a);
    etag_out_ = record_.etag_out;
    record_.etag_out = etag_out_;
    co_return true;
}

}  // namespace etagere::exchange
