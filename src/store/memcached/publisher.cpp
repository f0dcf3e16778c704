#include "publisher.hpp"

#include "etagere/crypto/digest.hpp"

#include "../variants.hpp"
#include "lifetime.hpp"
#include "thread.hpp"

#include <algorithm>

namespace etagere::store {
namespace {

constexpr std::uint64_t record_overhead = 128;  // of a piece's record around its bytes
constexpr int most_attempts = 5;  // of reading, changing and writing a meta record that others change as well

const cache::stored_response& response_of(const record::variant& v) noexcept {
    return v.response;
}

// `digest`: hex, of the object's bytes, or "" where only its head is here.
bool is_same_entity(const record::variant& v, const object& o, std::string_view digest) noexcept {
    constexpr std::size_t hex = 64;  // the size of the pieces behind it may differ between processes
    if (v.response.body_size != o.response.body_size || v.response.rest->parts != o.response.rest->parts) return false;
    if (!digest.empty()) return std::string_view(v.entity).substr(0, hex) == digest.substr(0, hex);
    if (!v.response.etag().empty() || !o.response.etag().empty()) return v.response.etag() == o.response.etag();
    return o.response.last_modified && v.response.last_modified == o.response.last_modified;
}

outcome outcome_of(reply_status s) noexcept {
    switch (s) {
        case reply_status::ok: return outcome::ok;
        case reply_status::miss:
        case reply_status::conflict:
        case reply_status::unwanted: return outcome::miss;
        case reply_status::too_large: return outcome::too_large;
        case reply_status::timeout: return outcome::timeout;
        case reply_status::unavailable: return outcome::unavailable;
        case reply_status::refused:
        case reply_status::error: break;
    }
    return outcome::error;
}

operation operation_of(change::kind k) noexcept {
    return k == change::kind::freshen || k == change::kind::restore ? operation::freshen : operation::put;
}

std::uint64_t bytes_of(const change& c) noexcept {
    return c.key.size() + sizeof(object) + (c.object->body ? c.object->body.size() : 0);
}

}  // namespace

publisher::publisher(const memcached_options& options, const record::seal& seal, shelf& where, counters& counted)
    : options_(options),
      seal_(seal),
      where_(where),
      counted_(counted),
      thread_(start_thread("mc-publisher", [this] { run(); })) {}

void publisher::begin_nothing_more() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
}

void publisher::stop() {
    begin_nothing_more();
    if (thread_.joinable()) thread_.join();
}

void publisher::submit(change c) {
    {
        const std::lock_guard lock(mutex_);
        const std::uint64_t bytes = bytes_of(c);
        if (!stopping_ && waiting_.size() < options_.write_queue &&
            waiting_bytes_ + bytes <= options_.write_queue_bytes) {
            waiting_bytes_ += bytes;
            waiting_.push_back(std::move(c));
            changed_.notify_one();
            return;
        }
    }
    counters::increment(counted_.dropped_writes);
    counted_.add(operation_of(c.what), outcome::unavailable);
}

std::uint64_t publisher::pending() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + (carrying_out_ ? 1 : 0);
}

void publisher::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
        if (stopping_) return;
        change c = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= bytes_of(c);
        carrying_out_ = true;
        lock.unlock();
        const auto start = clock::now();
        const outcome result = carry_out(c);
        if (c.what != change::kind::drop) counted_.add(operation_of(c.what), result, clock::now() - start);
        if (result == outcome::unavailable) counters::increment(counted_.dropped_writes);
        if (c.after) c.after();
        lock.lock();
        carrying_out_ = false;
    }
}

outcome publisher::carry_out(const change& c) {
    switch (c.what) {
        case change::kind::put: return put(c);
        case change::kind::freshen:
        case change::kind::restore: return freshen(c);
        case change::kind::drop: break;
    }
    return c.object->rest->entity.empty() ? drop_selected(c) : drop(c);
}

outcome publisher::put(const change& c) {
    const std::string_view body = *c.object->body;
    const record::entity_layout layout =
        record::lay_out(crypto::sha256(body), body.size(), options_.chunk - record_overhead);
    // The entity first: a meta record that can be read speaks of bytes that are all there.
    outcome result = write_entity(c, layout);
    if (result == outcome::ok) {
        record::variant fresh{
            .response = c.object->response, .entity = record::entity_name(layout), .keep_until = c.object->keep_until};
        result = update_meta(c, [&](std::vector<record::variant>& variants) {
            return join(variants, fresh, c.max_variants, response_of);
        });
    }
    // The server's items are smaller than our chunks: what it would have replaced must not answer any more.
    if (result == outcome::too_large) drop_selected(c);
    return result;
}

outcome publisher::write_entity(const change& c, const record::entity_layout& layout) {
    for (std::uint32_t i = 0; i < layout.count; ++i) {
        if (const outcome result = write_piece(c, layout, i); result != outcome::ok) return result;
    }
    return outcome::ok;
}

// Equal bytes have equal names: where the piece is there already, touching it is all there is to do.
outcome publisher::write_piece(const change& c, const record::entity_layout& layout, std::uint32_t index) {
    const auto r = std::make_shared<request>();
    r->what = verb::touch;
    r->key = where_.entity_key(record::piece_key(layout, index));
    r->expiry = entity_expiry(c.object->keep_until, c.now.wall);
    const reply touched = ask(r);
    if (touched.status == reply_status::ok) {
        if (index == 0) counters::increment(counted_.deduplicated);
        return outcome::ok;
    }
    if (touched.status != reply_status::miss) return outcome_of(touched.status);
    const auto add = std::make_shared<request>();
    add->what = verb::add;
    add->key = r->key;
    add->expiry = r->expiry;
    add->value = record::encode_piece(layout, index,
                                      (*c.object->body).substr(layout.offset(index), layout.length(index)), seal_);
    const reply added = ask(add);
    // "There already": another process was faster with the same bytes.
    return added.status == reply_status::miss ? outcome::ok : outcome_of(added.status);
}

outcome publisher::freshen(const change& c) {
    const object& o = *c.object;
    std::string digest = o.rest->entity;
    if (digest.empty() && o.body) digest = crypto::sha256_hex(*o.body);
    bool absent = false;
    record::variant kept;
    const outcome result = update_meta(c, [&](std::vector<record::variant>& variants) {
        const auto old = find_variant(variants, o.response, response_of);
        absent = old == variants.end();
        kept = {};
        if (absent || !is_same_entity(*old, o, digest) || outdates(old->response, o.response)) return false;
        const std::uint64_t size = old->response.body_size;
        old->response = o.response;
        old->response.body_size = size;
        old->keep_until = o.keep_until;
        kept = *old;
        return true;
    });
    if (result != outcome::ok) return result;
    if (absent) return c.what == change::kind::restore && o.body ? put(c) : outcome::miss;
    // The bytes have to live as long as the head that speaks of them.
    if (const auto layout = record::parse_entity_name(kept.entity, kept.response.body_size)) touch_entity(c, *layout);
    return outcome::ok;
}

void publisher::touch_entity(const change& c, const record::entity_layout& layout) {
    for (std::uint32_t i = 0; i < layout.count; ++i) {
        const auto r = std::make_shared<request>();
        r->what = verb::touch;
        r->key = where_.entity_key(record::piece_key(layout, i));
        r->expiry = entity_expiry(c.object->keep_until, c.now.wall);
        const reply touched = ask(r);
        if (touched.status == reply_status::miss && c.object->body) write_piece(c, layout, i);
    }
}

// Only what was seen: a fresh answer with the same bytes may have been put since.
outcome publisher::drop(const change& c) {
    const object& seen = *c.object;
    return update_meta(c, [&](std::vector<record::variant>& variants) {
        return std::erase_if(variants, [&](const record::variant& v) {
                   return v.response.selecting == seen.response.selecting && v.entity == seen.rest->entity &&
                          v.response.response_time == seen.response.response_time;
               }) != 0;
    });
}

outcome publisher::drop_selected(const change& c) {
    return update_meta(c, [&](std::vector<record::variant>& variants) {
        return std::erase_if(variants, [&](const record::variant& v) {
                   return v.response.selecting == c.object->response.selecting;
               }) != 0;
    });
}

// Read, change, write if nobody else has written in between; then again.
outcome publisher::update_meta(const change& c, edit change_variants) {
    const std::string key = where_.meta_key(c.key);
    for (int attempt = 0; attempt < most_attempts && !stopping_; ++attempt) {
        const auto read = std::make_shared<request>();
        read->key = key;
        const reply got = ask(read);
        if (got.status != reply_status::ok && got.status != reply_status::miss) return outcome_of(got.status);

        std::vector<record::variant> variants;
        if (got.value) {
            auto decoded = record::decode_meta(got.value->view(), c.key, seal_);
            // One of another version belongs to a newer or older build, which can still use it: not overwritten.
            if (!decoded && decoded.error() == errc::store_miss) return outcome::miss;
            if (decoded) variants = std::move(*decoded);
        }
        std::erase_if(variants, [&](const record::variant& v) { return c.now.wall > v.keep_until; });
        if (!change_variants(variants)) return outcome::ok;
        if (variants.empty() && !got.value) return outcome::ok;

        const auto write = std::make_shared<request>();
        write->what = got.value ? verb::cas : verb::add;
        write->key = key;
        write->cas = got.value ? got.value->cas() : 0;
        write->value = encode_fitting(c.key, variants);
        if (write->value.size() > options_.chunk) return outcome::too_large;
        wall_time last = c.now.wall;
        for (const record::variant& v : variants) last = std::max(last, v.keep_until);
        write->expiry = memcached_expiry(last, c.now.wall);  // of an empty set: at once
        write->guard = c.guard;
        write->guarded_at = c.guarded_at;
        const reply written = ask(write);
        if (written.status != reply_status::miss && written.status != reply_status::conflict) {
            return outcome_of(written.status);
        }
    }
    return outcome::error;
}

std::string publisher::encode_fitting(const std::string& key, std::vector<record::variant>& variants) const {
    while (true) {
        std::string value = record::encode_meta(key, variants, seal_);
        if (value.size() <= options_.chunk || variants.size() <= 1) return value;
        variants.erase(
            std::ranges::min_element(variants, {}, [](const record::variant& v) { return v.response.response_time; }));
    }
}

}  // namespace etagere::store
