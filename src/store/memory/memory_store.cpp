#include "memory_store.hpp"

#include "../same_bytes.hpp"
#include "../variants.hpp"

#include <algorithm>
#include <bit>

namespace etagere::store {
namespace {

const cache::stored_response& response_of(const object_ptr& o) noexcept {
    return o->response;
}

// A shard must hold several of the largest objects, or the spread of the hash decides what can be kept at all.
std::size_t shard_count(const memory_options& options) {
    constexpr std::uint64_t most = 16, largest_objects_a_shard = 4;
    const std::uint64_t largest = std::max<std::uint64_t>(options.max_object, 16384);
    return std::bit_floor(std::clamp<std::uint64_t>(options.size / (largest_objects_a_shard * largest), 1, most));
}

}  // namespace

memory_store::memory_store(const memory_options& options, std::optional<milliseconds> trust)
    : options_(options), trust_(trust), hasher_(options.hash_seed) {
    const std::size_t count = shard_count(options);
    for (std::size_t i = 0; i < count; ++i) {
        shards_.push_back(std::make_unique<guarded_shard>(options.size / count));
    }
}

memory_store::place memory_store::find_place(std::string_view key) {
    const std::uint64_t hash = hasher_(key);
    // The table uses the low bits.
    return {{key, hash}, *shards_[(hash >> 48U) & (shards_.size() - 1)]};
}

bool memory_store::fits(const object& o) const noexcept {
    return !o.body || o.body.size() <= options_.max_object;
}

steady_time memory_store::trusted_until(moment now) const noexcept {
    return trust_ ? now.steady + *trust_ : steady_time::max();
}

shard::entry* memory_store::live_entry(place& at, moment now, shard::leavers& gone) {
    shard::entry* e = at.in.entries.find(at.key);
    if (e == nullptr || now.wall <= e->first_expiry) return e;
    std::vector<object_ptr> left;
    std::ranges::copy_if(e->set, std::back_inserter(left),
                         [&](const object_ptr& o) { return now.wall <= o->keep_until; });
    at.in.entries.keep(at.key, std::move(left), e->trusted_until, gone);
    return at.in.entries.find(at.key);
}

found memory_store::peek(std::string_view key, moment now) {
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    shard::entry* const e = live_entry(at, now, gone);
    if (e == nullptr || now.steady >= e->trusted_until) {
        ++at.in.counted.of(operation::peek, outcome::miss);
        return {};
    }
    e->used = true;
    ++at.in.counted.of(operation::peek, outcome::ok);
    return {e->set, level::memory};
}

void memory_store::load(std::string_view key, moment now, found_handler done) {
    done(peek(key, now));
}

void memory_store::inspect(std::string_view key, moment now, found_handler done) {
    seen here = look(key, now);
    if (!here.trusted) return done(found{});
    const level from = here.set ? level::memory : level::none;
    done(found{.set = std::move(here.set), .from = from});
}

void memory_store::load_body(std::string_view key, object_ptr head, moment now, body_handler done) {
    // Heads without bodies come from another level only; whoever kept one over an eviction gets the body if it is back.
    object_ptr whole;
    if (const variant_set here = look(key, now).set) {
        const auto at =
            std::ranges::find_if(here, [&](const object_ptr& o) { return o->body && same_bytes(*o, *head); });
        if (at != here.end()) whole = *at;
    }
    if (whole) return done(std::move(whole));
    done(fail(errc::store_miss));
}

template <class Edit> bool memory_store::edit_variants(std::string_view key, moment now, operation what, Edit edit) {
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    shard::entry* const e = live_entry(at, now, gone);
    std::vector<object_ptr> variants;
    if (e != nullptr) {
        variants = e->set.to_vector();
        e->used = true;
    }
    if (!edit(variants)) return false;
    ++at.in.changes;
    const bool kept = at.in.entries.keep(at.key, std::move(variants), trusted_until(now), gone);
    ++at.in.counted.of(what, kept ? outcome::ok : outcome::too_large);
    return kept;
}

template <class Predicate> void memory_store::drop_if(std::string_view key, moment now, Predicate predicate) {
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    const shard::entry* const e = live_entry(at, now, gone);
    if (e == nullptr) return;
    std::vector<object_ptr> variants = e->set.to_vector();
    if (std::erase_if(variants, [&](const object_ptr& o) { return predicate(*o); }) == 0) return;
    ++at.in.changes;
    at.in.entries.keep(at.key, std::move(variants), e->trusted_until, gone);
}

void memory_store::put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) {
    if (now.wall > o->keep_until) return;
    if (!fits(*o)) {
        // What it replaces must not answer any more.
        drop_if(key, now, [&](const object& kept) { return kept.response.selecting == o->response.selecting; });
        const place at = find_place(key);
        const std::lock_guard lock(at.in.mutex);
        ++at.in.counted.of(operation::put, outcome::too_large);
        return;
    }
    edit_variants(key, now, operation::put, [&](std::vector<object_ptr>& variants) {
        return join(variants, std::move(o), max_variants, response_of);
    });
}

bool memory_store::freshen_here(std::string_view key, object_ptr o, moment now) {
    return edit_variants(key, now, operation::freshen, [&](std::vector<object_ptr>& variants) {
        const auto old = find_variant(variants, o->response, response_of);
        if (old == variants.end() || !same_bytes(**old, *o) || outdates((*old)->response, o->response)) return false;
        *old = with_bytes_of(std::move(o), **old);
        return true;
    });
}

void memory_store::keep_forms(std::string_view key, const object& with, moment now) {
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    const shard::entry* const e = live_entry(at, now, gone);
    if (e == nullptr || !with.body) return;
    std::vector<object_ptr> variants = e->set.to_vector();
    const auto old = std::ranges::find(variants, with.body, [](const object_ptr& o) { return o->body; });
    if (old == variants.end()) return;
    *old = with_bytes_of(*old, with);
    for (const coded_form& f : with.rest->forms) {
        if (at.in.entries.fits(at.key, variants)) break;
        // Remembered as one that does not fit, so that the next client does not have it made again.
        *old = with_form(**old, f.how, nullptr);
    }
    at.in.entries.keep(at.key, std::move(variants), e->trusted_until, gone);
}

void memory_store::erase(std::string_view key, moment /*now*/) {
    const place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    ++at.in.changes;
    shard::entry* const e = at.in.entries.find(at.key);
    ++at.in.counted.of(operation::erase, e != nullptr ? outcome::ok : outcome::miss);
    if (e != nullptr) at.in.entries.remove(*e, gone);
}

void memory_store::purge(std::span<const cache::purge_target> groups, bool soft, moment now, purge_handler done) {
    purges_.purge(groups, soft, now.wall);
    done(true);
}

memory_store::seen memory_store::look(std::string_view key, moment now) {
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    const shard::entry* const e = live_entry(at, now, gone);
    if (e == nullptr) return {.set = {}, .changes = at.in.changes};
    return {.set = e->set, .changes = at.in.changes, .trusted = now.steady < e->trusted_until};
}

void memory_store::adopt(std::string_view key, std::vector<object_ptr> variants, std::uint64_t changes, moment now) {
    std::erase_if(variants, [&](const object_ptr& o) { return !fits(*o) || now.wall > o->keep_until; });
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    if (at.in.changes != changes) return;
    at.in.entries.keep(at.key, std::move(variants), trusted_until(now), gone);
}

void memory_store::attach(std::string_view key, const object& head, object_ptr whole, moment now) {
    if (!fits(*whole)) return;
    place at = find_place(key);
    shard::leavers gone;
    const std::lock_guard lock(at.in.mutex);
    const shard::entry* const e = live_entry(at, now, gone);
    if (e == nullptr) return;
    std::vector<object_ptr> variants = e->set.to_vector();
    const auto old = find_variant(variants, head.response, response_of);
    // Freshened while its body was on the way: the bytes go under the newer head.
    if (old == variants.end() || (*old)->body || !same_bytes(**old, head)) return;
    if ((*old)->response.response_time != head.response.response_time) {
        boost::intrusive_ptr<object> newer(new object(**old));
        newer->body = whole->body;
        whole = std::move(newer);
    }
    *old = std::move(whole);
    at.in.entries.keep(at.key, std::move(variants), e->trusted_until, gone);
}

void memory_store::drop(std::string_view key, const object& like, moment now) {
    drop_if(key, now, [&](const object& kept) {
        return !kept.body && kept.response.response_time == like.response.response_time && same_bytes(kept, like);
    });
}

store::totals memory_store::memory_totals() const {
    totals sum;
    for (const auto& s : shards_) {
        const std::lock_guard lock(s->mutex);
        sum.bytes += s->entries.bytes();
        sum.entries += s->entries.entries();
        sum.evictions += s->entries.evictions();
    }
    return sum;
}

store_stats memory_store::stats() const {
    store_stats sum;
    for (const auto& s : shards_) {
        const std::lock_guard lock(s->mutex);
        for (std::size_t op = 0; op < sum.operations.size(); ++op) {
            for (std::size_t result = 0; result < sum.operations.at(op).size(); ++result) {
                sum.operations.at(op).at(result) += s->counted.operations.at(op).at(result);
            }
        }
    }
    return sum;
}

std::unique_ptr<store> make_memory_store(const memory_options& options) {
    return std::make_unique<memory_store>(options);
}

}  // namespace etagere::store
