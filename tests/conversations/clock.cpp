// The clock of the conversations, in place of src/net/clock.cpp: the runner moves it, through a file of two 64-bit
// numbers that ETAGERE_VIRTUAL_CLOCK names. Wall time stands still between the moves, so that ages and dates can be
// written down exactly; steady time runs on and jumps along, so that deadlines of milliseconds need nobody to push
// them.
#include "etagere/net/clock.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>

namespace etagere::net {
namespace {

struct shared_time {
    std::atomic<std::int64_t> wall_ms;   // since the epoch
    std::atomic<std::int64_t> ahead_ms;  // of the machine's steady clock
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// How late a timer may notice that time was moved.
constexpr milliseconds look_again{2};

const shared_time& map() {
    const char* const path = std::getenv("ETAGERE_VIRTUAL_CLOCK");
    const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC);
    void* const at = file < 0 ? MAP_FAILED : ::mmap(nullptr, sizeof(shared_time), PROT_READ, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        std::fputs("ETAGERE_VIRTUAL_CLOCK must name the clock's file: see tests/conversations\n", stderr);
        std::exit(EXIT_FAILURE);
    }
    return *static_cast<const shared_time*>(at);
}

const shared_time& shared() {
    static const shared_time& at = map();
    return at;
}

}  // namespace

clock::time_point clock::now() noexcept {
    return std::chrono::steady_clock::now() + milliseconds(shared().ahead_ms.load(std::memory_order_acquire));
}

moment clock::wall_and_steady() noexcept {
    return {wall_time(milliseconds(shared().wall_ms.load(std::memory_order_acquire))), now()};
}

clock::duration clock::to_wait_duration(const duration& remaining) noexcept {
    return remaining < look_again ? remaining : look_again;
}

}  // namespace etagere::net
