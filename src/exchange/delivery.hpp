// An origin's answer on its way to the client, and perhaps into the store.
//
// The body is held back for a moment (policy: etag_max_hold, etag_max_body): if it completes meanwhile, it can be
// tagged, compared with the client's condition, and sent in one piece with its length. If not, what is there goes out
// and the rest streams, kept aside for the store as long as it may be stored.
#pragma once

#include "compressing.hpp"
#include "exchange.hpp"
#include "keep.hpp"

#include <memory>
#include <string>

namespace etagere::exchange {

class delivery {
public:
    enum class keeping : std::uint8_t {
        yes,          // judged, and stored where it may be
        unless_head,  // likewise, but a HEAD was forwarded as HEAD: no body to store
        for_get,      // the answer to a POST that is one to later GETs too
        no,           // relayed only
    };
    /// Whose answer is kept: that request's, under that route and key. All three outlive the delivery.
    struct subject {
        const http::request_head* request = nullptr;
        const routing::route* route = nullptr;
        const std::string* key = nullptr;
    };

    delivery(exchange& of, upstream::call& call, moment asked, keeping keep);
    delivery(exchange& of, upstream::call& call, moment asked, keeping keep, subject about);

    net::task<void> run();

private:
    void judge();
    bool hold() const noexcept;
    const cache::policy& rules() const noexcept { return about_.route->policy; }
    /// Nothing of it is kept, tagged, coded or cut: what is here whole can go out as it is.
    bool passes_as_it_is() const noexcept;
    net::task<void> pass_whole(std::string_view body);
    net::task<bool> relay();  // true: the body came to its end
    net::task<void> take(std::string_view piece);
    net::task<void> release();  // what is held goes out, the rest will stream
    net::task<void> complete();
    net::task<void> broken(error_code ec);
    net::task<void> send_whole();
    void give_up_storing(reason why);
    void choose_coding();
    /// What this client gets of a body that is here whole, with `head_` saying so; `object` where it was stored.
    /// Null: as it is.
    net::task<store::shared_bytes> coded(store::object_ptr object, std::string_view body);
    void start_coding();
    net::task<result<void>> send(std::string_view piece);
    /// What there is of the body.
    std::string_view content() const noexcept { return here_.empty() ? std::string_view(bytes_) : here_; }
    /// `bytes_`, to be kept; it is empty then.
    store::shared_bytes take_bytes();
    net::task<store::object_ptr> publish(store::shared_bytes body);
    /// What the client's Range makes of this answer, were its body so long.
    cache::range_answer wanted(std::uint64_t length) const noexcept;
    net::task<result<void>> send_content(std::string_view piece);
    void add_cache_status();
    void tell_etag(std::string_view etag);
    void first_byte() noexcept;
    net::task<void> send_condition_answer(cache::precondition condition);
    cache::precondition condition() const noexcept;

    exchange& of_;
    upstream::call& call_;
    http::response_head head_;  // as it goes to the client
    http::response_head came_;  // as the origin sent it, where it may be kept
    moment asked_;
    wall_time received_;
    keeping keep_;
    subject about_;

    cache::storability judged_;
    std::optional<cache::part_judgement> part_;  // of a 206 to a range that was asked for
    bool is_stream_ = false;
    bool storing_ = false;
    bool tagging_ = false;                 // an ETag of ours is wanted, once the whole body is here
    bool released_ = false;                // the head went out
    bool muted_ = false;                   // the client has all it gets: 304, HEAD, or it is gone
    bool gone_ = false;                    // it is gone
    bool releasing_ = false;               // release() is running beside a read
    std::optional<http::byte_range> cut_;  // of a 200 that streams: what the client gets of it
    std::uint64_t sent_ = 0;               // of its content so far, cut off or not
    std::string bytes_;                    // held, and kept for the store
    std::string_view here_;                // instead, where all of it lies at the call and nothing is kept
    std::uint64_t dropped_ = 0;            // read without anybody wanting it
    std::string own_etag_;
    http::coding coding_ = http::coding::identity;     // of ours, that this client gets, if the body is worth it
    std::optional<coded_stream> stream_;               // a body that is being coded as it comes
    std::unique_ptr<net::steady_timer> release_done_;  // while releasing_
    net::deadline held_too_long_;
};

}  // namespace etagere::exchange
