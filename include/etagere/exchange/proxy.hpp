// What stands behind ingress and egress listeners: one request's life, from the route to the record.
#pragma once

#include "etagere/exchange/runtime.hpp"
#include "etagere/net/transaction.hpp"

namespace etagere::exchange {

struct prior_look;

/// In front of our own API, or on the way to somebody else's.
enum class role : std::uint8_t { ingress, egress };

/// One a worker and role. Fresh memory hits are answered in try_now(), without a suspension; everything else in
/// handle(): fresh hits out of another level in the same way once they are here, what remains as an exchange.
class proxy final : public net::handler {
public:
    proxy(worker_state& state, role as) noexcept : state_(state), role_(as) {}

    bool try_now(net::transaction& t, net::immediate_answer& a) override;
    void hold(net::immediate_answer& a) override;
    void wrote_now(net::transaction& t, const net::immediate_answer& a, steady_time ended,
                   const error_code& ec) override;
    net::task<void> handle(net::transaction& t) override;
    void refused(net::transaction& t, const error_code& why, int status) override;

private:
    /// What of an answer is told to nobody but the observer.
    struct way {
        store::level from = store::level::memory;
        std::uint64_t waited_us = 0;  // for the store
    };
    bool answer_from(const store::found& found, const runtime& in, const routing::route& route,
                     const http::request_head& request, wall_time now, net::immediate_answer& a);
    net::task<bool> answer_by_loading(net::transaction& t, prior_look& known);
    void tell(net::transaction& t, const net::immediate_answer& a, way taken, steady_time ended, const error_code& ec);

    worker_state& state_;
    role role_;
};

}  // namespace etagere::exchange
