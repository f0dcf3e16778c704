#include "h1_workspace.hpp"

#include <algorithm>
#include <cstring>

namespace etagere::net {

namespace {

/// Requests that wait for something hold theirs, so there are as many as wait at once. Beyond this nobody keeps them:
/// after a burst the memory goes back.
constexpr std::size_t most_spare = 128;
/// One that an unusual request has made larger than this in any part goes too.
constexpr std::size_t usual_size = read_buffer::initial;

bool is_usual(const workspace& w) noexcept {
    return std::max({w.in.capacity(), w.out.capacity(), w.answer.dynamic.capacity(), w.request.memory()}) <= usual_size;
}

}  // namespace

void read_buffer::grow(std::size_t to) {
    auto larger = std::make_unique_for_overwrite<char[]>(to);
    if (end_ > 0) std::memcpy(larger.get(), bytes_.get(), end_);
    bytes_ = std::move(larger);
    capacity_ = to;
}

asio::mutable_buffer read_buffer::space(std::size_t most) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (!bytes_) grow(std::min(initial, most));
    if (end_ == capacity_ && begin_ > 0) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == capacity_ && capacity_ < most) grow(std::min(capacity_ * 2, most));
    return {bytes_.get() + end_, capacity_ - end_};
}

void workspace::clear() noexcept {
    in.clear();
    answer.clear();
    out.clear();
}

workspace_pool::workspace_pool() {
    spare_.reserve(most_spare);
}

workspace_ptr workspace_pool::take() {
    if (spare_.empty()) return std::make_unique<workspace>();
    workspace_ptr w = std::move(spare_.back());
    spare_.pop_back();
    return w;
}

void workspace_pool::give_back(workspace_ptr w) noexcept {
    if (spare_.size() >= most_spare || !is_usual(*w)) return;
    w->clear();
    spare_.push_back(std::move(w));
}

}  // namespace etagere::net
