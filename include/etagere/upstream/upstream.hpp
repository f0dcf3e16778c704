// Named origins: addresses, few kept connections behind a bounded queue, deadlines for every phase, one safe retry.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/base/time.hpp"
#include "etagere/http/message.hpp"
#include "etagere/net/body.hpp"
#include "etagere/net/worker.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::upstream {

struct endpoint_options {
    std::string host;  // name, IPv4 or IPv6 literal; "" for a Unix socket
    std::uint16_t port = 80;
    std::string unix_path;
    std::string text;  // as configured, for logs and metrics
};

struct options {
    std::string name;
    std::vector<endpoint_options> endpoints;
    std::uint32_t max_connections = 16;  // open ones, all workers and endpoints together; for Puma: threads × processes
    std::uint32_t queue = 256;           // requests waiting for one
    milliseconds queue_timeout{1000};
    milliseconds idle_timeout{4000};  // below the origin's own (Puma: 20 s, many Go servers: none)
    milliseconds connect_timeout{250};
    milliseconds first_byte_timeout{30000};
    milliseconds read_timeout{30000};  // between two pieces of the body, and of the request's
    milliseconds total_timeout{0};     // 0: none
    std::uint32_t attempts = 2;        // sends of one request, the first included
    milliseconds resolve_every{10000};
    bool preserve_host = true;  // Host as the client named it; else the endpoint's own
    std::size_t response_head_bytes = std::size_t{64} * 1024;
};

/// What one call cost, for the record of the exchange.
struct call_facts {
    std::string_view endpoint;  // static as long as the cluster lives
    milliseconds queued{0};
    milliseconds connecting{0};
    milliseconds first_byte{0};  // from sending to the head
    std::uint32_t attempts = 0;
    std::uint64_t bytes_sent = 0, bytes_received = 0;
};

using interim_handler = std::function<net::task<void>(const http::response_head&)>;

struct call_request {
    const http::request_head* head = nullptr;  // as it goes out; Host is written from it or from the endpoint
    net::body_source* body = nullptr;          // null: none. Pulled while the answer is awaited
    bool foreign_codings = false;              // http::h1::head_limits
    bool may_pause = false;                    // a stream: read_timeout does not apply to its answer
    interim_handler on_interim;                // 1xx other than 101 (and 100, where nobody waits for it); may be empty
};

/// An answer whose head is here and whose body is pulled. Destroying it gives the connection back when the body was
/// read to its end and may carry another request, and closes it otherwise.
class call : public net::body_source {
public:
    virtual const http::response_head& head() const noexcept = 0;
    /// The same, for who passes it on, once: head() keeps what is no text.
    virtual http::response_head take_head() noexcept = 0;
    virtual const call_facts& facts() const noexcept = 0;
    /// The content, where the answer has come to its end already: then there is nothing to read() any more. Valid until
    /// stop(). Nothing, and nothing has happened, where the body has to be read.
    virtual std::optional<std::string_view> whole() noexcept = 0;
    /// After a 101: the connection itself, and what was already read from it. The slot is given back with the socket's
    /// end by `released`, which the tunnel keeps alive.
    virtual net::stream_socket take_socket(std::string& early, std::shared_ptr<void>& released) = 0;
};

/// What all workers share of one origin: permits for connections, the queue, addresses, totals. Thread-safe.
class shared_state;
std::shared_ptr<shared_state> make_shared_state(options o);

struct totals {
    std::uint64_t active = 0, idle = 0, queued = 0, queue_rejected = 0, retries = 0, connects = 0, connect_failures = 0;
};
totals read_totals(const shared_state& s);

/// One worker's view of one origin. Not thread-safe: belongs to its worker.
class cluster {
public:
    virtual ~cluster() = default;
    /// Sends the request and awaits the head. Retries at most options::attempts − 1 times, and only where nothing was
    /// sent, or the method is idempotent, has no body, and a kept connection died before one byte of an answer: never a
    /// second POST (RFC 9110 §9.2.2).
    virtual net::task<result<std::unique_ptr<call>>> send(call_request request) = 0;
    virtual const options& settings() const noexcept = 0;
    /// Closes idle connections; for shutdown and reload.
    virtual void drain() noexcept = 0;
};
std::unique_ptr<cluster> make_cluster(net::worker& on, std::shared_ptr<shared_state> shared);

}  // namespace etagere::upstream
