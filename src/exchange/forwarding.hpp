// The fields a proxy itself is responsible for, on the way to the origin and back (RFC 9110 §7.6).
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/exchange/proxy.hpp"
#include "etagere/http/message.hpp"
#include "etagere/net/transaction.hpp"

#include <string_view>

namespace etagere::exchange {

/// The request as it goes upstream, from the canonical one: forwarding fields overwritten (kept and extended where the
/// peer is trusted), Via, X-Request-Id, Max-Forwards of OPTIONS counted down.
http::request_head upstream_request(const http::request_head& in, const net::peer_info& peer, role as,
                                    std::string_view request_id);

/// The request's own X-Request-Id where it may be believed and is harmless to log, else "".
std::string_view believed_request_id(const http::request_head& in, const net::peer_info& peer, role as) noexcept;

/// What every response that passes through gets: Via, and Date where the origin sent none (RFC 9110 §6.6.1).
void complete_response(http::response_head& head, wall_time received);

}  // namespace etagere::exchange
