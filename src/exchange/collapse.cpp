#include "etagere/exchange/collapse.hpp"

#include <boost/asio/post.hpp>

namespace etagere::exchange {

namespace {

/// One follower. Touched only on its own worker, except for the hand-over in flight::waiting.
struct waiter {
    explicit waiter(net::worker& w) : on(w), timer(w.io()) {}
    net::worker& on;
    net::steady_timer timer;
    std::optional<outcome> result;
};

}  // namespace

class flight {
public:
    explicit flight(std::string_view k) : key(k) {}

    const std::string key;
    std::mutex mutex;
    bool over = false;
    outcome result;
    std::vector<std::shared_ptr<waiter>> waiting;
};

collapse_table::collapse_table() = default;
collapse_table::~collapse_table() = default;

collapse_table::joined collapse_table::join(std::string_view key, steady_time now) {
    shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    if (const auto it = s.remembered.find(key); it != s.remembered.end() && it->second.not_kept.until > now) {
        return {.with = nullptr, .not_kept = it->second.not_kept};
    }
    if (const auto it = s.flights.find(key); it != s.flights.end()) return {.with = it->second};
    auto f = std::make_shared<flight>(key);
    s.flights.emplace(f->key, f);
    return {.with = std::move(f), .leads = true};
}

net::task<std::optional<outcome>> collapse_table::wait(std::shared_ptr<flight> with, net::worker& on,
                                                       milliseconds patience) {
    auto w = std::make_shared<waiter>(on);
    w->timer.expires_after(patience);
    {
        const std::scoped_lock lock(with->mutex);
        if (with->over) co_return with->result;
        with->waiting.push_back(w);
    }
    (void)co_await w->timer.async_wait(net::use_task);
    co_return std::move(w->result);
}

void collapse_table::finish(const std::shared_ptr<flight>& f, outcome result) {
    {
        shard& s = shard_of(f->key);
        const std::scoped_lock lock(s.mutex);
        if (const auto it = s.flights.find(f->key); it != s.flights.end() && it->second == f) s.flights.erase(it);
    }
    std::vector<std::shared_ptr<waiter>> waiting;
    {
        const std::scoped_lock lock(f->mutex);
        if (f->over) return;
        f->over = true;
        f->result = std::move(result);  // not written again: followers read it without the lock
        waiting.swap(f->waiting);
    }
    for (std::shared_ptr<waiter>& w : waiting) {
        net::worker& on = w->on;
        net::asio::post(on.executor(), [w = std::move(w), f] {
            w->result = f->result;
            w->timer.cancel();
        });
    }
}

collapse_table::memory_of_key& collapse_table::remember(shard& s, std::string_view key, steady_time now) {
    if (s.remembered.size() >= most_remembered && !s.remembered.contains(key)) {
        // An invalidation matters as long as a fetch that began before it may arrive; a minute is longer than any.
        std::erase_if(s.remembered, [now](const auto& e) {
            return e.second.not_kept.until <= now && e.second.invalidated_at + std::chrono::minutes(1) <= now;
        });
        if (s.remembered.size() >= most_remembered) s.remembered.clear();
    }
    if (const auto it = s.remembered.find(key); it != s.remembered.end()) return it->second;
    return s.remembered.emplace(std::string(key), memory_of_key{}).first->second;
}

void collapse_table::remember_not_kept(std::string_view key, steady_time now, milliseconds how_long, reason why) {
    shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    remember(s, key, now).not_kept = {now + how_long, why};
}

bool collapse_table::not_kept(std::string_view key, steady_time now) const {
    const shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    const auto it = s.remembered.find(key);
    return it != s.remembered.end() && it->second.not_kept.until > now;
}

void collapse_table::forget_not_kept(std::string_view key) {
    shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    if (const auto it = s.remembered.find(key); it != s.remembered.end()) it->second.not_kept = {};
}

void collapse_table::invalidate(std::string_view key, steady_time now) {
    shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    remember(s, key, now).invalidated_at = now;
    // Who asks from now on must not be answered by a fetch that began before the change.
    if (const auto it = s.flights.find(key); it != s.flights.end()) s.flights.erase(it);
}

collapse_table::knowledge collapse_table::know(std::string_view key, steady_time now) const {
    const shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    knowledge k;
    k.in_flight = s.flights.contains(key);
    if (const auto it = s.remembered.find(key); it != s.remembered.end() && it->second.not_kept.until > now) {
        k.not_kept = it->second.not_kept.why;
        k.remembered_for = std::chrono::duration_cast<milliseconds>(it->second.not_kept.until - now);
    }
    return k;
}

bool collapse_table::invalidated_since(std::string_view key, steady_time asked) const {
    const shard& s = shard_of(key);
    const std::scoped_lock lock(s.mutex);
    if (s.remembered.empty()) return false;  // without a second hash of the key
    const auto it = s.remembered.find(key);
    return it != s.remembered.end() && it->second.invalidated_at >= asked;
}

}  // namespace etagere::exchange
