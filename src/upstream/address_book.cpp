#include "address_book.hpp"

#include <algorithm>
#include <sys/un.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace etagere::upstream {

namespace {

namespace asio = net::asio;

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

/// The address that needs no resolver; none for a name, or for a path that no socket can have.
std::optional<net::stream_endpoint> literal(const endpoint_options& e) {
    if (!e.unix_path.empty()) {
        if (e.unix_path.size() > longest_path) return std::nullopt;
        return net::stream_endpoint(asio::local::stream_protocol::endpoint(e.unix_path));
    }
    error_code ec;
    const auto ip = asio::ip::make_address(e.host, ec);
    if (ec) return std::nullopt;
    return net::stream_endpoint(asio::ip::tcp::endpoint(ip, e.port));
}

}  // namespace

address_book::address_book(const std::vector<endpoint_options>& endpoints, milliseconds resolve_every)
    : entries_(endpoints.size()), resolve_every_(resolve_every) {
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        if (const auto known = literal(endpoints[i])) {
            entries_[i].addresses.push_back({.where = *known});
        } else {
            entries_[i].is_name = endpoints[i].unix_path.empty();
        }
    }
}

const address_book::address* address_book::turn(entry& e, steady_time now, bool also_avoided) {
    for (std::size_t i = 0; i < e.addresses.size(); ++i) {
        const std::size_t at = (e.next + i) % e.addresses.size();
        if (!also_avoided && e.addresses[at].avoid_until > now) continue;
        e.next = at + 1;
        return &e.addresses[at];
    }
    return nullptr;
}

address_book::choice address_book::pick(steady_time now) {
    const std::scoped_lock lock(mutex_);
    choice out;
    for (const bool also_avoided : {false, true}) {
        for (std::size_t i = 0; i < entries_.size() && !out.to; ++i) {
            const std::size_t at = (next_ + i) % entries_.size();
            if (const address* found = turn(entries_[at], now, also_avoided)) {
                out.to = target{.endpoint = at, .address = found->where};
                next_ = at + 1;
            }
        }
    }
    const auto due = std::ranges::find_if(entries_, [now](const entry& e) { return e.is_name && e.look_up_at <= now; });
    if (due != entries_.end()) {
        due->look_up_at = now + resolve_every_;
        out.look_up = static_cast<std::size_t>(due - entries_.begin());
    }
    return out;
}

void address_book::failed(const target& t, steady_time now) {
    const std::scoped_lock lock(mutex_);
    for (address& a : entries_[t.endpoint].addresses) {
        if (a.where == t.address) a.avoid_until = now + avoid_for;
    }
}

std::vector<std::size_t> address_book::unknown() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].is_name && entries_[i].addresses.empty()) out.push_back(i);
    }
    return out;
}

void address_book::found(std::size_t endpoint, const std::vector<net::stream_endpoint>& addresses) {
    if (addresses.empty()) return;
    const std::scoped_lock lock(mutex_);
    entry& e = entries_[endpoint];
    std::vector<address> fresh;
    fresh.reserve(addresses.size());
    for (const net::stream_endpoint& where : addresses) {
        const auto before = std::ranges::find(e.addresses, where, &address::where);
        fresh.push_back(before == e.addresses.end() ? address{.where = where} : *before);
    }
    e.addresses = std::move(fresh);
}

}  // namespace etagere::upstream
