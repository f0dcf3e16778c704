// What one worker asks of stores that have to wait for their answers.
#pragma once

#include "etagere/net/worker.hpp"
#include "etagere/store/store.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etagere::exchange {

/// Questions to stores: what is wanted besides the key, and what they answer. What is asked in one turn of the worker's
/// loop goes out at its end, and who asks for the same in that turn gets the same answer: sixty clients of one key are
/// one question. Nobody joins what is out already: that answer may be older than a write which this client knows of.
/// Not thread-safe: belongs to its worker. Stores may outlive it; what they answer then is dropped.
template <class Wanted, class Answer> class joint_reads {
public:
    explicit joint_reads(net::worker& on) : on_(on), arrivals_(std::make_shared<arrivals>(*this)) {}
    ~joint_reads();
    joint_reads(const joint_reads&) = delete;
    joint_reads& operator=(const joint_reads&) = delete;

    /// `auto [answer] = co_await …ask(…);` `from` and `key` live as long as somebody waits.
    auto ask(store::store& from, std::string_view key, Wanted wanted) {
        return net::asio::async_initiate<const net::use_task_t, void(Answer)>(
            [this, &from, key, wanted = std::move(wanted)](net::completion<Answer> done) {
                read_of(from, key, wanted).waiting.push_back(std::move(done));
            },
            net::use_task);
    }

private:
    struct read {
        store::store* from = nullptr;
        std::string key;
        Wanted wanted{};
        std::vector<net::completion<Answer>> waiting;
    };
    using answered = std::vector<std::pair<read*, Answer>>;
    /// Between the store's threads and the worker. What arrives before the worker comes to it is one event of its loop.
    struct arrivals {
        explicit arrivals(joint_reads& reads) : to(&reads) {}
        std::mutex mutex;
        joint_reads* to;  // null: gone
        answered waiting;
    };

    read& read_of(store::store& from, std::string_view key, const Wanted& wanted);
    void send();
    void deliver();
    static void arrive(const std::shared_ptr<arrivals>& at, read& r, Answer answer);

    net::worker& on_;
    std::vector<std::unique_ptr<read>> all_;
    std::vector<read*> idle_;
    std::vector<read*> asked_;  // in this turn
    answered delivering_;
    std::shared_ptr<arrivals> arrivals_;
};

enum class wish : std::uint8_t {
    heads,
    bodies,  // store::question::whole
};

struct store_reads {
    explicit store_reads(net::worker& on) : heads(on), bodies(on) {}
    joint_reads<wish, result<store::found>> heads;
    joint_reads<store::object_ptr, result<store::object_ptr>> bodies;  // load_body() of that head
};

}  // namespace etagere::exchange
