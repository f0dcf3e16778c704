#include "etagere/exchange/store_reads.hpp"

#include <algorithm>
#include <span>

#include <boost/asio/post.hpp>

namespace etagere::exchange {

namespace {

/// `reads` are all of one store; `done_of(read)` makes what takes the answer.
template <class Read> void put(std::span<Read* const> reads, moment now, auto done_of, wish /*wanted*/) {
    std::vector<store::store::question> questions;
    questions.reserve(reads.size());
    for (Read* const r : reads) {
        questions.push_back({.key = r->key, .whole = r->wanted == wish::bodies, .done = done_of(*r)});
    }
    reads.front()->from->load_all(questions, now);
}

template <class Read>
void put(std::span<Read* const> reads, moment now, auto done_of, const store::object_ptr& /*wanted*/) {
    for (Read* const r : reads) r->from->load_body(r->key, r->wanted, now, done_of(*r));
}

}  // namespace

template <class Wanted, class Answer> joint_reads<Wanted, Answer>::~joint_reads() {
    const std::lock_guard lock(arrivals_->mutex);
    arrivals_->to = nullptr;
    arrivals_->waiting.clear();
}

template <class Wanted, class Answer>
joint_reads<Wanted, Answer>::read& joint_reads<Wanted, Answer>::read_of(store::store& from, std::string_view key,
                                                                        const Wanted& wanted) {
    const auto same = std::ranges::find_if(
        asked_, [&](const read* r) { return r->from == &from && r->wanted == wanted && r->key == key; });
    if (same != asked_.end()) return **same;
    if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<read>()).get());
    read& r = *idle_.back();
    idle_.pop_back();
    r.from = &from;
    r.key = key;
    r.wanted = wanted;
    // Behind all that this turn of the loop has found ready.
    if (asked_.empty()) net::asio::post(on_.executor(), [this] { send(); });
    asked_.push_back(&r);
    return r;
}

template <class Wanted, class Answer> void joint_reads<Wanted, Answer>::send() {
    const moment now = on_.now();
    const auto done_of = [this](read& r) {
        return [at = arrivals_, to = &r](Answer answer) { arrive(at, *to, std::move(answer)); };
    };
    for (std::span<read*> left = asked_; !left.empty();) {
        store::store* const from = left.front()->from;
        const auto others = std::ranges::partition(left, [from](const read* r) { return r->from == from; });
        put(std::span<read* const>(left.begin(), others.begin()), now, done_of, Wanted{});
        left = others;
    }
    asked_.clear();
}

// On any thread.
template <class Wanted, class Answer>
void joint_reads<Wanted, Answer>::arrive(const std::shared_ptr<arrivals>& at, read& r, Answer answer) {
    const std::lock_guard lock(at->mutex);
    if (at->to == nullptr) return;
    at->waiting.emplace_back(&r, std::move(answer));
    if (at->waiting.size() == 1) net::asio::post(at->to->on_.executor(), [to = at->to] { to->deliver(); });
}

template <class Wanted, class Answer> void joint_reads<Wanted, Answer>::deliver() {
    {
        const std::lock_guard lock(arrivals_->mutex);
        delivering_.swap(arrivals_->waiting);
    }
    for (auto& [r, answer] : delivering_) {
        for (auto& resume : r->waiting) resume(answer);
        r->waiting.clear();
        r->wanted = {};
        idle_.push_back(r);
    }
    delivering_.clear();
}

template class joint_reads<wish, result<store::found>>;
template class joint_reads<store::object_ptr, result<store::object_ptr>>;

}  // namespace etagere::exchange
