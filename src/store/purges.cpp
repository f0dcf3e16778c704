#include "etagere/store/purges.hpp"

#include "etagere/base/bytes.hpp"

#include <algorithm>
#include <mutex>

namespace etagere::store {
namespace {

constexpr std::uint64_t own_era = 1;          // where nobody else has a say
constexpr std::size_t most_numbers = 65'536;  // likewise; several megabytes

wall_time time_of(std::uint64_t seq) noexcept {
    return wall_time(milliseconds(static_cast<std::int64_t>(seq)));
}

/// Numbers grow, and are about the time in milliseconds.
std::uint64_t after(std::uint64_t newest, wall_time now) noexcept {
    const auto ms = static_cast<std::uint64_t>(std::max<std::int64_t>(now.time_since_epoch().count(), 1));
    return std::max(newest + 1, ms);
}

}  // namespace

purge_table::purge_table(bool shared) : shared_(shared), era_(shared ? 0 : own_era) {}

cache::purge_mark purge_table::mark() const {
    const std::shared_lock lock(mutex_);
    return {.era = era_, .seq = newest_, .local = local_};
}

bool purge_table::known() const {
    const std::shared_lock lock(mutex_);
    return era_ != 0;
}

std::size_t purge_table::pending() const {
    const std::shared_lock lock(mutex_);
    return pending_;
}

// ---------------------------------------------------------------- judging

void purge_table::look(cache::group_id group, const object& o, cache::purge_state& out) const {
    for (const bool soft : {false, true}) {
        const auto at = numbers_.find(name{group, soft});
        if (at == numbers_.end()) continue;
        const number& n = at->second;
        const cache::purge_mark& known = o.response.known;
        if ((n.seq != 0 && known.seq >= n.seq) || (n.local != 0 && known.local >= n.local)) continue;
        if (!soft) {
            out.how = cache::purged::hard;
        } else if (out.how == cache::purged::no) {
            out = {cache::purged::soft, n.since};
        } else {
            out.since = std::min(out.since, n.since);
        }
    }
}

cache::purge_state purge_table::judge(const object& o, const http::request_head& request, std::string_view route,
                                      const cache::policy& rules, std::string& scratch) const {
    // One response may answer for several URLs (No-Vary-Search): what was found out counts for this one only.
    const std::uint64_t about = xxh3_128(request.target).low ^ version_.load(std::memory_order_acquire);
    if (o.looked_at.says(about)) return {};
    return judge_slowly(o, request, route, rules, scratch);
}

cache::purge_state purge_table::judge_slowly(const object& o, const http::request_head& request, std::string_view route,
                                             const cache::policy& rules, std::string& scratch) const {
    const std::shared_lock lock(mutex_);
    const cache::purge_mark& known = o.response.known;
    // While no journal is known, nobody can tell what others have purged of what they kept.
    const bool foreign = era_ == 0 && known.local == 0;
    if (foreign || known.era != era_ || known.seq < floor_) return {.how = cache::purged::hard, .since = {}};
    cache::purge_state out;
    if (!numbers_.empty()) {
        const cache::request_groups groups = cache::groups_of(request, route, rules, scratch);
        look(cache::everything, o, out);
        look(groups.url, o, out);
        look(groups.url_of_any_host, o, out);
        look(groups.route, o, out);
        if (o.response.header.find("No-Vary-Search")) {
            look(groups.path, o, out);
            look(groups.path_of_any_host, o, out);
        }
        const std::string_view path = request.path();
        for (const std::uint16_t length : prefix_lengths_) {
            if (length > path.size()) break;
            look(cache::prefix_group(request.host, path.substr(0, length)), o, out);
            look(cache::prefix_group({}, path.substr(0, length)), o, out);
        }
        for (const cache::group_id tag : o.response.rest->tags) look(tag, o, out);
    }
    if (out.how == cache::purged::no) {
        o.looked_at.say(xxh3_128(request.target).low ^ version_.load(std::memory_order_relaxed));
    }
    return out;
}

// ---------------------------------------------------------------- purging

void purge_table::set(const name& n, const number& to) {
    const auto [at, fresh] = numbers_.insert_or_assign(n, to);
    if (to.prefix_length == 0 || !fresh) return;
    const auto where = std::ranges::lower_bound(prefix_lengths_, to.prefix_length);
    if (where == prefix_lengths_.end() || *where != to.prefix_length) prefix_lengths_.insert(where, to.prefix_length);
}

void purge_table::purge(std::span<const cache::purge_target> targets, bool soft, wall_time now) {
    const std::unique_lock lock(mutex_);
    ++local_;
    if (!shared_) newest_ = after(newest_, now);
    for (const cache::purge_target& t : targets) {
        const name n{t.group, soft};
        const auto old = numbers_.find(n);
        if (shared_ && (old == numbers_.end() || old->second.seq != 0)) ++pending_;
        set(n, {.seq = shared_ ? 0 : newest_, .local = local_, .since = now, .prefix_length = t.prefix_length});
    }
    bound();
    changed();
}

/// A table that nobody empties stays small: more is purged than was asked for, never less.
void purge_table::bound() {
    if (shared_ && pending_ > record::most_journal_entries) {
        std::erase_if(numbers_, [](const auto& one) { return one.second.seq == 0; });
        numbers_[name{cache::everything, false}] = {.seq = 0, .local = local_, .since = {}, .prefix_length = 0};
        pending_ = 1;
    }
    if (!shared_ && numbers_.size() > most_numbers) {
        std::vector<std::uint64_t> all;
        all.reserve(numbers_.size());
        for (const auto& [n, of] : numbers_) all.push_back(of.seq);
        const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
        std::ranges::nth_element(all, quarter);
        floor_ = *quarter;
        forget_covered();
    }
}

void purge_table::forget_covered() {
    std::erase_if(numbers_, [&](const auto& one) { return one.second.seq != 0 && one.second.seq <= floor_; });
    prefix_lengths_.clear();
    for (const auto& [n, of] : numbers_) {
        if (of.prefix_length != 0) prefix_lengths_.push_back(of.prefix_length);
    }
    std::ranges::sort(prefix_lengths_);
    const auto doubles = std::ranges::unique(prefix_lengths_);
    prefix_lengths_.erase(doubles.begin(), doubles.end());
}

// ---------------------------------------------------------------- the journal

void purge_table::take(const record::journal::entry& e) {
    const name n{e.group, e.soft};
    const auto old = numbers_.find(n);
    if (old == numbers_.end() || (old->second.seq != 0 && old->second.seq < e.seq)) {
        set(n, {.seq = e.seq, .local = 0, .since = time_of(e.seq), .prefix_length = e.prefix_length});
    } else if (old->second.seq == 0) {
        // Ours is not published yet, and another process purged the same: only what is asked for from now on is younger
        // than both.
        old->second.local = ++local_;
    }
}

void purge_table::adopt(const record::journal& read) {
    const std::unique_lock lock(mutex_);
    if (read.era != era_) {
        std::erase_if(numbers_, [](const auto& one) { return one.second.seq != 0; });
        era_ = read.era;
        newest_ = floor_ = 0;
    }
    for (const record::journal::entry& e : read.entries) {
        if (e.seq > floor_) take(e);
    }
    newest_ = std::max(newest_, read.newest);
    floor_ = std::max(floor_, read.floor);
    forget_covered();
    changed();
}

std::optional<purge_table::edition> purge_table::next_edition(const std::optional<record::journal>& read,
                                                              std::uint64_t new_era, wall_time now) const {
    const std::shared_lock lock(mutex_);
    edition out;
    record::journal& j = out.journal;
    if (read) {
        j = *read;
    } else {
        j.era = era_ != 0 ? era_ : new_era;
    }
    j.newest = std::max(j.newest, newest_);
    j.floor = std::max(j.floor, floor_);
    record::journal ours;
    ours.newest = j.newest;
    for (const auto& [n, of] : numbers_) {
        record::journal::entry e{.group = n.group, .seq = of.seq, .prefix_length = of.prefix_length, .soft = n.soft};
        if (of.seq == 0) {
            e.seq = ours.newest = after(ours.newest, now);
            out.ours.emplace_back(e, of.local);
        }
        ours.entries.push_back(e);
    }
    record::merge(j, ours);
    record::shrink(j);
    if (read && j == *read) return std::nullopt;
    return out;
}

void purge_table::published(const edition& e) {
    const std::unique_lock lock(mutex_);
    for (const auto& [entry, local] : e.ours) {
        const auto at = numbers_.find(name{entry.group, entry.soft});
        // Purged again meanwhile: that one is still to be published.
        if (at == numbers_.end() || at->second.seq != 0 || at->second.local != local) continue;
        at->second.seq = entry.seq;
        --pending_;
    }
    if (era_ != e.journal.era) {
        era_ = e.journal.era;
        newest_ = floor_ = 0;
    }
    newest_ = std::max(newest_, e.journal.newest);
    floor_ = std::max(floor_, e.journal.floor);
    forget_covered();
    changed();
}

}  // namespace etagere::store
