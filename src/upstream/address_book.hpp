// Where the endpoints of an origin are: their addresses, whose turn it is, and which did not answer lately.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/net/asio.hpp"
#include "etagere/upstream/upstream.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace etagere::upstream {

struct target {
    std::size_t endpoint = 0;  // index into options::endpoints
    net::stream_endpoint address;
};

/// Resolves nothing itself: it says what has to be asked and keeps what was answered. Thread-safe.
class address_book {
public:
    /// An address that refused is tried after all others for that long.
    static constexpr milliseconds avoid_for{2000};

    address_book(const std::vector<endpoint_options>& endpoints, milliseconds resolve_every);

    struct choice {
        std::optional<target> to;            // none: no endpoint has an address
        std::optional<std::size_t> look_up;  // this endpoint's name is due; the caller asks, nobody else does
    };
    /// Round robin over the endpoints, and over the addresses of each.
    choice pick(steady_time now);
    void failed(const target& t, steady_time now);

    /// The names that nobody has found an address for.
    std::vector<std::size_t> unknown() const;
    /// What the resolver said. Nothing (it failed) leaves the last good addresses in place.
    void found(std::size_t endpoint, const std::vector<net::stream_endpoint>& addresses);

private:
    struct address {
        net::stream_endpoint where;
        steady_time avoid_until = steady_time::min();
    };
    struct entry {
        std::vector<address> addresses;
        std::size_t next = 0;
        bool is_name = false;
        steady_time look_up_at = steady_time::min();
    };
    /// Takes the turn of the next address of `e` that may be used; null where there is none.
    static const address* turn(entry& e, steady_time now, bool also_avoided);

    mutable std::mutex mutex_;
    std::vector<entry> entries_;
    std::size_t next_ = 0;
    milliseconds resolve_every_;
};

}  // namespace etagere::upstream
