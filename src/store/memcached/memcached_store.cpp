#include "memcached_store.hpp"

#include "etagere/crypto/digest.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <stdexcept>

namespace etagere::store {
namespace {

using clock = std::chrono::steady_clock;

memcached_options checked(memcached_options o) {
    const auto printable = [](char c) { return c > ' ' && c < '\x7f'; };
    if (o.servers.empty()) throw std::invalid_argument("memcached: no servers");
    if (o.key_prefix.empty() || o.key_prefix.size() > 100 || !std::ranges::all_of(o.key_prefix, printable)) {
        throw std::invalid_argument("memcached: the key prefix has to be 1 to 100 printable octets without space");
    }
    if (o.chunk < 1024) throw std::invalid_argument("memcached: chunks below 1 KiB");
    if (o.purge_poll <= milliseconds{0}) throw std::invalid_argument("memcached: a purge_poll of zero");
    if (o.timeout <= milliseconds{0} || o.connect_timeout <= milliseconds{0}) {
        throw std::invalid_argument("memcached: a timeout of zero");
    }
    return o;
}

request_ptr question_of(std::string record_key, request::handler done) {
    auto r = std::make_shared<request>();
    r->key = std::move(record_key);
    r->done = std::move(done);
    return r;
}

error_code error_of(reply_status s) noexcept {
    return make_error_code(s == reply_status::timeout ? errc::store_timeout : errc::store_unavailable);
}

outcome outcome_of(const error_code& ec) noexcept {
    if (ec == errc::store_timeout) return outcome::timeout;
    return ec == errc::store_miss ? outcome::miss : outcome::unavailable;
}

}  // namespace

memcached_store::memcached_store(memcached_options options)
    : options_(checked(std::move(options))),
      seal_{.key = options_.sign_key, .sign = crypto::hmac_sha256},
      prefix_(options_.key_prefix + ":v" + std::to_string(record::format_version) + ':'),
      placement_(options_.servers),
      watchdog_(options_.timeout),
      lanes_([this] {
          std::vector<std::unique_ptr<lane>> made;
          for (const memcached_server& s : options_.servers)
              made.push_back(std::make_unique<lane>(s, options_, watchdog_));
          return made;
      }()),
      publisher_(options_, seal_, *this, counted_),
      journal_(options_, seal_, prefix_ + "purges", lane_of(prefix_ + "purges"), counted_) {
    // Before it is known what was purged nothing that others have kept may be used; they should not have to be asked
    // again for that.
    journal_.wait_known(options_.connect_timeout + options_.timeout);
}

// Completions run on every one of these threads and use all of these members: first all threads end, then members go.
memcached_store::~memcached_store() {
    publisher_.begin_nothing_more();
    for (const auto& l : lanes_) l->end_by(clock::now() + options_.timeout);
    journal_.stop();
    publisher_.stop();
    for (const auto& l : lanes_) l->stop();
    watchdog_.stop();
}

std::string memcached_store::meta_key(std::string_view key) const {
    return prefix_ + "m:" + crypto::sha256_hex(key);
}

std::string memcached_store::entity_key(std::string_view piece) const {
    return (prefix_ + "e:").append(piece);
}

lane& memcached_store::lane_of(const std::string& record_key) {
    return *lanes_[placement_.server_of(record_key)];
}

epoch& memcached_store::epoch_of(std::string_view key) noexcept {
    return epochs_[std::hash<std::string_view>{}(key) % epochs_.size()];
}

void memcached_store::ask(std::string record_key, request::handler done) {
    lane& at = lane_of(record_key);
    at.submit(question_of(std::move(record_key), std::move(done)));
}

/// A meta record, and the entity that it is expected to name, on their way together.
struct memcached_store::both {
    std::string entity;  // its name
    reply meta, piece;
    std::move_only_function<void(const both*)> finish;
    std::atomic<int> left = 2;

    void arrived(reply& at, reply got) {
        at = std::move(got);
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) std::exchange(finish, {})(this);
    }
};

void memcached_store::add_requests(question& q, moment now, std::vector<request_ptr>& to) {
    const std::optional<record::digest> guess = q.whole ? guesses_.find(q.key) : std::nullopt;
    if (!guess) {
        to.push_back(question_of(meta_key(q.key), [this, key = std::string(q.key), now, start = clock::now(),
                                                   done = std::move(q.done)](const reply& got) mutable {
            done(count_load(start, read_meta(key, got, now, nullptr)));
        }));
        return;
    }
    const auto b = std::make_shared<both>();
    b->entity = record::entity_name({.sha256 = *guess});
    b->finish = [this, key = std::string(q.key), now, start = clock::now(),
                 done = std::move(q.done)](const both* got) mutable {
        result<found> out = read_meta(key, got->meta, now, got);
        if (out && out->set.has_a_body()) {
            counted_.add(operation::load_body, outcome::ok, clock::now() - start);
        } else {
            guesses_.forget(key);
        }
        done(count_load(start, std::move(out)));
    };
    to.push_back(question_of(meta_key(q.key), [b](reply got) { b->arrived(b->meta, std::move(got)); }));
    to.push_back(question_of(entity_key(b->entity), [b](reply got) { b->arrived(b->piece, std::move(got)); }));
}

void memcached_store::load_all(std::span<question> asked, moment now) {
    std::vector<request_ptr> requests;
    requests.reserve(2 * asked.size());
    for (question& q : asked) add_requests(q, now, requests);
    if (lanes_.size() == 1) return lanes_.front()->submit(requests);
    std::vector<std::vector<request_ptr>> of_lane(lanes_.size());
    for (request_ptr& r : requests) of_lane[placement_.server_of(r->key)].push_back(std::move(r));
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (!of_lane[i].empty()) lanes_[i]->submit(of_lane[i]);
    }
}

result<found> memcached_store::count_load(steady_time start, result<found> out) {
    const outcome how = !out ? outcome_of(out.error()) : out->set ? outcome::ok : outcome::miss;
    counted_.add(operation::load, how, clock::now() - start);
    return out;
}

/// Null where it is another one, or not there, or damaged: load_body() will find that out and see to it.
shared_bytes memcached_store::guessed_body(const both& guess, const record::variant& v) {
    if (v.entity != guess.entity || guess.piece.status != reply_status::ok) return nullptr;
    const auto layout = record::parse_entity_name(v.entity, v.response.body_size);
    if (!layout) return nullptr;
    const auto bytes = record::decode_piece(guess.piece.value->view(), *layout, 0, seal_);
    return bytes ? share(*bytes) : nullptr;
}

result<found> memcached_store::read_meta(std::string_view key, const reply& got, moment now, const both* guess) {
    if (got.status == reply_status::miss) return found{};
    if (got.status != reply_status::ok) return std::unexpected(error_of(got.status));
    auto variants = record::decode_meta(got.value->view(), key, seal_);
    if (!variants) {
        counters::increment(variants.error() == errc::store_miss ? counted_.other_version : counted_.corrupt);
        return found{};
    }
    std::vector<object_ptr> set;
    for (record::variant& v : *variants) {
        if (now.wall > v.keep_until) continue;
        shared_bytes body = guess != nullptr ? guessed_body(*guess, v) : nullptr;
        set.push_back(make_object(std::move(v.response), std::move(body), v.keep_until, std::move(v.entity)));
    }
    if (set.empty()) return found{};
    return found{.set = std::move(set), .from = level::memcached};
}

/// The pieces of one entity on their way. A few at a time: each has a deadline of its own, and the last of many asked
/// for at once would miss it only because of those before it.
struct memcached_store::gathering {
    static constexpr std::uint32_t at_once = 2;

    std::string key;
    object_ptr head;
    steady_time start{};
    moment now{};
    body_handler done;
    record::entity_layout layout;

    std::mutex mutex;
    std::vector<reply> pieces;
    std::uint32_t next = 0;
    std::uint32_t under_way = 0;
    bool failed = false;
};

void memcached_store::load_body(std::string_view key, object_ptr head, moment now, body_handler done) {
    if (head->body) return done(std::move(head));
    const auto layout = record::parse_entity_name(head->rest->entity, head->response.body_size);
    if (!layout || layout->size > options_.max_object) return done(fail(errc::store_miss));
    const auto g = std::make_shared<gathering>();
    g->key = key;
    g->head = std::move(head);
    g->start = clock::now();
    g->now = now;
    g->done = std::move(done);
    g->layout = *layout;
    g->pieces.resize(layout->count);
    g->under_way = g->next = std::min(layout->count, gathering::at_once);
    for (std::uint32_t i = 0, first = g->next; i < first; ++i) ask_for_piece(g, i);
}

void memcached_store::ask_for_piece(const std::shared_ptr<gathering>& g, std::uint32_t index) {
    ask(entity_key(record::piece_key(g->layout, index)), [this, g, index](reply got) {
        std::uint32_t next = 0;
        {
            const std::lock_guard lock(g->mutex);
            g->failed = g->failed || got.status != reply_status::ok;
            g->pieces[index] = std::move(got);
            if (!g->failed && g->next < g->layout.count) {
                next = g->next++;
            } else if (--g->under_way != 0) {
                return;
            }
        }
        if (next != 0) {
            ask_for_piece(g, next);
        } else {
            finish(*g);
        }
    });
}

void memcached_store::finish(gathering& g) {
    const auto answer = [&](result<object_ptr> r) {
        counted_.add(operation::load_body, r ? outcome::ok : outcome_of(r.error()), clock::now() - g.start);
        g.done(std::move(r));
    };
    std::string body;
    for (const reply& piece : std::span(g.pieces).first(g.next)) {
        if (piece.status == reply_status::ok) continue;
        if (piece.status != reply_status::miss) return answer(std::unexpected(error_of(piece.status)));
        counters::increment(counted_.lost_bodies);
        lose(g);
        return answer(fail(errc::store_miss));
    }
    body.reserve(g.layout.size);
    bool intact = true;
    for (std::uint32_t i = 0; i < g.layout.count && intact; ++i) {
        const auto bytes = record::decode_piece(g.pieces[i].value->view(), g.layout, i, seal_);
        intact = bytes.has_value();
        if (intact) body.append(*bytes);
    }
    // One record's seal covers the digest and the bytes under it. Pieces that each verify still have to be those of one
    // body.
    if (!intact || (g.layout.count > 1 && crypto::sha256(body) != g.layout.sha256)) {
        counters::increment(counted_.corrupt);
        for (std::uint32_t i = 0; i < g.layout.count; ++i) {
            std::string record_key = entity_key(record::piece_key(g.layout, i));
            lane& at = lane_of(record_key);
            at.erase(std::move(record_key));  // else the next put would find it and touch it
        }
        lose(g);
        return answer(fail(errc::store_miss));
    }
    if (g.layout.count == 1 && g.layout.size <= entity_guesses::largest) guesses_.learn(g.key, g.layout.sha256);
    boost::intrusive_ptr<object> whole(new object(*g.head));
    whole->body = share(body);
    answer(object_ptr(std::move(whole)));
}

// bug-cases B98: a head whose bytes are gone must not stay to be validated again and again.
void memcached_store::lose(const gathering& g) {
    publisher_.submit({.what = change::kind::drop,
                       .key = g.key,
                       .object = g.head,
                       .now = g.now,
                       .guard = &epoch_of(g.key),
                       .guarded_at = epoch_of(g.key).load(std::memory_order_acquire),
                       .after = {}});
}

void memcached_store::put_then(std::string_view key, object_ptr o, std::uint32_t max_variants, moment now,
                               std::move_only_function<void()> after) {
    if (!o->body || now.wall > o->keep_until) return;
    change c{.what = change::kind::put,
             .key = std::string(key),
             .object = std::move(o),
             .max_variants = max_variants,
             .now = now,
             .guard = &epoch_of(key),
             .guarded_at = epoch_of(key).load(std::memory_order_acquire),
             .after = std::move(after)};
    if (c.object->body.size() > options_.max_object) {
        counted_.add(operation::put, outcome::too_large);
        boost::intrusive_ptr<object> selects(new object);  // without the body, which would fill the queue
        selects->response.selecting = c.object->response.selecting;
        c.object = std::move(selects);
        c.what = change::kind::drop;
    }
    publisher_.submit(std::move(c));
}

void memcached_store::freshen_or_restore(std::string_view key, object_ptr o, moment now, bool restore) {
    if (now.wall > o->keep_until || freshened_lately(key, now)) return;
    publisher_.submit({.what = restore ? change::kind::restore : change::kind::freshen,
                       .key = std::string(key),
                       .object = std::move(o),
                       .now = now,
                       .guard = &epoch_of(key),
                       .guarded_at = epoch_of(key).load(std::memory_order_acquire),
                       .after = {}});
}

// What is validated on every use would be written on every use. Once a second and key is enough: what the others miss
// is a later date, and they ask the origin themselves.
bool memcached_store::freshened_lately(std::string_view key, moment now) noexcept {
    const std::uint64_t hash = std::hash<std::string_view>{}(key);
    const auto second = static_cast<std::uint32_t>(std::chrono::floor<seconds>(now.steady.time_since_epoch()).count());
    const std::uint64_t mark = (hash & 0xFFFFFFFF00000000U) | second;
    return freshened_[hash % freshened_.size()].exchange(mark, std::memory_order_relaxed) == mark;
}

void memcached_store::erase(std::string_view key, moment /*now*/) {
    // First the epoch: a write that is past its check is before the erase in the lane, every other one sees this.
    epoch_of(key).fetch_add(1, std::memory_order_acq_rel);
    std::string record_key = meta_key(key);
    lane& at = lane_of(record_key);
    at.erase(std::move(record_key));
    counted_.add(operation::erase, outcome::ok);
}

bool memcached_store::available(std::string_view key) {
    return lane_of(meta_key(key)).available();
}

store_stats memcached_store::stats() const {
    store_stats out;
    counted_.read(out);
    out.pending_writes = publisher_.pending();
    out.pending_purges = journal_.purges().pending();
    for (const auto& l : lanes_) out.servers.push_back(l->stats());
    return out;
}

std::unique_ptr<store> make_memcached_store(const memcached_options& options) {
    return std::make_unique<memcached_store>(options);
}

}  // namespace etagere::store
