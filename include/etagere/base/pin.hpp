// Keeping something alive without knowing what it is.
#pragma once

#include <memory>
#include <utility>

namespace etagere {

/// Owns one reference to something, or nothing. Allocates nothing. Not thread-safe itself; what it drops may be shared.
class pin {
public:
    pin() = default;
    /// Of an intrusive pointer (`detach()` gives its reference away; made anew from a pointer it takes one over).
    template <class Pointer>
        requires requires(Pointer p) { p.detach(); }
    explicit pin(Pointer owner) noexcept
        : what_(owner.detach()),
          drop_([](const void* what) { Pointer(static_cast<typename Pointer::element_type*>(what), false); }) {}
    template <class T>
    explicit pin(std::unique_ptr<const T> owner) noexcept
        : what_(owner.release()), drop_([](const void* what) { delete static_cast<const T*>(what); }) {}
    pin(pin&& o) noexcept : what_(std::exchange(o.what_, nullptr)), drop_(o.drop_) {}
    pin& operator=(pin o) noexcept {
        std::swap(what_, o.what_);
        std::swap(drop_, o.drop_);
        return *this;
    }
    ~pin() { reset(); }

    void reset() noexcept {
        if (what_ != nullptr) drop_(std::exchange(what_, nullptr));
    }
    explicit operator bool() const noexcept { return what_ != nullptr; }
    const void* get() const noexcept { return what_; }

private:
    const void* what_ = nullptr;
    void (*drop_)(const void*) = nullptr;
};

}  // namespace etagere
