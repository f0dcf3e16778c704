// The concrete Asio types of the program: one executor type, one socket type, one coroutine type. Type-erased executors
// cost a virtual call and a reference count an operation.
#pragma once

#include "etagere/net/clock.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace etagere::net {

namespace asio = boost::asio;

using io_executor = asio::io_context::executor_type;
template <class T> using task = asio::awaitable<T, io_executor>;
/// TCP or Unix: the address family is a value.
using stream_socket = asio::basic_stream_socket<asio::generic::stream_protocol, io_executor>;
using stream_endpoint = asio::generic::stream_protocol::endpoint;
using steady_timer = asio::basic_waitable_timer<clock, clock, io_executor>;

/// `auto [ec, n] = co_await socket.async_read_some(buffer, use_task);`: nothing throws.
inline constexpr auto use_task = asio::as_tuple(asio::use_awaitable_t<io_executor>{});

}  // namespace etagere::net
