#include "journal_keeper.hpp"

#include "thread.hpp"

#include <algorithm>
#include <chrono>
#include <random>

namespace etagere::store {
namespace {

constexpr milliseconds first_poll{50};
constexpr int most_attempts = 8;  // of reading, changing and writing what others change as well

wall_time wall_now() {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
}

/// Of a journal that begins empty. Nothing that was kept before belongs to it.
std::uint64_t new_era() {
    std::random_device source;
    return (std::uint64_t{source()} << 32U | source()) | 1U;
}

}  // namespace

journal_keeper::journal_keeper(const memcached_options& options, const record::seal& seal, std::string key, lane& at,
                               counters& counted)
    : options_(options),
      seal_(seal),
      key_(std::move(key)),
      at_(at),
      counted_(counted),
      thread_(start_thread("mc-journal", [this] { run(); })) {}

void journal_keeper::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void journal_keeper::purge(std::span<const cache::purge_target> groups, bool soft, wall_time now,
                           store::purge_handler done) {
    purges_.purge(groups, soft, now);
    {
        const std::lock_guard lock(mutex_);
        if (!stopping_) {
            waiting_.push_back(std::move(done));
            wanted_ = true;
            changed_.notify_all();
            return;
        }
    }
    done(false);
}

void journal_keeper::wait_known(milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return tried_; });
}

void journal_keeper::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wanted_ = false;
        std::vector<store::purge_handler> told;
        told.swap(waiting_);
        const bool over = stopping_;
        lock.unlock();
        // At the end once more: what was purged in the last moment should not be lost for the others. But not of a
        // server that just let the timeout pass.
        const bool same = over ? purges_.pending() == 0 || (!hangs_ && synchronise()) : synchronise();
        for (store::purge_handler& tell : told) tell(same);
        lock.lock();
        if (over) return;
        tried_ = tried_ || same || !hangs_;
        changed_.notify_all();
        // Until it is known what counts, nothing that others have kept is of use.
        const milliseconds pause = purges_.known() ? options_.purge_poll : std::min(options_.purge_poll, first_poll);
        changed_.wait_for(lock, pause, [this] { return wanted_ || stopping_; });
    }
}

bool journal_keeper::synchronise() {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        if (const std::optional<bool> same = exchange_once()) return *same;
    }
    return false;
}

std::optional<bool> journal_keeper::exchange_once() {
    const auto read = std::make_shared<request>();
    read->key = key_;
    const reply got = ask_and_wait(at_, read);
    hangs_ = got.status == reply_status::timeout;
    if (got.status != reply_status::ok && got.status != reply_status::miss) return false;
    std::optional<record::journal> there;
    if (got.value) {
        const bool seen = got.value->view() == last_;
        if (seen && purges_.pending() == 0) return true;
        if (auto decoded = record::decode_journal(got.value->view(), seal_)) {
            there = std::move(*decoded);
            if (!seen) purges_.adopt(*there);
            last_ = got.value->view();
        } else {
            counters::increment(counted_.corrupt);  // and written anew
        }
    }
    const auto next = purges_.next_edition(there, new_era(), wall_now());
    if (!next) return true;
    const auto write = std::make_shared<request>();
    write->what = got.value ? verb::cas : verb::add;
    write->key = key_;
    write->cas = got.value ? got.value->cas() : 0;
    write->value = record::encode_journal(next->journal, seal_);
    std::string written = write->value;
    const reply answer = ask_and_wait(at_, write);
    hangs_ = answer.status == reply_status::timeout;
    if (answer.status == reply_status::miss || answer.status == reply_status::conflict) return std::nullopt;
    if (answer.status != reply_status::ok) return false;
    purges_.published(*next);
    last_ = std::move(written);
    return true;
}

}  // namespace etagere::store
