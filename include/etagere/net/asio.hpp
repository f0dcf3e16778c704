// The concrete Asio types of the program: one executor type, one socket type, one coroutine type. Type-erased executors
// cost a virtual call and a reference count an operation.
#pragma once

#include "etagere/net/clock.hpp"
#include "etagere/net/task.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

namespace etagere::net {

/// TCP or Unix: the address family is a value.
using stream_socket = asio::basic_stream_socket<asio::generic::stream_protocol, io_executor>;
using stream_endpoint = asio::generic::stream_protocol::endpoint;
using steady_timer = asio::basic_waitable_timer<clock, clock, io_executor>;

}  // namespace etagere::net
