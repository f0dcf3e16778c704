// Between a store and its memcached: passes bytes, until it is told to be a bad server.
#pragma once

#include "sockets.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace etagere::store::testing {

class fault_proxy {
public:
    struct fault {
        enum class kind : std::uint8_t {
            none,
            hang,      // takes everything, answers nothing
            canned,    // answers every command with `text`, asks nobody
            late,      // keeps the answers until release()
            truncate,  // closes after `n` octets of an answer
            flip,      // turns bit n of an answer over
            drip,      // sends an octet every millisecond
            slow,      // sends 64 KiB at most every `n` ms
            close,     // closes every connection when it is used
        };
        kind what = kind::none;
        std::size_t n = 0;
        std::string text = {};
    };

    /// `upstream` 0: nobody behind it.
    explicit fault_proxy(std::uint16_t upstream)
        : upstream_(upstream),
          listener_(listen_on(0)),
          port_(port_of(listener_)),
          acceptor_([this] { accept_all(); }) {}
    ~fault_proxy() {
        stopping_ = true;
        acceptor_.join();
        connections_.clear();
    }
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    std::uint16_t port() const { return port_; }
    /// Of every answer from now on.
    void set(fault f) {
        const std::lock_guard lock(mutex_);
        fault_ = std::move(f);
    }
    void release() { ++released_; }
    int accepted() const { return accepted_; }
    std::size_t held() const { return held_; }
    /// Every octet that was sent to the server.
    std::string asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

private:
    static constexpr int tick = 2;  // ms between two looks at what changed

    static bool readable(const socket_fd& s, int most) {
        pollfd p{.fd = s.get(), .events = POLLIN, .revents = 0};
        return poll(&p, 1, most) > 0;
    }
    fault current() const {
        const std::lock_guard lock(mutex_);
        return fault_;
    }
    void accept_all() {
        while (!stopping_) {
            if (!readable(listener_, tick)) continue;
            socket_fd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!client) continue;
            ++accepted_;
            connections_.emplace_back([this, c = std::move(client)]() mutable { serve(std::move(c)); });
        }
    }
    void serve(socket_fd client) {
        socket_fd server(upstream_ == 0 ? -1 : connect_to(upstream_).release());
        std::string kept;
        int seen = released_;
        while (!stopping_) {
            if (readable(client, tick) && !to_server(client, server)) return;
            if (server && readable(server, 0)) {
                const std::string answer = receive_some(server);
                if (answer.empty() || !to_client(client, answer, kept)) return;
            }
            if (released_ != seen) {
                seen = released_;
                held_ -= kept.size();
                if (!send_all(client, std::exchange(kept, {}))) return;
            }
        }
    }
    bool to_server(const socket_fd& client, const socket_fd& server) {
        const std::string bytes = receive_some(client);
        if (bytes.empty()) return false;
        {
            const std::lock_guard lock(mutex_);
            asked_ += bytes;
        }
        const fault f = current();
        switch (f.what) {
            case fault::kind::hang: return true;
            case fault::kind::close: return false;
            case fault::kind::canned: return send_all(client, f.text);
            default: return !server || send_all(server, bytes);
        }
    }
    bool to_client(const socket_fd& client, std::string answer, std::string& kept) {
        const fault f = current();
        switch (f.what) {
            case fault::kind::late:
                held_ += answer.size();
                kept += answer;
                return true;
            case fault::kind::truncate: send_all(client, std::string_view(answer).substr(0, f.n)); return false;
            case fault::kind::flip:
                if (f.n / 8 < answer.size()) answer[f.n / 8] = static_cast<char>(answer[f.n / 8] ^ (1 << (f.n % 8)));
                return send_all(client, answer);
            case fault::kind::drip:
                for (std::size_t i = 0; i < answer.size() && !stopping_; ++i) {
                    if (!send_all(client, std::string_view(answer).substr(i, 1))) return false;
                    if (readable(client, 1) && receive_some(client).empty()) return false;
                }
                return true;
            case fault::kind::slow:
                for (std::size_t waited = 0; waited < f.n && !stopping_; ++waited) {
                    if (readable(client, 1)) break;
                }
                return send_all(client, answer);
            default: return send_all(client, answer);
        }
    }

    std::uint16_t upstream_;
    socket_fd listener_;
    std::uint16_t port_;
    mutable std::mutex mutex_;
    fault fault_;
    std::string asked_;
    std::atomic<bool> stopping_ = false;
    std::atomic<int> released_ = 0;
    std::atomic<int> accepted_ = 0;
    std::atomic<std::size_t> held_ = 0;
    std::list<std::jthread> connections_;  // of the acceptor alone, until it ended
    std::jthread acceptor_;
};

}  // namespace etagere::store::testing
