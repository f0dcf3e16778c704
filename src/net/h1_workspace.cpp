#include "h1_workspace.hpp"

#include <algorithm>
#include <cstring>

namespace etagere::net {

namespace {

/// More are kept by nobody: after a burst the memory goes back.
constexpr std::size_t most_spare = 32;
/// One that an unusual request has made larger than this in any part goes too.
constexpr std::size_t usual_size = read_buffer::initial;

bool is_usual(const workspace& w) noexcept {
    return std::max({w.in.capacity(), w.out.capacity(), w.answer.dynamic.capacity(), w.head.header.memory()}) <=
           usual_size;
}

}  // namespace

asio::mutable_buffer read_buffer::space(std::size_t most) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (bytes_.empty()) bytes_.resize(std::min(initial, most));
    if (end_ == bytes_.size() && begin_ > 0) {
        std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ == bytes_.size() && bytes_.size() < most) bytes_.resize(std::min(bytes_.size() * 2, most));
    return {bytes_.data() + end_, bytes_.size() - end_};
}

void workspace::clear() noexcept {
    in.clear();
    head.clear();
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
