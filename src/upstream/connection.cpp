#include "connection.hpp"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>

namespace etagere::upstream {

namespace asio = net::asio;

asio::mutable_buffer receive_buffer::space(std::size_t most) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (end_ == capacity_ && begin_ > 0) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
        end_ -= std::exchange(begin_, 0);
    }
    if (end_ == 0 && capacity_ < most) {
        reallocate(most);
    } else if (end_ == capacity_ && capacity_ < most) {
        reallocate(std::min(most, capacity_ * 2));
    }
    return asio::buffer(bytes_.get() + end_, capacity_ - end_);
}

void receive_buffer::reallocate(std::size_t capacity) {
    auto bigger = std::make_unique_for_overwrite<char[]>(capacity);
    if (end_ > begin_) std::memcpy(bigger.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    bytes_ = std::move(bigger);
    capacity_ = capacity;
}

void receive_buffer::shrink() noexcept {
    if (capacity_ <= large || begin_ != end_) return;
    bytes_.reset();
    capacity_ = begin_ = end_ = 0;
}

connection::connection(net::worker& on, permit slot)
    : on_(on), socket_(on.executor()), slot_(std::move(slot)), clock_(on.deadlines(), [this] { expired(); }) {}

net::task<result<void>> connection::connect(target to, steady_time until) {
    endpoint = to.endpoint;
    requests = 0;
    input.consume(input.unread().size());
    clock_.arm(until);
    auto [ec] = co_await socket_.async_connect(to.address, net::use_task);
    clock_.disarm();
    if (clock_.expired()) {
        disconnect();
        co_return fail(errc::connect_timeout);
    }
    error_code ignored;
    if (!ec && to.address.protocol().family() != AF_UNIX) {
        // Requests are written whole: holding back the last segment only adds a round trip.
        socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    }
    if (!ec) socket_.non_blocking(true, ec);
    if (ec) {
        disconnect();
        co_return fail(errc::connect_failed);
    }
    co_return result<void>{};
}

bool connection::quiet() noexcept {
    error_code ec;
    socket_.receive(asio::buffer(probe_), asio::socket_base::message_peek, ec);
    return ec == asio::error::would_block;
}

void connection::disconnect() noexcept {
    clock_.disarm();
    error_code ignored;
    socket_.close(ignored);
}

void connection::close() noexcept {
    disconnect();
    slot_.reset();
}

net::task<connection::received> connection::receive(std::size_t most, steady_time until) {
    received out;
    clock_.arm(until);
    receiving_ = true;
    const asio::mutable_buffer room = input.space(most);
    auto [ec, n] = co_await socket_.async_read_some(asio::buffer(room), net::use_task);
    receiving_ = false;
    clock_.disarm();
    out.ec = clock_.expired() ? error_code(asio::error::timed_out) : ec;
    if (!out.ec) {
        input.commit(n);
        out.count = n;
    }
    co_return out;
}

void connection::watch(steady_time until, std::move_only_function<void()> gone) {
    gone_ = std::move(gone);
    clock_.arm(until);
    // A receive, not a wait for readability: that costs a system call each time it is started.
    socket_.async_receive(asio::buffer(probe_), asio::socket_base::message_peek,
                          [self = weak_from_this(), turn = ++watched_](const error_code& ec, std::size_t) {
                              if (ec == asio::error::operation_aborted) return;
                              const auto me = self.lock();
                              if (me && me->watched_ == turn && me->gone_) std::exchange(me->gone_, nullptr)();
                          });
}

void connection::unwatch() noexcept {
    gone_ = nullptr;
    clock_.disarm();
    error_code ignored;
    socket_.cancel(ignored);
}

void connection::expired() {
    if (gone_) {
        const auto keep = shared_from_this();
        std::exchange(gone_, nullptr)();
    } else {
        error_code ignored;
        socket_.close(ignored);  // what waits on it comes back and finds expired()
    }
}

}  // namespace etagere::upstream
