// One connection to an origin: its socket, what was read and not used yet, and its deadline.
#pragma once

#include "etagere/base/result.hpp"
#include "etagere/net/asio.hpp"
#include "etagere/net/worker.hpp"

#include "address_book.hpp"
#include "shared_state.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace etagere::upstream {

/// Bytes received. Views into it are valid until space() is called.
class receive_buffer {
public:
    static constexpr std::size_t small = std::size_t{16} * 1024;
    static constexpr std::size_t large = std::size_t{64} * 1024;  // for long bodies: fewer system calls a megabyte

    std::string_view unread() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
    void consume(std::size_t n) noexcept { begin_ += n; }
    /// Room behind what is unread. An empty buffer grows to `most`, a full one doubles as far as `most`.
    net::asio::mutable_buffer space(std::size_t most);
    void commit(std::size_t n) noexcept { end_ += n; }
    /// Frees what only an unusual head needed.
    void shrink() noexcept;

private:
    void reallocate(std::size_t capacity);

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

/// Belongs to its worker. Held by a call, or by the pool while idle; an upload may hold it a little longer.
///
/// While it is idle a read is under way: one that ends before the next request was sent says that the origin closed the
/// connection, or spoke unasked. Otherwise it is the one that the next answer comes by.
class connection : public std::enable_shared_from_this<connection> {
public:
    connection(net::worker& on, permit slot);
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// errc::connect_failed or connect_timeout; then it may be tried again.
    net::task<result<void>> connect(target to, steady_time until);
    bool connected() const noexcept { return socket_.is_open(); }
    /// False where the origin closed an idle connection, or said something nobody asked for.
    bool quiet() noexcept;
    /// Ends what is under way on the socket and keeps the permit.
    void disconnect() noexcept;
    /// Ends it for good: the permit goes on to the next.
    void close() noexcept;

    struct received {
        std::size_t count = 0;
        error_code ec;  // asio::error::eof at the end, timed_out where `until` came first
    };
    net::task<received> receive(std::size_t most, steady_time until);
    /// Moves the deadline of the receive() that is under way, if one is.
    void expect_by(steady_time until) noexcept {
        if (receiver_) clock_.arm(until);
    }

    /// Calls `gone` when something comes or `until` has come; not after unwatch(). For the idle.
    void watch(steady_time until, std::move_only_function<void()> gone);
    void unwatch() noexcept;

    net::worker& on() noexcept { return on_; }
    net::stream_socket& socket() noexcept { return socket_; }
    permit take_permit() noexcept { return std::move(slot_); }

    receive_buffer input;
    std::string output;          // head and chunk lines under way; keeps its capacity between requests
    std::size_t endpoint = 0;    // index into options::endpoints
    std::uint32_t requests = 0;  // begun on this socket

private:
    using receiver = net::completion<error_code, std::size_t>;
    class arrival;  // the handler of a read

    void expired();
    void read(std::size_t most);
    void arrived(std::uint64_t turn, const error_code& ec, std::size_t n);

    net::worker& on_;
    net::stream_socket socket_;
    permit slot_;
    net::deadline clock_;
    std::array<char, 1> probe_{};
    std::move_only_function<void()> gone_;
    std::optional<receiver> receiver_;  // the coroutine inside receive()
    bool reading_ = false;
    std::uint64_t turn_ = 0;  // tells this read from those that disconnect() ended
};

}  // namespace etagere::upstream
