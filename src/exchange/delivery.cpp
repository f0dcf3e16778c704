#include "delivery.hpp"

#include "etagere/cache/compression.hpp"
#include "etagere/http/date.hpp"

#include "forwarding.hpp"
#include "keep.hpp"

#include <algorithm>

namespace etagere::exchange {

using http::field_id;

namespace {

/// What is worth reading of a body that nobody wants, so that the connection to the origin can be kept.
constexpr std::uint64_t most_dropped = std::uint64_t{256} * 1024;

}  // namespace

delivery::delivery(exchange& of, upstream::call& call, moment asked, keeping keep)
    : delivery(of, call, asked, keep, {&of.request_, of.route_, &of.flight_key()}) {}

delivery::delivery(exchange& of, upstream::call& call, moment asked, keeping keep, subject about)
    : of_(of),
      call_(call),
      head_(call.take_head()),
      asked_(asked),
      received_(of.state_.on().now().wall),
      keep_(keep),
      about_(about),
      held_too_long_(of.state_.on().deadlines(), [this] {
          if (released_ || releasing_) return;
          releasing_ = true;
          release_done_ = std::make_unique<net::steady_timer>(of_.state_.on().io(), steady_time::max());
          net::spawn(of_.state_.on().executor(), release(), [this](const std::exception_ptr&) {
              releasing_ = false;
              release_done_->cancel();
          });
      }) {}

net::task<void> delivery::run() {
    is_stream_ = cache::is_stream(head_);
    judge();
    complete_response(head_, received_);
    choose_coding();
    of_.record_.status = head_.status;
    tell_etag(head_.header.get(field_id::etag));
    const bool holds = hold();
    // A small answer mostly comes in one piece, head and body.
    if (holds || passes_as_it_is()) {
        if (const auto body = call_.whole()) {
            if (holds && storing_) {
                bytes_ = *body;
                call_.stop();  // the connection is free for others
                co_await complete();
            } else if (holds) {
                here_ = *body;
                co_await complete();
            } else {
                co_await pass_whole(*body);
            }
            co_return;
        }
    }
    if (holds) {
        held_too_long_.arm(of_.state_.on().steady_now() + rules().etag_max_hold);
    } else {
        co_await release();
    }
    const bool whole = co_await relay();
    held_too_long_.disarm();
    // A release that was started by the clock uses this object: it has to end before anything else happens to it.
    while (releasing_) (void)co_await release_done_->async_wait(net::use_task);
    if (whole) co_await complete();
}

void delivery::judge() {
    const bool judged = keep_ == keeping::yes || keep_ == keeping::for_get ||
                        (keep_ == keeping::unless_head && of_.request_.verb != http::method::head);
    if (!judged) return;
    if (keep_ == keeping::unless_head && head_.status == 304) {  // to the client's own condition
        of_.record_.why = reason::nostore_hit_for_miss;
        return;
    }
    if (of_.part_ && head_.status == 206) {
        part_ = cache::judge_part(of_.request_, head_, rules(), received_);
        judged_ = part_->may;
    } else {
        judged_ = cache::judge_storability(*about_.request, head_, rules(), received_);
    }
    storing_ = judged_.store;
    if (storing_) came_ = head_;
    if (keep_ == keeping::for_get) return;  // an unsafe request's record says what it did: invalidated
    // RFC 9110 §14.3: from the store, ranges can be had.
    const bool offers_ranges = storing_ && head_.status == 200 && cache::may_be_cut(head_.status, head_.header);
    if (offers_ranges && !head_.header.has(field_id::accept_ranges)) {
        head_.header.append(field_id::accept_ranges, "bytes");
    }
    tagging_ = cache::wants_own_etag(of_.request_, head_, rules());
    if (!storing_) give_up_storing(judged_.why);
}

void delivery::choose_coding() {
    if (!cache::codes_answers(of_.rules())) return;
    if (head_.status == 304) cache::echo_held_tag(head_.header, of_.request_.header);
    // What is kept for one user is that user's secret (BREACH).
    if (judged_.always_validate || !cache::may_code(head_, of_.rules())) return;
    cache::vary_on_accept_encoding(head_.header);
    if (cache::wanted_range(of_.request_)) return;  // ranges are of what is stored
    const std::string_view governing = cache::governing_field(head_.header, of_.rules().targeted);
    coding_ = cache::coding_for(of_.request_, cache::parse_response_directives(head_.header, governing), of_.rules());
}

void delivery::give_up_storing(reason why) {
    storing_ = of_.record_.stored = false;
    if (keep_ == keeping::for_get) return;
    of_.record_.why = why;
    of_.lead_.finish({outcome::kind::not_shareable, {}, why, {}});
    if (head_.status >= 500) return;
    // What is known and new is not told again with every answer: the memory of a busy key is a little older than it.
    const milliseconds how_long = rules().hit_for_miss;
    const steady_time now = of_.state_.on().steady_now();
    if (of_.not_kept_.why == why && of_.not_kept_.until > now + how_long * 7 / 8) return;
    of_.state_.collapse().remember_not_kept(*of_.join_key_, now, how_long, why);
}

bool delivery::hold() const noexcept {
    if (keep_ == keeping::no || is_stream_) return false;
    if (!head_.body.has_body()) return storing_ || tagging_;
    if (head_.body.how == http::framing::kind::length && head_.body.length > rules().etag_max_body) return false;
    return storing_ || tagging_;
}

bool delivery::passes_as_it_is() const noexcept {
    return !judged_.store && !tagging_ && coding_ == http::coding::identity;
}

net::task<void> delivery::pass_whole(std::string_view body) {
    released_ = true;
    const cache::precondition met = condition();
    add_cache_status();
    if (met != cache::precondition::proceed) {
        co_await send_condition_answer(met);
        co_return;
    }
    const result<void> sent = co_await of_.t_.send_whole(head_, body);
    first_byte();
    if (!sent) of_.record_.error = error_name(sent.error());
}

net::task<bool> delivery::relay() {
    for (;;) {
        // A client that left a stream will never see its end, nor would we.
        if (muted_ && !storing_ && (gone_ || dropped_ > most_dropped)) {
            call_.stop();
            co_return true;
        }
        const result<std::string_view> piece = co_await call_.read();
        while (releasing_) (void)co_await release_done_->async_wait(net::use_task);
        if (!piece) {
            co_await broken(piece.error());
            co_return false;
        }
        if (piece->empty()) co_return true;
        co_await take(*piece);
    }
}

net::task<void> delivery::take(std::string_view piece) {
    const std::uint64_t size = bytes_.size() + piece.size();
    if (storing_ && size > rules().max_object) give_up_storing(reason::nostore_too_large);
    const bool hold_on = !released_ && (storing_ || tagging_) && size <= rules().etag_max_body;
    if (!hold_on && !released_) co_await release();
    if (!released_ || storing_) bytes_ += piece;
    if (released_ && !muted_) {
        result<void> sent = co_await send_content(piece);
        if (sent && is_stream_) sent = co_await of_.t_.flush();
        if (!sent) {
            of_.record_.error = error_name(sent.error());
            muted_ = gone_ = true;
        }
    }
    if (muted_ && !storing_) dropped_ += piece.size();
    if (released_ && !storing_) {
        bytes_.clear();
        bytes_.shrink_to_fit();
    }
}

/// The record outlives this object.
void delivery::tell_etag(std::string_view etag) {
    of_.etag_out_ = etag;
    of_.record_.etag_out = of_.etag_out_;
}

void delivery::first_byte() noexcept {
    of_.record_.ttfb_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(of_.state_.on().steady_now() - of_.t_.started().steady)
            .count());
}

void delivery::add_cache_status() {
    if (!of_.route_->cache_status) return;
    of_.record_.stored = of_.record_.stored || (storing_ && !of_.store_failed_);
    std::string& value = of_.state_.cache_status;
    value.clear();
    if (const auto others = head_.header.combined(field_id::cache_status); others && !others->empty()) {
        value.append(*others).append(", ");  // RFC 9211 §2: the cache nearest the client is last
    }
    observe::append_cache_status(value, of_.record_);
    head_.header.set(field_id::cache_status, value);
}

cache::precondition delivery::condition() const noexcept {
    if (keep_ == keeping::no || keep_ == keeping::for_get) return cache::precondition::proceed;
    if (!cache::has_precondition(of_.request_.header)) return cache::precondition::proceed;
    const std::string etag(head_.header.get(field_id::etag));
    const auto modified = http::parse_date(head_.header.get(field_id::last_modified), received_);
    return cache::evaluate_preconditions(of_.request_, head_.status, etag, modified, rules(), received_);
}

net::task<void> delivery::send_condition_answer(cache::precondition condition) {
    http::response_head out;
    out.status = condition == cache::precondition::not_modified ? 304 : 412;
    out.reason = http::status_phrase(out.status);
    const bool tagged = head_.header.has(field_id::etag);
    for (const http::fields::entry f : head_.header) {
        const bool wanted = f.id == field_id::via || f.id == field_id::cache_status || f.id == field_id::set_cookie ||
                            (out.status == 304 && cache::belongs_in_not_modified(f, tagged));
        if (wanted) (void)out.header.add(f.name, f.value);
    }
    if (out.status == 412) out.body = http::framing::of_length(0);
    if (coding_ != http::coding::identity && tagged && out.status == 304) {
        out.header.set(field_id::etag, cache::weak_form(out.header.get(field_id::etag)));
        tell_etag(out.header.get(field_id::etag));
    }
    of_.record_.status = out.status;
    of_.record_.not_modified = out.status == 304;
    muted_ = true;
    result<void> sent = co_await of_.t_.send_head(out);
    if (sent) sent = co_await of_.t_.finish(nullptr);
    first_byte();
}

cache::range_answer delivery::wanted(std::uint64_t length) const noexcept {
    // An answer that is not for the store is the origin's own affair, its ranges included.
    if (!judged_.store || head_.status != 200 || !cache::may_be_cut(head_.status, head_.header)) return {};
    return cache::answer_range(of_.request_, cache::validators_of(head_.header, received_), length);
}

net::task<result<void>> delivery::send_content(std::string_view piece) {
    const http::byte_range here{sent_, sent_ + piece.size() - 1};
    sent_ += piece.size();
    if (cut_) {
        if (cut_->last < here.first || here.last < cut_->first) co_return result<void>{};
        const std::uint64_t first = std::max(cut_->first, here.first);
        const std::uint64_t last = std::min(cut_->last, here.last);
        piece = piece.substr(first - here.first, last - first + 1);
    }
    result<void> sent = co_await send(piece);
    if (sent && cut_ && cut_->last <= here.last) {
        sent = co_await of_.t_.finish(nullptr);
        muted_ = true;
    }
    co_return sent;
}

net::task<void> delivery::release() {
    released_ = true;
    const cache::precondition met = condition();
    add_cache_status();
    if (met != cache::precondition::proceed) {
        co_await send_condition_answer(met);
        co_return;
    }
    if (coding_ != http::coding::identity) start_coding();
    if (coding_ == http::coding::identity && head_.body.how == http::framing::kind::length) {
        const cache::range_answer range = wanted(head_.body.length);
        if (range.what == cache::range_answer::kind::single) cut_ = range.ranges[0];
        if (cut_ || range.what == cache::range_answer::kind::unsatisfiable) cut_head(head_, range);
        of_.record_.status = head_.status;
    }
    result<void> sent = co_await of_.t_.send_head(head_);
    if (sent && !bytes_.empty()) sent = co_await send_content(bytes_);
    // The head of what is a stream, or may be one for its length is not known, goes out now. Others travel with their
    // first piece.
    const bool streams = rules().stream || is_stream_ ||
                         (head_.body.how != http::framing::kind::length && head_.body.how != http::framing::kind::none);
    if (sent && (streams || releasing_)) sent = co_await of_.t_.flush();
    first_byte();
    if (!muted_ && (of_.request_.verb == http::method::head || !head_.body.has_body())) {
        if (sent) sent = co_await of_.t_.finish(nullptr);
        muted_ = true;
    }
    if (!sent) {
        of_.record_.error = error_name(sent.error());
        muted_ = gone_ = true;
    }
}

net::task<void> delivery::complete() {
    // A 206 that does not keep what its Content-Range promised is the client's to judge, and nobody else's.
    if (storing_ && part_ && bytes_.size() != part_->range.size()) give_up_storing(reason::pass_range);
    if ((storing_ || !released_) && tagging_) own_etag_ = etag_for(content(), head_.header, rules());
    if (!released_) {
        co_await send_whole();
        co_return;
    }
    if (storing_) co_await publish(take_bytes());
    if (!muted_) {
        result<void> sent{};
        http::fields trailers;
        if (call_.trailers() != nullptr) trailers = *call_.trailers();
        if (stream_) {
            sent = co_await stream_->end();
            cache::drop_digests(trailers);
            of_.record_.coding = coding_;
            of_.record_.uncoded_bytes = of_.record_.encoded_bytes = stream_->taken();
            of_.record_.coded_bytes = stream_->given();
        }
        if (sent) sent = co_await of_.t_.finish(&trailers);
        if (!sent) of_.record_.error = error_name(sent.error());
    }
}

store::shared_bytes delivery::take_bytes() {
    store::shared_bytes taken = store::share(bytes_);
    bytes_ = std::string();  // a slow client does not keep them twice
    return taken;
}

net::task<store::object_ptr> delivery::publish(store::shared_bytes body) {
    storing_ = false;
    const answer_to_keep answer{about_.request,          &came_, std::move(body), own_etag_,
                                judged_.always_validate, asked_, received_,       of_.asked_under_};
    store::object_ptr object;
    if (!part_) {
        object = keep(of_.state_, *of_.runtime_, *about_.route, *about_.key, answer);
    } else {
        const store::object_ptr held = co_await of_.stored_now();
        object = keep_part(of_.state_, *of_.runtime_, *about_.route, *about_.key, answer, *part_, held, of_.key());
    }
    // What arrived older than its lifetime, and cannot be asked about, is forgotten at once.
    of_.record_.stored = object && object->keep_until > received_ && !of_.store_failed_;
    of_.record_.ignored = of_.record_.stored && came_.header.has(field_id::set_cookie) &&
                          !object->response.header.has(field_id::set_cookie);
    if (object && judged_.shareable) {
        of_.lead_.finish({outcome::kind::published, object, of_.record_.why, {}});
    } else if (!object) {
        of_.lead_.finish({});  // outdated while it was on its way: those who wait ask again, together
    } else {
        of_.lead_.finish({outcome::kind::not_shareable, {}, of_.record_.why, {}});
    }
    co_return object;
}

void delivery::start_coding() {
    const bool known = head_.body.how == http::framing::kind::length;
    auto by = coding::make_encoder(coding_, known ? std::optional(head_.body.length) : std::nullopt);
    if (!by) return;
    cache::describe_coding(head_.header, coding_);
    tell_etag(head_.header.get(field_id::etag));
    head_.declared_length = -1;
    if (!head_.body.has_body()) return;  // HEAD
    head_.body = http::framing::chunked();
    stream_.emplace(of_.t_, std::move(by));
}

net::task<result<void>> delivery::send(std::string_view piece) {
    return stream_ ? stream_->send(piece) : of_.t_.send(piece);
}

net::task<store::shared_bytes> delivery::coded(store::object_ptr object, std::string_view body) {
    store::shared_bytes made;
    if (object) {
        const coded_object kept = co_await with_coding(of_.state_, of_.kept(), of_.key(), object, coding_);
        of_.record_.encoded_bytes = kept.encoded;
        const store::coded_form* const form = kept.object->form(coding_);
        if (form != nullptr) made = form->body;
    } else {
        made = co_await encode(of_.state_.on(), coding_, body);
        of_.record_.encoded_bytes = body.size();
    }
    if (!made) co_return made;
    cache::describe_coding(head_.header, coding_);
    head_.declared_length = -1;
    tell_etag(head_.header.get(field_id::etag));
    of_.record_.coding = coding_;
    of_.record_.uncoded_bytes = body.size();
    of_.record_.coded_bytes = made.size();
    co_return made;
}

net::task<void> delivery::send_whole() {
    released_ = true;
    if (!own_etag_.empty()) {
        head_.header.set(field_id::etag, own_etag_);
        tell_etag(own_etag_);
    }
    const cache::precondition met = condition();
    store::object_ptr object;
    store::shared_bytes kept;
    if (storing_) {
        kept = take_bytes();
        object = co_await publish(kept);  // first: others wait for it, and need not wait for this client
    }
    std::string_view body = kept ? *kept : content();
    if (body.size() < of_.rules().compress_above) coding_ = http::coding::identity;
    add_cache_status();
    if (met != cache::precondition::proceed) {
        co_await send_condition_answer(met);
        co_return;
    }
    store::shared_bytes form;
    if (coding_ != http::coding::identity) form = co_await coded(object, body);
    if (form) body = *form;
    if (head_.body.how != http::framing::kind::none) head_.body = http::framing::of_length(body.size());
    std::string assembled;
    const cache::range_answer range = wanted(body.size());
    const bool several = range.what == cache::range_answer::kind::several;
    const std::string boundary = several ? of_.state_.new_request_id() : std::string{};
    const std::string_view content = cut(head_, range, body, assembled, boundary);
    of_.record_.status = head_.status;
    const result<void> sent = co_await of_.t_.send_whole(head_, content);
    first_byte();
    if (!sent) of_.record_.error = error_name(sent.error());
}

net::task<void> delivery::broken(error_code ec) {
    storing_ = false;
    of_.record_.error = error_name(ec);
    if (!released_) {
        of_.record_.why = reason::nostore_incomplete;
        const bool stale = co_await of_.serve_on_error(cache::origin_failure::no_answer);
        if (!stale) co_await of_.send_error(ec);
    } else if (!muted_) {
        of_.t_.abort();  // visibly cut: the client must not take it for the whole (RFC 9112 §8)
    }
    of_.record_.stored = false;
    of_.lead_.finish({});
}

}  // namespace etagere::exchange
