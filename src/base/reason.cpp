#include "etagere/base/reason.hpp"

#include <array>
#include <cstddef>

namespace etagere {
namespace {

// One row for each reason, in the order of the enum; the test compares names and order.
constexpr std::array rows{
    reason_info{"none", "pass", "", "", ""},
    reason_info{"hit_fresh", "hit", "fresh", "RFC 9111 §4.2", ""},
    reason_info{"hit_not_modified", "hit", "fresh", "RFC 9111 §4.3.2", ""},
    reason_info{"hit_precondition_failed", "hit", "fresh", "RFC 9110 §13.1", ""},
    reason_info{
        "hit_stale_revalidating", "stale", "stale", "RFC 5861 §3",
        "a stale answer went out while the origin is asked: shorten cache: { stale: { while_revalidate: … } } on "
        "the route if that is too old"},
    reason_info{"hit_stale_error", "stale", "stale", "RFC 5861 §4",
                "the origin failed and a stale answer stood in for it: look at the origin; cache: { stale: { if_error: "
                "… } } says for how long this may go on"},
    reason_info{"revalidated", "revalidated", "", "RFC 9111 §4.3.4",
                "the origin was asked and answered 304; to ask less often send Cache-Control: max-age=N along with the "
                "ETag, in Rails expires_in N.seconds, public: true"},
    reason_info{"revalidated_changed", "revalidated", "", "RFC 9111 §4.3.3",
                "the ETag had changed; if it changes although the content does not, make it from the content, not from "
                "the time of rendering"},
    reason_info{"miss_cold", "miss", "", "RFC 9111 §4", ""},
    reason_info{"miss_vary", "miss", "", "RFC 9111 §4.1",
                "stored, but for other values of the fields that Vary names: make Vary at the origin as short as is "
                "true, or normalise those fields on the route"},
    reason_info{"miss_partial", "miss", "", "RFC 9111 §3.4",
                "a part is stored, and the request wanted more; one request without Range stores the whole"},
    reason_info{"miss_evicted_body", "miss", "", "RFC 9111 §4",
                "the head was still stored, the body was not: give the store more room"},
    reason_info{"miss_purged", "miss", "", "RFC 9111 §4.4",
                "what was stored had been purged; a soft purge leaves it to be validated, which costs the origin less"},
    reason_info{"collapsed_local", "revalidated", "", "RFC 9111 §4",
                "answered by the fetch of an equal request at the same time; cache: { collapse: off } on the route if "
                "every request has to reach the origin"},
    reason_info{"pass_method", "pass", "pass", "RFC 9111 §3", ""},
    reason_info{"pass_upgrade", "pass", "pass", "RFC 9110 §7.8", ""},
    reason_info{"pass_stream", "pass", "pass", "RFC 9111 §3",
                "a stream of unknown length is passed on as it comes; send Content-Length to have it kept"},
    reason_info{"pass_route_off", "pass", "pass", "", "caching is off on this route: remove cache: off to turn it on"},
    reason_info{"pass_store_down", "pass", "pass", "",
                "the store did not answer in time: look at memcached and at etagere_store_operations_total"},
    reason_info{"pass_client_directive", "pass", "pass", "RFC 9111 §5.2.1",
                "the client asked past the cache; cache: { client_directives: ignore } on the route if it may not"},
    reason_info{
        "pass_range", "pass", "", "RFC 9111 §3.3",
        "a range is kept only where its 206 names the complete length and carries a strong ETag; one request without "
        "Range stores the whole"},
    reason_info{"pass_request_body", "pass", "pass", "RFC 9110 §9.3.1",
                "a GET with a body cannot be keyed; send the request without one"},
    reason_info{
        "nostore_private", "miss", "", "RFC 9111 §5.2.2.7",
        "the origin says private (Rails' default is max-age=0, private, must-revalidate): use stale?(…, public: "
        "true) there, or write cache: { private: revalidate } on the route"},
    reason_info{"nostore_no_store", "miss", "", "RFC 9111 §5.2.2.5",
                "the origin says no-store; where that is too much, say no-cache and send an ETag there"},
    reason_info{
        "nostore_authorization", "miss", "", "RFC 9111 §3.5",
        "the request carried Authorization; where the answer is the same for everybody say public or s-maxage at "
        "the origin, else write cache: { private: revalidate } on the route"},
    reason_info{"nostore_set_cookie", "miss", "", "RFC 9111 §7.3",
                "the answer sets a cookie, which would go to everybody; do not set it there, in Rails by "
                "request.session_options[:skip] = true"},
    reason_info{
        "nostore_cookie", "miss", "", "RFC 9111 §7.3",
        "the request carried a cookie and the answer does not say public; say so at the origin where the answer "
        "is the same for everybody"},
    reason_info{"nostore_vary_star", "miss", "", "RFC 9111 §4.1",
                "Vary: * can never be reused; name the request fields that the answer depends on"},
    reason_info{"nostore_no_lifetime_no_validator", "miss", "", "RFC 9111 §4.2.1",
                "neither a lifetime nor an ETag or Last-Modified to ask with; send one of them, or write cache: { "
                "lifetime: { default: 10s } } on the route to keep such answers that long"},
    reason_info{"nostore_status", "miss", "", "RFC 9111 §3",
                "this status is kept only with an explicit lifetime; send Cache-Control: max-age=N with it"},
    reason_info{"nostore_too_large", "miss", "", "RFC 9111 §3",
                "larger than the store takes; raise max_object of the store, or leave it: it streams through"},
    reason_info{"nostore_incomplete", "miss", "", "RFC 9111 §3.3",
                "the origin cut the answer short; look for its error at that time"},
    reason_info{"nostore_policy", "miss", "", "", "the policy of this route says not to keep it"},
    reason_info{"nostore_sendfile", "miss", "", "",
                "X-Sendfile or X-Accel-Redirect stands for a body that only the web server in front can send; turn "
                "config.action_dispatch.x_sendfile_header off"},
    reason_info{"nostore_hit_for_miss", "miss", "", "RFC 9111 §4",
                "the last answers for this key could not be kept, so its requests do not wait for each other; explain "
                "the first of them"},
    reason_info{"invalidated", "pass", "invalidate, pass", "RFC 9111 §4.4", ""},
    reason_info{"only_if_cached", "refused", "", "RFC 9111 §5.2.1.7",
                "the client wanted a stored answer and nothing else; there was none"},
    reason_info{"refused", "refused", "", "RFC 9110 §15.5",
                "the request was refused before it was routed; `error` of the access log says why"},
    reason_info{"failed", "refused", "", "RFC 9110 §15.6",
                "the origin gave no answer; `error` of the access log says in which phase"},
};
static_assert(rows.size() == static_cast<std::size_t>(reason::count_));

}  // namespace

const reason_info& info(reason r) noexcept {
    const auto at = static_cast<std::size_t>(r);
    return at < rows.size() ? rows[at] : rows[0];
}

}  // namespace etagere
