#include "client.hpp"

#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <libmemcached/memcached.h>

namespace {

thread_local std::jmp_buf* way_back = nullptr;  // of a lane inside libmemcached

}  // namespace

// libmemcached 1.1.4 asserts what a server says: a reply to `add` or `cas` that is neither STORED nor a failure, such
// as an END that came twice, ends the process (storage.cc). That is no invariant of ours. So within a call of the
// library a failed assertion ends the call; everywhere else it aborts, as glibc's does, which this replaces.
// The name is what assert() calls.
extern "C" __attribute__((noreturn)) void __assert_fail(const char* what, const char* file, unsigned line,
                                                        const char* function) noexcept {
    if (way_back != nullptr) std::longjmp(*way_back, 1);  // over frames of libmemcached; see adr/0015
    (void)std::fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line, function, what);
    std::abort();
}

namespace etagere::store {
namespace {

/// A call of libmemcached whose failed assertion counts as a protocol error. The handle can only be freed after that.
template <class Call> memcached_return_t guarded(Call call) noexcept {
    std::jmp_buf here;
    memcached_return_t rc = MEMCACHED_PROTOCOL_ERROR;
    if (setjmp(here) == 0) {
        way_back = &here;
        rc = call();
    } else {
        rc = MEMCACHED_PROTOCOL_ERROR;
    }
    way_back = nullptr;
    return rc;
}

constexpr std::size_t longest_key = 250;

reply_status status_of(memcached_return_t rc) noexcept {
    switch (rc) {
        case MEMCACHED_SUCCESS:
        case MEMCACHED_STORED:
        case MEMCACHED_DELETED: return reply_status::ok;
        case MEMCACHED_NOTFOUND:
        case MEMCACHED_NOTSTORED: return reply_status::miss;
        case MEMCACHED_DATA_EXISTS: return reply_status::conflict;
        case MEMCACHED_E2BIG: return reply_status::too_large;
        case MEMCACHED_SERVER_ERROR:
        case MEMCACHED_SERVER_MEMORY_ALLOCATION_FAILURE: return reply_status::refused;
        case MEMCACHED_TIMEOUT:
        case MEMCACHED_IN_PROGRESS: return reply_status::timeout;
        default: return reply_status::error;
    }
}

void set(memcached_st* handle, memcached_behavior_t what, std::uint64_t value) {
    memcached_behavior_set(handle, what, value);
}

}  // namespace

client::client(memcached_server server, milliseconds timeout, milliseconds connect_timeout)
    : server_(std::move(server)), timeout_(timeout), connect_timeout_(connect_timeout) {}

client::~client() {
    close();
}

void client::open() {
    memcached_st* made = nullptr;
    if (handle_ == nullptr) {
        made = memcached_create(nullptr);
        const auto ms = static_cast<std::uint64_t>(timeout_.count());
        set(made, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, ms);
        set(made, MEMCACHED_BEHAVIOR_SND_TIMEOUT, ms * 1000);
        set(made, MEMCACHED_BEHAVIOR_RCV_TIMEOUT, ms * 1000);
        set(made, MEMCACHED_BEHAVIOR_CONNECT_TIMEOUT, static_cast<std::uint64_t>(connect_timeout_.count()));
        set(made, MEMCACHED_BEHAVIOR_TCP_NODELAY, 1);
        set(made, MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
        // The text protocol: its replies name the key, and memcached calls the binary one deprecated. Keys are checked,
        // because libmemcached by default sends whatever it is given, line ends included.
        set(made, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 0);
        set(made, MEMCACHED_BEHAVIOR_VERIFY_KEY, 1);
        memcached_server_add(made, server_.host.c_str(), server_.port);
        proven_ = false;
    }
    const std::lock_guard lock(swap_);
    if (made != nullptr) handle_ = made;
    if (last_ == steady_time::max()) return;
    const auto left = std::chrono::ceil<milliseconds>(last_ - std::chrono::steady_clock::now());
    set(handle_, MEMCACHED_BEHAVIOR_POLL_TIMEOUT,
        static_cast<std::uint64_t>(std::clamp(left, milliseconds(0), timeout_).count()));
}

void client::close() noexcept {
    memcached_st* old = nullptr;
    {
        const std::lock_guard lock(swap_);
        old = std::exchange(handle_, nullptr);
    }
    if (old == nullptr) return;
    set(old, MEMCACHED_BEHAVIOR_POLL_TIMEOUT, 0);  // its "quit" must not wait for a server that hangs
    memcached_free(old);
}

void client::interrupt() noexcept {
    const std::lock_guard lock(swap_);
    // The library reads it before each wait and takes zero for a timeout: the only way to end a call from outside.
    if (handle_ != nullptr) std::atomic_ref(handle_->poll_timeout).store(0, std::memory_order_relaxed);
}

void client::end_by(steady_time last) noexcept {
    const std::lock_guard lock(swap_);
    last_ = last;
}

reply_status client::judge(int rc) {
    const reply_status status = status_of(static_cast<memcached_return_t>(rc));
    switch (status) {
        case reply_status::ok:
        case reply_status::miss:
        case reply_status::conflict: proven_ = true; break;
        default: close(); reconnects_.fetch_add(1, std::memory_order_relaxed);
    }
    return status;
}

reply_status client::get(std::span<const std::string_view> keys, deliver& found) {
    open();
    std::vector<const char*> pointers;
    std::vector<std::size_t> lengths;
    for (const std::string_view key : keys) {
        pointers.push_back(key.data());
        lengths.push_back(key.size());
    }
    memcached_return_t rc = memcached_mget(handle_, pointers.data(), lengths.data(), keys.size());
    if (rc != MEMCACHED_SUCCESS) return judge(rc);
    memcached_result_st result;
    memcached_result_create(handle_, &result);
    std::vector<bool> seen(keys.size(), false);
    bool surprised = false;
    while (!surprised && memcached_fetch_result(handle_, &result, &rc) != nullptr) {
        const std::string_view key(memcached_result_key_value(&result),
                                   std::min(memcached_result_key_length(&result), longest_key));
        const auto at = std::ranges::lower_bound(keys, key);
        const auto index = static_cast<std::size_t>(at - keys.begin());
        // A value nobody asked for, or one twice: the replies are those of another conversation.
        surprised = at == keys.end() || *at != key || seen[index];
        if (surprised) break;
        seen[index] = true;
        const std::size_t size = memcached_result_length(&result);
        const std::uint64_t cas = memcached_result_cas(&result);
        found(index, std::make_shared<received>(memcached_result_take_value(&result), size, cas));
    }
    memcached_result_free(&result);
    if (surprised) return judge(MEMCACHED_PROTOCOL_ERROR);
    // At the end of the list it says "end", or "not found" where the list was empty; but it may also say "not found"
    // for what was a failure, and only the last error tells.
    if (rc == MEMCACHED_END || rc == MEMCACHED_NOTFOUND) {
        const memcached_return_t last = memcached_last_error(handle_);
        const bool plain = last == MEMCACHED_SUCCESS || last == MEMCACHED_END || last == MEMCACHED_NOTFOUND;
        return judge(plain ? MEMCACHED_SUCCESS : last);
    }
    return judge(rc == MEMCACHED_SUCCESS ? MEMCACHED_PROTOCOL_ERROR : rc);
}

reply_status client::write(const request& r) {
    open();
    const char* const key = r.key.data();
    const char* const value = r.value.data();
    switch (r.what) {
        case verb::add:
            return judge(
                guarded([&] { return memcached_add(handle_, key, r.key.size(), value, r.value.size(), r.expiry, 0); }));
        case verb::cas:
            return judge(guarded(
                [&] { return memcached_cas(handle_, key, r.key.size(), value, r.value.size(), r.expiry, 0, r.cas); }));
        case verb::touch: return judge(guarded([&] { return memcached_touch(handle_, key, r.key.size(), r.expiry); }));
        case verb::get: break;
    }
    return reply_status::error;
}

reply_status client::remove(const std::string& key) {
    open();
    return judge(guarded([&] { return memcached_delete(handle_, key.data(), key.size(), 0); }));
}

}  // namespace etagere::store
