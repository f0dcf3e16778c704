// Asking a lane from a thread that may wait.
#pragma once

#include "lane.hpp"

#include <memory>
#include <semaphore>
#include <utility>

namespace etagere::store {

/// The lane or the watchdog answers in time, so this waits no longer than a request does.
inline reply ask_and_wait(lane& at, const request_ptr& r) {
    struct answer {
        std::binary_semaphore there{0};
        reply value;
    };
    const auto a = std::make_shared<answer>();
    r->done = [a](reply value) {
        a->value = std::move(value);
        a->there.release();
    };
    at.submit(r);
    a->there.acquire();
    return std::move(a->value);
}

}  // namespace etagere::store
