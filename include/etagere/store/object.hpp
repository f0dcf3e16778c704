// One stored response ready to be sent, and the variants of a key.
#pragma once

#include "etagere/base/time.hpp"
#include "etagere/cache/stored_response.hpp"
#include "etagere/http/coding.hpp"
#include "etagere/store/shared_bytes.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

namespace etagere::store {

/// What a stored response gets on its way to a client (RFC 9110 §7.6.3); already in the wire heads.
inline constexpr std::string_view via = "1.1 etagere";

/// Notes that an object was looked at and found not purged; a copy has to be looked at again.
class purge_note {
public:
    purge_note() = default;
    purge_note(const purge_note&) noexcept {}
    purge_note& operator=(const purge_note&) noexcept { return *this; }
    ~purge_note() = default;
    bool says(std::uint64_t what) const noexcept { return said_.load(std::memory_order_relaxed) == what; }
    void say(std::uint64_t what) const noexcept { said_.store(what, std::memory_order_relaxed); }

private:
    mutable std::atomic<std::uint64_t> said_{0};
};

/// The body of an object in a content coding, kept beside it in memory only: it can be made again.
struct coded_form {
    http::coding how = http::coding::gzip;
    shared_bytes body;      // null: this body does not get smaller, or there is no room for a second form
    std::string wire_full;  // as object::wire_full(), with the fields of the coded form; "" without a body
};

/// What few objects have.
struct object_particulars {
    std::string entity;  // name of the entity record in a remote store, "" where there is none
    /// For clients that get coded forms, where their tag is another one (cache/compression.hpp); else "".
    std::string coded_etag;
    std::vector<coded_form> forms;  // as many as were asked for so far
};

/// One stored response ready to be sent: head, body, and the wire bytes that do not change between clients.
/// Immutable; a reader that holds the pointer keeps it alive: eviction never frees bytes being sent.
struct object : boost::intrusive_ref_counter<object> {
    cache::stored_response response;
    shared_bytes body;       // null: not loaded (only the meta record was read); load_body() brings it
    wall_time keep_until{};  // after that the store may forget it
    purge_note looked_at;    // purge_table's
    seldom<object_particulars> rest;

    /// "HTTP/1.1 200 OK" … without framing, Age, Cache-Status, Connection and the empty line; see http::h1. The fields
    /// of `response` live in it: a head is kept once.
    std::string_view wire_full() const noexcept { return response.header.octets(); }
    /// Appends the same for "304 Not Modified", with the fields that belong there (RFC 9110 §15.4.5). `coded`: for a
    /// client that gets a coded form.
    void append_not_modified(std::string& out, bool coded) const;
    const coded_form* form(http::coding how) const noexcept {
        for (const coded_form& f : rest->forms) {
            if (f.how == how) return &f;
        }
        return nullptr;
    }
};
using object_ptr = boost::intrusive_ptr<const object>;
/// `header` with what every client gets besides: Via, and Accept-Ranges where ranges of `of` can be asked for.
http::fields complete_header(const cache::stored_response& of, http::fields header);
/// Writes the wire head (complete_header()) and returns the immutable object. Where a head is freshened whose body was
/// never loaded, pass its `entity` on.
object_ptr make_object(cache::stored_response response, shared_bytes body, wall_time keep_until,
                       std::string entity = {});
/// `head` over the bytes of `whole`, which are known to be the same: body, entity name and coded forms, as far as
/// `head` has none of its own.
object_ptr with_bytes_of(object_ptr head, const object& whole);
/// `of` with one form more; `coded` as coded_form::body.
object_ptr with_form(const object& of, http::coding how, shared_bytes coded);

/// All variants of one key, the newest last. Immutable; copies share the objects and are cheap: nearly every key has
/// one variant, and then this is the pointer to it.
class variant_set {
public:
    variant_set() = default;
    variant_set(std::vector<object_ptr> variants) {
        if (variants.size() == 1) {
            one_ = std::move(variants.front());
        } else if (!variants.empty()) {
            several_ = new list(std::move(variants));
        }
    }

    /// Whether there is any.
    explicit operator bool() const noexcept { return one_ || several_; }
    std::size_t size() const noexcept { return several_ ? several_->all.size() : one_ ? 1 : 0; }
    bool empty() const noexcept { return !*this; }
    const object_ptr* begin() const noexcept { return several_ ? several_->all.data() : &one_; }
    const object_ptr* end() const noexcept { return begin() + size(); }
    const object_ptr& operator[](std::size_t i) const noexcept { return begin()[i]; }
    const object_ptr& front() const noexcept { return *begin(); }
    /// Memory of the list where there are several, without what is in it.
    std::size_t memory() const noexcept;
    /// To make another set of them.
    std::vector<object_ptr> to_vector() const { return {begin(), end()}; }

    /// Whether it is the very same objects.
    bool operator==(const variant_set& o) const noexcept { return std::ranges::equal(*this, o); }

    bool has_a_body() const noexcept {
        return std::ranges::any_of(*this, [](const object_ptr& o) { return static_cast<bool>(o->body); });
    }

private:
    struct list : boost::intrusive_ref_counter<list> {
        explicit list(std::vector<object_ptr> variants) : all(std::move(variants)) {}
        const std::vector<object_ptr> all;
    };
    object_ptr one_;
    boost::intrusive_ptr<const list> several_;  // two and more; then one_ is null
};

}  // namespace etagere::store
