#include "etagere/exchange/store_reads.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>

namespace etagere::exchange {

namespace {

void put(store::store& from, const std::string& key, wish what, moment now, store::store::found_handler done) {
    if (what == wish::bodies) return from.load_whole(key, now, std::move(done));
    from.load(key, now, std::move(done));
}

void put(store::store& from, const std::string& key, const store::object_ptr& head, moment now,
         store::store::body_handler done) {
    from.load_body(key, head, now, std::move(done));
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
    for (read* const r : asked_) {
        put(*r->from, r->key, r->wanted, now,
            [at = arrivals_, r](Answer answer) { arrive(at, *r, std::move(answer)); });
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
