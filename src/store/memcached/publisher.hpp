// The writing side of the memcached store: one thread that publishes responses, entity first, then the meta record.
#pragma once

#include "etagere/store/record.hpp"

#include "ask.hpp"
#include "counters.hpp"
#include "lane.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace etagere::store {

/// What to write. Everything heavy about it (digests, encoding, waiting for servers) happens on the publisher's thread.
struct change {
    enum class kind : std::uint8_t {
        put,
        freshen,
        restore,  // freshen, or put it again where the remote level has lost it
        drop,     // forget this variant; where the object names an entity, only if it is still that very answer
    };
    kind what = kind::put;
    std::string key;
    object_ptr object;
    std::uint32_t max_variants = 32;
    moment now{};
    const epoch* guard = nullptr;
    std::uint32_t guarded_at = 0;
    std::move_only_function<void()> after;  // where set: called when it was carried out, whatever came of it
};

/// Keys of records and the lanes they lie on.
class shelf {
public:
    virtual ~shelf() = default;
    virtual std::string meta_key(std::string_view key) const = 0;
    virtual std::string entity_key(std::string_view piece) const = 0;
    virtual lane& lane_of(const std::string& record_key) = 0;
};

/// Thread-safe. One change after the other, in the order they came. The queue is bounded by number and by bytes; what
/// does not fit is dropped and counted: nobody ever waits for a write.
class publisher {
public:
    publisher(const memcached_options& options, const record::seal& seal, shelf& where, counters& counted);
    ~publisher() { stop(); }

    /// Ends the thread and drops what waits; what is submitted later is dropped too.
    void stop();
    /// What stop() begins with. For who has others to wait for first: a change begun meanwhile could take a whole
    /// timeout.
    void begin_nothing_more();

    void submit(change c);
    /// Those that wait, and the one that is being carried out.
    std::uint64_t pending() const;

private:
    using clock = std::chrono::steady_clock;
    /// Decides about the variants of a key; false: leave the record as it is.
    using edit = std::move_only_function<bool(std::vector<record::variant>&)>;

    void run();
    outcome carry_out(const change& c);
    outcome put(const change& c);
    outcome freshen(const change& c);
    outcome drop(const change& c);

    reply ask(const request_ptr& r) { return ask_and_wait(where_.lane_of(r->key), r); }
    outcome write_entity(const change& c, const record::entity_layout& layout);
    outcome write_piece(const change& c, const record::entity_layout& layout, std::uint32_t index);
    void touch_entity(const change& c, const record::entity_layout& layout);
    outcome update_meta(const change& c, edit change_variants);
    outcome drop_selected(const change& c);
    std::string encode_fitting(const std::string& key, std::vector<record::variant>& variants) const;

    const memcached_options& options_;
    const record::seal& seal_;
    shelf& where_;
    counters& counted_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<change> waiting_;
    std::uint64_t waiting_bytes_ = 0;
    bool carrying_out_ = false;
    std::atomic<bool> stopping_ = false;
    std::jthread thread_;
};

}  // namespace etagere::store
