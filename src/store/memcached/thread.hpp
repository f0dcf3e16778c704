// Threads of the store: named, and blind to signals, which belong to the main thread.
#pragma once

#include <csignal>
#include <pthread.h>
#include <thread>

namespace etagere::store {

template <class Body> std::jthread start_thread(const char* name, Body body) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the new thread
    std::jthread thread(std::move(body));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread.native_handle(), name);
    return thread;
}

}  // namespace etagere::store
