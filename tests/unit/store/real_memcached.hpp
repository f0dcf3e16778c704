// A real memcached for one test, and a plain libmemcached client that looks at what is in it.
#pragma once

#include "etagere/store/memcached.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

struct memcached_st;

namespace etagere::store::testing {

/// Listens on a free loopback port until destroyed or killed. The test fails where memcached is not installed.
class real_memcached {
public:
    explicit real_memcached(std::vector<std::string> more_arguments = {});
    ~real_memcached();
    real_memcached(const real_memcached&) = delete;
    real_memcached& operator=(const real_memcached&) = delete;

    std::uint16_t port() const { return port_; }
    memcached_server address() const { return {.host = "127.0.0.1", .port = port_}; }
    void kill();
    /// Again on the same port, empty.
    void restart();

private:
    std::vector<std::string> more_;
    std::uint16_t port_ = 0;
    pid_t pid_ = -1;
};
/// One for all tests that need nothing special of it; each uses a prefix of its own.
real_memcached& shared_memcached();
/// A port nobody listens on.
std::uint16_t free_port();
/// Never used before in this process.
std::string fresh_prefix();

/// As another application would use it.
class plain_client {
public:
    explicit plain_client(const std::vector<memcached_server>& servers);
    ~plain_client();
    plain_client(const plain_client&) = delete;
    plain_client& operator=(const plain_client&) = delete;

    std::optional<std::string> get(const std::string& key);
    bool set(const std::string& key, const std::string& value);
    bool remove(const std::string& key);

private:
    memcached_st* handle_;
};

/// What a memcached says about itself: "items", "curr_connections", …
std::string stat_of(const memcached_server& server, const std::string& name);
/// All keys in it that begin so.
std::vector<std::string> keys_in(const memcached_server& server, const std::string& prefix);
/// Remaining lifetime of a key in seconds, -1 for ever, nothing where it is not there.
std::optional<long> lifetime_of(const memcached_server& server, const std::string& key);

}  // namespace etagere::store::testing
