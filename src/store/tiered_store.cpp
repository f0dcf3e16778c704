#include "tiered_store.hpp"

#include "same_bytes.hpp"

#include <algorithm>

namespace etagere::store {
namespace {

// The same answer of the origin, or one that was freshened at the same moment: the local copy has the body as well.
bool is_same_answer(const object& local, const object& remote) noexcept {
    return local.response.response_time == remote.response.response_time &&
           local.response.request_time == remote.response.request_time &&
           local.response.selecting == remote.response.selecting && same_bytes(local, remote);
}

// What memcached says, with the bytes that are here already.
std::vector<object_ptr> merge(const variant_set& remote, const variant_set& local) {
    std::vector<object_ptr> out = remote.to_vector();
    for (object_ptr& o : out) {
        const auto at = std::ranges::find_if(local, [&](const object_ptr& l) {
            return l->body && l->response.selecting == o->response.selecting && same_bytes(*l, *o);
        });
        if (at == local.end()) continue;
        // Freshened by another process: its head over our bytes, where the names prove that they are the same.
        if (is_same_answer(**at, *o)) {
            o = *at;
        } else if (!(*at)->rest->entity.empty() && (*at)->rest->entity == o->rest->entity) {
            o = with_bytes_of(o, **at);
        }
    }
    return out;
}

}  // namespace

tiered_store::tiered_store(const tier_options& options)
    : on_failure_(options.on_failure), memory_(options.memory, options.local_ttl), remote_(options.memcached) {}

void tiered_store::load_all(std::span<question> asked, moment now) {
    std::vector<question> further;
    further.reserve(asked.size());
    for (question& q : asked) {
        memory_store::seen here = memory_.look(q.key, now);
        if (here.trusted) {
            q.done(found{.set = std::move(here.set), .from = level::memory});
            continue;
        }
        // Bodies that are here already need not come again.
        const bool bring = q.whole && !here.set.has_a_body();
        auto settled = [this, key = std::string(q.key), here = std::move(here), now, done = std::move(q.done)](
                           result<found> remote) mutable { done(settle(key, std::move(remote), here, now)); };
        further.push_back({.key = q.key, .whole = bring, .done = std::move(settled)});
    }
    if (!further.empty()) remote_.load_all(further, now);
}

void tiered_store::inspect(std::string_view key, moment now, found_handler done) {
    memory_store::seen here = memory_.look(key, now);
    if (here.trusted) return done(found{.set = std::move(here.set), .from = level::memory});
    remote_.load(key, now, [this, here = std::move(here), done = std::move(done)](result<found> remote) mutable {
        done(combine(std::move(remote), here));
    });
}

result<found> tiered_store::combine(result<found> remote, const memory_store::seen& here) const {
    if (!remote) {
        if (on_failure_ == store_failure::bypass || !here.set) return remote;
        return found{.set = here.set, .from = level::memory};
    }
    if (!remote->set) return remote;
    return found{.set = merge(remote->set, here.set), .from = level::memcached};
}

result<found> tiered_store::settle(std::string_view key, result<found> remote, const memory_store::seen& here,
                                   moment now) {
    result<found> both = combine(std::move(remote), here);
    // Evicted there, or erased by another process: nobody can tell, so it is gone here too. A memcached that could not
    // be asked says nothing.
    if (both && both->from != level::memory) {
        memory_.adopt(key, both->set.to_vector(), here.changes, now);
    }
    return both;
}

void tiered_store::load_body(std::string_view key, object_ptr head, moment now, body_handler done) {
    if (head->body) return done(std::move(head));
    // Another request may have brought it meanwhile.
    if (const variant_set here = memory_.look(key, now).set) {
        const auto at = std::ranges::find_if(here, [&](const object_ptr& o) {
            return o->body && o->response.selecting == head->response.selecting && !o->rest->entity.empty() &&
                   o->rest->entity == head->rest->entity;
        });
        if (at != here.end()) return done(with_bytes_of(head, **at));
    }
    remote_.load_body(key, head, now,
                      [this, key = std::string(key), head, now, done = std::move(done)](result<object_ptr> r) mutable {
                          if (r) {
                              memory_.attach(key, *head, *r, now);
                          } else if (r.error() == errc::store_miss) {
                              memory_.drop(key, *head, now);
                          }
                          done(std::move(r));
                      });
}

void tiered_store::put(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now) {
    if (on_failure_ == store_failure::bypass && !remote_.available(key)) {
        // Nothing is kept, and what it would have replaced must not answer either.
        memory_.erase(key, now);
    } else {
        memory_.put(key, o, max_variants, now);
    }
    std::move_only_function<void()> after;
    if (!memory_.fits(*o)) {
        // Until it is written, memcached says what was there before, and memory would trust that for local_ttl.
        after = [this, key = std::string(key), now] { memory_.erase(key, now); };
    }
    remote_.put_then(key, std::move(o), max_variants, now, std::move(after));
}

void tiered_store::freshen(std::string_view key, object_ptr o, moment now) {
    const bool had = memory_.freshen_here(key, o, now);
    // What memory has and memcached lost is written again; what is in neither was erased, and stays so.
    remote_.freshen_or_restore(key, std::move(o), now, had);
}

void tiered_store::erase(std::string_view key, moment now) {
    // In this order: an answer that left memcached before its erase finds memory changed and is not adopted; the other
    // way round it could slip in between.
    remote_.erase(key, now);
    memory_.erase(key, now);
}

store_stats tiered_store::stats() const {
    store_stats out = remote_.stats();
    const store_stats local = memory_.stats();
    constexpr auto peeks = static_cast<std::size_t>(operation::peek);
    out.operations.at(peeks) = local.operations.at(peeks);
    return out;
}

std::unique_ptr<store> make_tiered_store(const tier_options& options) {
    return std::make_unique<tiered_store>(options);
}

}  // namespace etagere::store
