#include "real_memcached.hpp"

#include "backends.hpp"
#include "sockets.hpp"

#include <atomic>
#include <cstdlib>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <libmemcached/memcached.h>

extern char** environ;

namespace etagere::store::testing {

std::uint16_t free_port() {
    return port_of(listen_on(0));
}

std::string fresh_prefix() {
    static std::atomic<int> next = 0;
    return "test" + std::to_string(getpid()) + "-" + std::to_string(next++);
}

real_memcached::real_memcached(std::vector<std::string> more_arguments) : more_(std::move(more_arguments)) {
    restart();
}

real_memcached::~real_memcached() {
    kill();
}

void real_memcached::kill() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

void real_memcached::restart() {
    kill();
    for (int attempt = 0; attempt < 10; ++attempt) {  // somebody else may take the port in between
        if (port_ == 0) port_ = free_port();
        std::vector<std::string> arguments{
            "/usr/bin/memcached", "-l", "127.0.0.1", "-p", std::to_string(port_), "-U", "0", "-m", "64", "-t", "2"};
        if (geteuid() == 0) arguments.insert(arguments.end(), {"-u", "nobody"});
        arguments.insert(arguments.end(), more_.begin(), more_.end());
        std::vector<char*> argv;
        for (std::string& a : arguments) argv.push_back(a.data());
        argv.push_back(nullptr);
        const int failure = posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ);
        if (failure != 0) {
            pid_ = -1;
            ADD_FAILURE() << "memcached is needed for this test (Debian package memcached)";
            return;
        }
        bool ended = false;
        const bool up = eventually([&] {
            ended = waitpid(pid_, nullptr, WNOHANG) == pid_;
            return ended || static_cast<bool>(connect_to(port_));
        });
        if (up && !ended) return;
        if (ended) pid_ = -1;
        kill();
        port_ = 0;
    }
    ADD_FAILURE() << "memcached does not start";
}

real_memcached& shared_memcached() {
    static real_memcached one;
    return one;
}

plain_client::plain_client(const std::vector<memcached_server>& servers) : handle_(memcached_create(nullptr)) {
    memcached_behavior_set(handle_, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
    for (const auto& s : servers) memcached_server_add(handle_, s.host.c_str(), s.port);
}
plain_client::~plain_client() {
    memcached_free(handle_);
}

std::optional<std::string> plain_client::get(const std::string& key) {
    std::size_t size = 0;
    std::uint32_t flags = 0;
    memcached_return_t rc = MEMCACHED_SUCCESS;
    char* const value = memcached_get(handle_, key.data(), key.size(), &size, &flags, &rc);
    if (rc != MEMCACHED_SUCCESS) return std::nullopt;
    std::string out(value == nullptr ? "" : value, size);
    std::free(value);  // libmemcached's
    return out;
}
bool plain_client::set(const std::string& key, const std::string& value) {
    return memcached_set(handle_, key.data(), key.size(), value.data(), value.size(), 0, 0) == MEMCACHED_SUCCESS;
}
bool plain_client::remove(const std::string& key) {
    return memcached_delete(handle_, key.data(), key.size(), 0) == MEMCACHED_SUCCESS;
}

namespace {

std::string converse(const memcached_server& server, const std::string& command, std::string_view end) {
    const socket_fd s = connect_to(server.port);
    std::string out;
    if (!s || !send_all(s, command + "\r\n")) return out;
    while (!out.ends_with(end)) {
        const std::string more = receive_some(s);
        if (more.empty()) break;
        out += more;
    }
    return out;
}

}  // namespace

std::string stat_of(const memcached_server& server, const std::string& name) {
    const std::string all = converse(server, "stats", "END\r\n");
    const std::string start = "STAT " + name + ' ';
    const std::size_t at = all.find(start);
    if (at == std::string::npos) return "";
    return all.substr(at + start.size(), all.find('\r', at) - at - start.size());
}

std::vector<std::string> keys_in(const memcached_server& server, const std::string& prefix) {
    std::vector<std::string> keys;
    const std::string all = converse(server, "lru_crawler metadump all", "END\r\n");
    for (std::size_t at = all.find("key="); at != std::string::npos; at = all.find("key=", at + 1)) {
        std::string key = all.substr(at + 4, all.find(' ', at) - at - 4);
        for (std::size_t c = key.find("%3A"); c != std::string::npos; c = key.find("%3A")) key.replace(c, 3, ":");
        if (key.starts_with(prefix)) keys.push_back(std::move(key));
    }
    return keys;
}

std::optional<long> lifetime_of(const memcached_server& server, const std::string& key) {
    const std::string line = converse(server, "mg " + key + " t", "\r\n");
    const std::size_t at = line.find(" t");
    if (!line.starts_with("HD") || at == std::string::npos) return std::nullopt;
    return std::strtol(line.c_str() + at + 2, nullptr, 10);
}

}  // namespace etagere::store::testing
