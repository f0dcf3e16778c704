#include "connection.hpp"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>
#include <utility>

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
    // A receive() under way is told by its own read; one of an idle time has nobody left to tell.
    if (receiver_) return;
    ++turn_;
    reading_ = false;
}

void connection::close() noexcept {
    disconnect();
    slot_.reset();
}

class connection::arrival {
public:
    using allocator_type = net::frame_allocator<void>;

    explicit arrival(connection& at) : at_(at.weak_from_this()), turn_(at.turn_) {}
    arrival(arrival&&) noexcept = default;
    arrival& operator=(arrival&&) = delete;
    ~arrival() {
        // Not called: the io_context is going, and with it whoever waits.
        if (const auto c = at_.lock(); c && c->turn_ == turn_)
            const auto dropped = std::exchange(c->receiver_, std::nullopt);
    }
    void operator()(const error_code& ec, std::size_t n) {
        if (const auto c = std::exchange(at_, {}).lock()) c->arrived(turn_, ec, n);
    }
    allocator_type get_allocator() const noexcept { return {}; }

private:
    std::weak_ptr<connection> at_;
    std::uint64_t turn_;
};

void connection::read(std::size_t most) {
    reading_ = true;
    socket_.async_read_some(asio::buffer(input.space(most)), arrival(*this));
}

void connection::arrived(std::uint64_t turn, const error_code& ec, std::size_t n) {
    if (turn != turn_) return;
    reading_ = false;
    if (!ec) input.commit(n);
    if (auto waiting = std::exchange(receiver_, std::nullopt)) {
        (*waiting)(ec, n);
    } else if (gone_) {
        std::exchange(gone_, nullptr)();
    }
}

net::task<connection::received> connection::receive(std::size_t most, steady_time until) {
    clock_.arm(until);
    const auto start = [this, most](receiver r) {
        receiver_.emplace(std::move(r));
        if (!reading_) read(most);
    };
    auto [ec, n] =
        co_await asio::async_initiate<const net::use_task_t, void(error_code, std::size_t)>(start, net::use_task);
    clock_.disarm();
    if (clock_.expired()) co_return received{.count = 0, .ec = asio::error::timed_out};
    co_return received{.count = n, .ec = ec};
}

void connection::watch(steady_time until, std::move_only_function<void()> gone) {
    gone_ = std::move(gone);
    clock_.arm(until);
    if (!reading_) read(receive_buffer::small);
}

void connection::unwatch() noexcept {
    gone_ = nullptr;
    clock_.disarm();
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
