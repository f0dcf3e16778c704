#include "call_impl.hpp"

#include "etagere/http/h1/parser.hpp"
#include "etagere/http/h1/serializer.hpp"

#include <optional>
#include <utility>

namespace etagere::upstream {

namespace asio = net::asio;

namespace {

constexpr unsigned most_interim = 64;
constexpr std::size_t most_response_fields = 256;

milliseconds elapsed(steady_time from, steady_time to) noexcept {
    return std::chrono::duration_cast<milliseconds>(to - from);
}

/// Host where the client's own is not passed on.
void name_endpoint(http::request_head& head, const endpoint_options& e) {
    head.scheme = "http";
    if (!e.unix_path.empty()) {
        head.host = "localhost";
        head.port = 80;
        return;
    }
    const bool v6 = e.host.find(':') != std::string::npos;
    head.host = v6 ? "[" + e.host + "]" : e.host;
    head.port = e.port;
}

}  // namespace

call_impl::~call_impl() {
    call_impl::stop();
}

net::task<result<void>> call_impl::start(const call_request& request) {
    const options& o = pool_->settings();
    may_pause_ = request.may_pause;
    if (o.total_timeout.count() > 0) latest_ = now() + o.total_timeout;

    // Before a connection is taken: a client that is slow to begin must not keep others from it.
    std::string_view first;
    if (request.head->body.has_body()) {
        if (request.body == nullptr) co_return fail(errc::internal);
        const auto piece = co_await request.body->read();
        if (!piece) co_return std::unexpected(piece.error());
        first = *piece;
    }
    steady_time begun;
    bool located = false;
    bool under_way = false;
    // A kept connection is taken, looked at and used in one go.
    const auto begin = [this, &request, first, &begun, &located, &under_way] {
        begun = now();
        if (const auto here = pool_->locate_now(begun)) {
            located = true;
            to_ = *here;
            connection_ = pool_->take(to_.endpoint);
        }
        under_way = connection_ && connection_->connected();
        if (under_way) send(request, first);
    };
    co_await pool_->on().end_of_turn(begin);
    if (!connection_) {
        if (auto got = co_await wait_for_connection(located, begun); !got) co_return got;
        begun = now();
    }

    for (;; under_way = false) {
        ++facts_.attempts;
        result<void> done;
        if (!under_way && !connection_->connected()) {
            done = co_await connect();
            begun = now();
        }
        if (done && !under_way) send(request, first);
        if (done) done = co_await await_answer(request, begun);
        if (done) break;
        if (facts_.attempts >= o.attempts || !may_repeat(*request.head, done.error())) {
            drop();
            co_return done;
        }
        pool_->shared().retries.fetch_add(1, std::memory_order_relaxed);
        // A new connection in the place of the dead one: the other kept ones may be as dead.
        upload_.reset();
        connection_->disconnect();
        if (const auto next = pool_->locate_now(now())) to_ = *next;
    }
    head_here_ = true;
    if (switched_) co_return result<void>{};
    decoder_.start(head_.body);
    if (decoder_.done()) {
        if (sending()) co_await upload_->stop();
        settle();
    }
    co_return result<void>{};
}

net::task<result<void>> call_impl::wait_for_connection(bool located, steady_time begun) {
    const options& o = pool_->settings();
    if (!located) {
        const auto found = co_await pool_->locate(by(begun, o.queue_timeout));
        if (!found) co_return std::unexpected(found.error());
        to_ = *found;
        connection_ = pool_->take(to_.endpoint);
    }
    if (!connection_) {
        auto got = co_await pool_->wait(by(begun, o.queue_timeout));
        if (!got) co_return std::unexpected(got.error());
        connection_ = std::move(*got);
        if (connection_->connected() && !connection_->quiet()) connection_->disconnect();
    }
    facts_.queued = elapsed(begun, now());
    co_return result<void>{};
}

net::task<result<void>> call_impl::connect() {
    shared_state& shared = pool_->shared();
    const steady_time begun = now();
    shared.connects.fetch_add(1, std::memory_order_relaxed);
    auto done = co_await connection_->connect(to_, by(begun, pool_->settings().connect_timeout));
    facts_.connecting += elapsed(begun, now());
    if (!done) {
        shared.connect_failures.fetch_add(1, std::memory_order_relaxed);
        shared.addresses.failed(to_, now());
    }
    co_return done;
}

net::task<result<void>> call_impl::await_answer(const call_request& request, steady_time begun) {
    const result<void> head = co_await await_head(request, begun);
    if (upload_) upload_->answered();
    facts_.first_byte = elapsed(begun, now());
    // A refusal wants no more of the body; an answer that comes as the request goes may be made of it.
    if (sending() && (!head || head_.status >= 300)) co_await upload_->stop();
    facts_.bytes_sent += sent();
    if (!head) co_return std::unexpected(blame(head.error()));
    co_return result<void>{};
}

void call_impl::send(const call_request& request, std::string_view first) {
    const options& o = pool_->settings();
    facts_.endpoint = o.endpoints[connection_->endpoint].text;
    ++connection_->requests;
    answered_ = false;
    write_head(*request.head);
    sent_at_once_ = 0;
    if (!request.head->body.has_body()) {
        // Nearly always the kernel takes it all. What else may be is for the upload to find out.
        error_code ignored;
        std::string& out = connection_->output;
        sent_at_once_ = connection_->socket().write_some(asio::buffer(out), ignored);
        if (sent_at_once_ == out.size()) return;
        out.erase(0, sent_at_once_);
    }
    upload_ = std::make_shared<upload>(connection_, request.body, request.head->body, o.read_timeout);
    upload_->start(first, o.first_byte_timeout, latest_);
}

void call_impl::write_head(const http::request_head& head) {
    std::string& out = connection_->output;
    out.clear();
    if (pool_->settings().preserve_host) {
        http::h1::write_request_head(out, head);
    } else {
        http::request_head named = head;
        name_endpoint(named, pool_->settings().endpoints[connection_->endpoint]);
        http::h1::write_request_head(out, named);
    }
}

net::task<result<void>> call_impl::await_head(const call_request& request, steady_time begun) {
    const options& o = pool_->settings();
    // None while the request is still on its way.
    std::optional<steady_time> until;
    if (!sending()) until = by(begun, o.first_byte_timeout);
    for (;;) {
        const result<bool> here = parse_head(request);
        if (!here) co_return std::unexpected(here.error());
        if (!*here) {
            if (!until && !sending()) until = by(now(), o.first_byte_timeout);
            const bool some = !connection_->input.unread().empty();
            const auto got = co_await connection_->receive(some ? o.response_head_bytes : receive_buffer::small,
                                                           until.value_or(latest_));
            if (got.ec) co_return std::unexpected(got.ec);
            answered_ = true;
            facts_.bytes_received += got.count;
            continue;
        }
        if (head_.status >= 200) co_return result<void>{};
        if (head_.status == 101) {
            // RFC 9110 §15.2.2: only to what the request offered.
            if (request.head->upgrade.empty()) co_return fail(errc::upstream_bad_response);
            switched_ = true;
            co_return result<void>{};
        }
        if (++interim_ > most_interim) co_return fail(errc::upstream_bad_response);
        const bool unasked = head_.status == 100 && !request.head->header.has(http::field_id::expect);
        if (request.on_interim && !unasked) co_await request.on_interim(head_);
        until.reset();
    }
}

/// False: more has to come first.
result<bool> call_impl::parse_head(const call_request& request) {
    const std::string_view in = connection_->input.unread();
    if (in.empty()) return false;
    const std::size_t most = pool_->settings().response_head_bytes;
    const http::h1::head_limits limits{
        .header_bytes = most, .fields = most_response_fields, .foreign_codings = request.foreign_codings};
    const auto used = pool_->parser().parse(in, limits, request.head->verb, head_);
    if (!used) return std::unexpected(used.error());
    if (*used == 0 && in.size() >= most) return fail(errc::upstream_head_too_large);
    connection_->input.consume(*used);
    return *used > 0;
}

/// The error of an attempt whose request is no longer on its way.
error_code call_impl::blame(const error_code& ec) const noexcept {
    if (upload_ && upload_->why()) return upload_->why();
    if (ec.category() == etagere_category()) return ec;
    if (ec == asio::error::timed_out) return make_error_code(late(errc::upstream_first_byte_timeout));
    return make_error_code(kept() && !answered_ ? errc::upstream_closed_idle : errc::upstream_closed);
}

bool call_impl::may_repeat(const http::request_head& head, const error_code& why) const noexcept {
    if (now() >= latest_) return false;
    if (nothing_was_sent(why)) return true;
    // RFC 9112 §9.3.1, RFC 9110 §9.2.2.
    const bool died = why == errc::upstream_closed_idle || why == errc::upstream_closed;
    if (!died) return false;
    if (sent() == 0) return true;
    return why == errc::upstream_closed_idle && http::is_idempotent(head.verb) && !head.body.has_body();
}

net::task<result<std::string_view>> call_impl::read() {
    const options& o = pool_->settings();
    while (!decoder_.done()) {
        if (!connection_) co_return fail(errc::upstream_truncated);
        const std::string_view in = connection_->input.unread();
        if (!in.empty()) {
            const auto step = decoder_.decode(in);
            if (!step) {
                drop();
                co_return fail(errc::upstream_bad_response);
            }
            connection_->input.consume(step->consumed);
            if (!step->content.empty()) co_return step->content;
            continue;
        }
        const bool is_long =
            decoder_.remaining() > receive_buffer::small || facts_.bytes_received > receive_buffer::large;
        const auto got = co_await connection_->receive(is_long ? receive_buffer::large : receive_buffer::small,
                                                       may_pause_ ? latest_ : by(now(), o.read_timeout));
        facts_.bytes_received += got.count;
        if (!got.ec) continue;
        if (got.ec == asio::error::eof && decoder_.end_of_input()) break;
        const bool slow = got.ec == asio::error::timed_out;
        drop();
        co_return fail(slow ? late(errc::upstream_idle_timeout) : errc::upstream_truncated);
    }
    if (connection_) {
        if (sending()) co_await upload_->stop();
        settle();
    }
    co_return std::string_view{};
}

std::optional<std::string_view> call_impl::whole() noexcept {
    if (ended()) return std::string_view{};
    const bool all_here = head_here_ && connection_ && !sending() && head_.body.how == http::framing::kind::length &&
                          decoder_.remaining() == head_.body.length &&
                          connection_->input.unread().size() >= head_.body.length;
    if (!all_here) return std::nullopt;
    const auto step = decoder_.decode(connection_->input.unread());
    if (!step) return std::nullopt;
    connection_->input.consume(step->consumed);
    return step->content;
}

const http::fields* call_impl::trailers() const noexcept {
    return decoder_.done() && !decoder_.trailers().empty() ? &decoder_.trailers() : nullptr;
}

http::response_head call_impl::take_head() noexcept {
    http::response_head out = std::move(head_);
    head_.header.clear();
    return out;
}

net::stream_socket call_impl::take_socket(std::string& early, std::shared_ptr<void>& released) {
    early = connection_->input.unread();
    released = std::make_shared<permit>(connection_->take_permit());
    net::stream_socket out = std::move(connection_->socket());
    connection_.reset();
    return out;
}

/// The answer is complete.
void call_impl::settle() {
    if (!connection_) return;
    // Bytes behind the answer belong to nobody: whoever came next would take them for its own (S123).
    const bool again = head_.keep_alive && (!upload_ || upload_->complete()) && connection_->input.unread().empty();
    if (again) {
        pool_->give_back(std::move(connection_));
    } else {
        connection_->close();
    }
    connection_.reset();
}

void call_impl::drop() noexcept {
    if (sending()) upload_->abandon();
    if (connection_) connection_->close();
    connection_.reset();
}

}  // namespace etagere::upstream
