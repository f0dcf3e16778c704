// What a connection needs while a request is under way, and only then. An idle one has given it back to its worker, so
// that ten thousand kept connections cost what they are, and the one that wakes gets memory that is warm.
#pragma once

#include "etagere/http/h1/body.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/http/message.hpp"
#include "etagere/net/transaction.hpp"

#include <memory>
#include <string>
#include <vector>

namespace etagere::net {

/// What was read from the client and not used yet. One allocation, reused; views into it live until the next fill.
class read_buffer {
public:
    static constexpr std::size_t initial = std::size_t{16} * 1024;

    std::string_view data() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }
    bool empty() const noexcept { return begin_ == end_; }
    void consume(std::size_t n) noexcept { begin_ += n; }
    /// Free space behind the data; moves the data to the front, and grows up to `most` bytes, where there is none.
    asio::mutable_buffer space(std::size_t most);
    void filled(std::size_t n) noexcept { end_ += n; }
    void clear() noexcept { begin_ = end_ = 0; }
    std::size_t capacity() const noexcept { return capacity_; }

private:
    void grow(std::size_t to);

    std::unique_ptr<char[]> bytes_;  // not filled with anything first: pages that no request reaches are never touched
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0, end_ = 0;
};

/// Everything in it keeps its capacity from one request to the next, of whatever connection.
struct workspace {
    read_buffer in;
    http::h1::request_parser request;
    http::h1::body_decoder decoder;
    immediate_answer answer;
    std::string out;  // head bytes and chunk lines that wait for content

    /// Nothing of one client is left for the next, but in `request` the head that the next one is compared with.
    void clear() noexcept;
};
using workspace_ptr = std::unique_ptr<workspace>;

/// A worker's spare workspaces. Not thread-safe: belongs to its worker.
class workspace_pool {
public:
    workspace_pool();
    workspace_ptr take();
    void give_back(workspace_ptr w) noexcept;

private:
    std::vector<workspace_ptr> spare_;
};

}  // namespace etagere::net
