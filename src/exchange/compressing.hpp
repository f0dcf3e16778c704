// Coded forms of bodies (RFC 9110 §8.4), made on a worker without keeping its other connections waiting.
#pragma once

#include "etagere/coding/encoder.hpp"
#include "etagere/exchange/runtime.hpp"
#include "etagere/net/transaction.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace etagere::exchange {

/// The whole body in that coding; null where it does not get smaller. A large one is worked on in slices, between which
/// the worker turns to whoever waits.
net::task<store::shared_bytes> encode(net::worker& on, http::coding how, std::string_view body);

struct coded_object {
    store::object_ptr
        object;  // with that form, or with the knowledge that there is none; without where it took too long
    std::uint64_t encoded = 0;  // bytes of body that were worked on for it here
};
/// `object` (body included) with that form. Whoever wants the same form of the same body at the same time, on any
/// worker, waits for the one that makes it; memory keeps it beside the body.
net::task<coded_object> with_coding(worker_state& state, store::store& kept, const std::string& key,
                                    store::object_ptr object, http::coding how);

/// A body on its way to the client in a coding: what is written goes out at once, however little it is.
class coded_stream {
public:
    coded_stream(net::transaction& to, std::unique_ptr<coding::encoder> by) noexcept : to_(to), by_(std::move(by)) {}

    net::task<result<void>> send(std::string_view piece) { return write(piece, coding::encoder::then::flush); }
    net::task<result<void>> end() { return write({}, coding::encoder::then::end); }

    std::uint64_t taken() const noexcept { return taken_; }  // bytes, before
    std::uint64_t given() const noexcept { return given_; }  // and after

private:
    net::task<result<void>> write(std::string_view piece, coding::encoder::then after);

    net::transaction& to_;
    std::unique_ptr<coding::encoder> by_;
    std::string out_;
    std::uint64_t taken_ = 0, given_ = 0;
};

}  // namespace etagere::exchange
