// Keeps a process's purges and the journal in memcached the same: reads it at the start and every `purge_poll`, writes
// what is purged here, and puts it back where memcached has lost it.
#pragma once

#include "etagere/store/purges.hpp"

#include "ask.hpp"
#include "counters.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace etagere::store {

/// Thread-safe. One thread, which waits for the server and for nothing else.
class journal_keeper {
public:
    journal_keeper(const memcached_options& options, const record::seal& seal, std::string key, lane& at,
                   counters& counted);
    ~journal_keeper() { stop(); }

    /// Ends the thread; whoever waits for a publication is told that there was none.
    void stop();

    purge_table& purges() noexcept { return purges_; }
    const purge_table& purges() const noexcept { return purges_; }
    void purge(std::span<const cache::purge_target> groups, bool soft, wall_time now, store::purge_handler done);
    /// Waits until the journal was read for the first time, at most for `patience`.
    void wait_known(milliseconds patience);

private:
    void run();
    bool synchronise();
    /// True where memory and memcached say the same now; nullopt: somebody else wrote in between.
    std::optional<bool> exchange_once();

    const memcached_options& options_;
    const record::seal& seal_;
    const std::string key_;
    lane& at_;
    counters& counted_;
    purge_table purges_{true};
    std::string last_;    // the record as it was last seen or written
    bool hangs_ = false;  // the last question was not answered in time

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<store::purge_handler> waiting_;
    bool wanted_ = true;
    bool tried_ = false;                  // the first answer is there, be it that there is none
    std::atomic<bool> stopping_ = false;  // written under the mutex
    std::jthread thread_;
};

}  // namespace etagere::store
