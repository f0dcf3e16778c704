#include "compressing.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace etagere::exchange {

using then = coding::encoder::then;

namespace {

/// What is coded without a pause: a millisecond's work at most.
constexpr std::size_t slice = std::size_t{32} * 1024;
/// What a request waits for somebody else's work; then it gets identity, which is always right.
constexpr milliseconds patience{2000};

net::task<void> let_others_work(net::worker& on) {
    co_await net::asio::post(on.executor(), net::use_task);
}

/// Unique while `body` lives, which every waiter sees to; no cache key starts like it.
std::string flight_key(const store::shared_bytes& body, http::coding how) {
    return "coding " + std::string(http::name(how)) + " " +
           std::to_string(std::bit_cast<std::uintptr_t>((*body).data()));
}

/// Another request may have made it since `object` was looked up.
store::object_ptr made_meanwhile(store::store& kept, const std::string& key, const store::object& object,
                                 http::coding how, moment now) {
    const store::found here = kept.peek(key, now);
    const auto at = std::ranges::find_if(
        here.set, [&](const store::object_ptr& o) { return o->body == object.body && o->form(how) != nullptr; });
    return at != here.set.end() ? *at : nullptr;
}

}  // namespace

net::task<store::shared_bytes> encode(net::worker& on, http::coding how, std::string_view body) {
    const std::unique_ptr<coding::encoder> by = coding::make_encoder(how, body.size());
    if (!by) co_return nullptr;
    std::string out;
    for (std::string_view rest = body;;) {
        const bool last = rest.size() <= slice;
        if (!by->write(rest.substr(0, slice), last ? then::end : then::more, out) || out.size() >= body.size()) {
            co_return nullptr;
        }
        if (last) break;
        rest.remove_prefix(slice);
        co_await let_others_work(on);
    }
    co_return store::share(out);
}

net::task<coded_object> with_coding(worker_state& state, store::store& kept, const std::string& key,
                                    store::object_ptr object, http::coding how) {
    coded_object out{.object = object};
    const collapse_table::joined joined = state.collapse().join(flight_key(object->body, how), state.on().steady_now());
    if (joined.with && !joined.leads) {
        const std::optional<outcome> result = co_await collapse_table::wait(joined.with, state.on(), patience);
        const bool made = result && result->how == outcome::kind::published;
        if (made) out.object = store::with_bytes_of(object, *result->object);
        co_return out;
    }
    leadership lead;
    if (joined.leads) lead = leadership(state.collapse(), joined.with);
    if (const store::object_ptr made = made_meanwhile(kept, key, *object, how, state.on().now())) {
        out.object = store::with_bytes_of(object, *made);
    } else {
        const store::shared_bytes body = object->body;
        const store::shared_bytes coded = co_await encode(state.on(), how, *body);
        out.encoded = body.size();
        out.object = store::with_form(*object, how, coded);
        kept.keep_forms(key, *out.object, state.on().now());
    }
    lead.finish({outcome::kind::published, out.object, reason::none, {}});
    co_return out;
}

net::task<result<void>> coded_stream::write(std::string_view piece, then after) {
    do {
        const std::string_view part = piece.substr(0, slice);
        piece.remove_prefix(part.size());
        out_.clear();
        if (!by_->write(part, after, out_)) co_return fail(errc::internal);
        taken_ += part.size();
        given_ += out_.size();
        const result<void> sent = co_await to_.send(out_);
        if (!sent) co_return sent;
        if (!piece.empty()) co_await let_others_work(to_.on());
    } while (!piece.empty());
    co_return result<void>{};
}

}  // namespace etagere::exchange
