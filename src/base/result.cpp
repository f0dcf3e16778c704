#include "etagere/base/result.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace etagere {
namespace {

struct row {
    std::string_view name;
    side whose;
    int status;         // 0: nobody is left to answer to
    bool nothing_sent;  // the origin got no byte, and trying again can help
};

// One row for each errc, in its order; the first stands for 0, which is no failure.
constexpr std::array rows{
    row{"none", side::self, 0, false},
    row{"bad_request", side::client, 400, false},
    row{"bad_framing", side::client, 400, false},
    row{"bad_host", side::client, 400, false},
    row{"request_timeout", side::client, 408, false},
    row{"content_too_large", side::client, 413, false},
    row{"uri_too_long", side::client, 414, false},
    row{"expectation_failed", side::client, 417, false},
    row{"header_fields_too_large", side::client, 431, false},
    row{"method_not_implemented", side::client, 501, false},
    row{"version_not_supported", side::client, 505, false},
    row{"client_closed", side::client, 0, false},
    row{"client_too_slow", side::client, 0, false},
    row{"no_endpoint", side::upstream, 502, true},
    row{"connect_failed", side::upstream, 502, true},
    row{"connect_timeout", side::upstream, 504, true},
    row{"queue_full", side::upstream, 503, true},
    row{"queue_timeout", side::upstream, 503, true},
    row{"upstream_closed_idle", side::upstream, 502, false},
    row{"upstream_closed", side::upstream, 502, false},
    row{"upstream_truncated", side::upstream, 502, false},
    row{"upstream_bad_response", side::upstream, 502, false},
    row{"upstream_head_too_large", side::upstream, 502, false},
    row{"upstream_first_byte_timeout", side::upstream, 504, false},
    row{"upstream_idle_timeout", side::upstream, 504, false},
    row{"upstream_total_timeout", side::upstream, 504, false},
    row{"store_miss", side::store, 500, false},
    row{"store_timeout", side::store, 500, false},
    row{"store_unavailable", side::store, 500, false},
    row{"store_corrupt", side::store, 500, false},
    row{"store_too_large", side::store, 500, false},
    row{"shutting_down", side::self, 503, false},
    row{"internal", side::self, 500, false},
};
static_assert(rows.size() == static_cast<std::size_t>(errc::internal) + 1);

class category final : public boost::system::error_category {
public:
    // An id, so that two copies of the category (shared libraries, LTO partitions) still compare equal.
    constexpr category() noexcept : error_category(0x8f3d1c52e0a94b67ULL) {}
    const char* name() const noexcept override { return "etagere"; }
    std::string message(int value) const override;
};

constexpr category the_category{};

const row* find_row(const error_code& ec) noexcept {
    if (ec.category() != the_category) return nullptr;
    const auto at = static_cast<std::size_t>(ec.value());
    return at < rows.size() ? &rows[at] : nullptr;
}

std::string category::message(int value) const {
    return std::string(error_name(error_code(value, *this)));
}

}  // namespace

const boost::system::error_category& etagere_category() noexcept {
    return the_category;
}

error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), the_category};
}

std::string_view error_name(const error_code& ec) noexcept {
    const row* const found = find_row(ec);
    return found != nullptr ? found->name : std::string_view("io");
}

// A code of another category is a socket's or a library's and says nothing about the peer: it counts as ours, and
// whoever knows which peer it was turns it into an errc first.
side error_side(const error_code& ec) noexcept {
    const row* const found = find_row(ec);
    return found != nullptr ? found->whose : side::self;
}

int http_status(const error_code& ec) noexcept {
    const row* const found = find_row(ec);
    return found != nullptr ? found->status : 500;
}

bool nothing_was_sent(const error_code& ec) noexcept {
    const row* const found = find_row(ec);
    return found != nullptr && found->nothing_sent;
}

}  // namespace etagere
