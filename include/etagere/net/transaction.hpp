// One request on a client connection, as its codec hands it to a handler: the canonical head, the body to pull, and the
// ways to answer. The same interface for HTTP/1 and later codecs, for the proxy and for the admin listener.
#pragma once

#include "etagere/base/pin.hpp"
#include "etagere/base/reason.hpp"
#include "etagere/base/result.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/http/message.hpp"
#include "etagere/net/asio.hpp"
#include "etagere/net/body.hpp"
#include "etagere/net/worker.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace etagere::net {

/// Who is at the other end. Lives as long as the connection.
struct peer_info {
    std::string address;               // "192.0.2.1", "2001:db8::1" without brackets, "unix"
    std::string listener;              // name from the settings
    std::uint32_t listener_label = 0;  // its index in the metrics
    std::uint16_t local_port = 0;
    bool trusted = false;  // may set X-Forwarded-* (settings: trusted_proxies)
};

/// Where bytes lie in a file as well: the kernel sends its pages without a copy.
struct file_place {
    int descriptor = -1;  // no file
    std::uint64_t at = 0;
};

/// An answer that needs nothing but bytes at hand: a memory hit, a 304, a canned error. Views must live until `pin` is
/// released; `dynamic` is scratch that the connection owns and reuses.
struct immediate_answer {
    int status = 200;
    std::string_view start;  // status line and prebuilt header
    std::string dynamic;     // Age, Cache-Status … complete field lines made for this request
    http::framing how;
    std::int64_t declared_length = -1;  // Content-Length where no body follows
    std::string_view body;
    file_place file;     // of `body`
    etagere::pin pin;    // keeps start and body alive until they are written
    bool close = false;  // end the connection after it

    // What the handler notes for wrote_now(); the connection does not look at it.
    std::string_view route;             // name
    std::uint32_t route_label = 0;      // index in the metrics
    std::shared_ptr<const void> holds;  // what `route` is a view into, once the connection had to wait: see hold()
    reason why = reason::none;
    std::int64_t age = -1;
    std::int64_t ttl = 0;
    http::coding coding = http::coding::identity;

    void clear();
};

class transaction {
public:
    virtual ~transaction() = default;

    virtual const http::request_head& request() noexcept = 0;
    virtual const peer_info& peer() const noexcept = 0;
    virtual worker& on() noexcept = 0;
    virtual moment started() const noexcept = 0;           // when its head was complete
    virtual std::uint64_t bytes_in() const noexcept = 0;   // of this request so far, head included
    virtual std::uint64_t bytes_out() const noexcept = 0;  // of its answer so far

    /// The request's body. The first read sends "100 Continue" where the client waits for it (RFC 9110 §10.1.1).
    virtual body_source& body() noexcept = 0;

    // Answering: interim responses, then exactly one of answer(), send_whole(), or send_head(), then send()… and
    // finish(), or abort().
    virtual task<result<void>> send_interim(const http::response_head& head) = 0;
    virtual task<result<void>> answer(immediate_answer& a) = 0;
    /// An empty one for answer(), of the connection's own: its scratch keeps its capacity.
    virtual immediate_answer& blank_answer() noexcept = 0;
    /// All of an answer whose `head.body` is none or a length, in one write.
    virtual task<result<void>> send_whole(const http::response_head& head, std::string_view content) = 0;
    /// `head.body` says how the body is known; the codec maps it to the client's version and method. Written with the
    /// first content, or by flush() or finish().
    virtual task<result<void>> send_head(const http::response_head& head) = 0;
    virtual task<result<void>> send(std::string_view content) = 0;
    /// Pushes out what send_head() and send() hold back; for streams.
    virtual task<result<void>> flush() = 0;
    virtual task<result<void>> finish(const http::fields* trailers) = 0;
    /// The answer cannot be completed: the client must see that it is cut (RFC 9112 §8).
    virtual void abort() noexcept = 0;
    virtual bool head_sent() const noexcept = 0;

    /// Sends the 101 and hands both directions over: `upstream`, and `early` (bytes already read from it), are relayed
    /// with the client until either side closes or nothing moves for `idle_timeout`. The connection ends with it.
    virtual task<void> tunnel(const http::response_head& switching, stream_socket upstream, std::string early,
                              milliseconds idle_timeout) = 0;
};

/// What stands behind a listener. One object serves all connections of a worker.
class handler {
public:
    virtual ~handler() = default;
    /// Synchronous: true where `a` was filled and the request is dealt with. Must not touch the body.
    virtual bool try_now(transaction& t, immediate_answer& a) = 0;
    /// Called where the client does not take all bytes at once: what happens until wrote_now() may replace what the
    /// notes in `a` point to.
    virtual void hold(immediate_answer& /*a*/) {}
    /// Called after the bytes of an answer that try_now() gave were written (or failed), at `ended`.
    virtual void wrote_now(transaction& t, const immediate_answer& a, steady_time ended, const error_code& ec) = 0;
    virtual task<void> handle(transaction& t) = 0;
    /// The codec refused what came (4xx of its own); for log and metrics.
    virtual void refused(transaction& t, const error_code& why, int status) = 0;
};

}  // namespace etagere::net
