// A value that is mostly the default one.
#pragma once

#include <memory>

namespace etagere {

/// A T that occupies a null pointer while nobody has changed it from T{}. Copies are deep. For what few of many objects
/// have. As thread-safe as a T.
template <class T> class seldom {
public:
    seldom() = default;
    seldom(const seldom& o) : value_(o.value_ ? std::make_unique<T>(*o.value_) : nullptr) {}
    seldom(seldom&&) noexcept = default;
    seldom& operator=(const seldom& o) {
        if (this != &o) *this = seldom(o);
        return *this;
    }
    seldom& operator=(seldom&&) noexcept = default;
    ~seldom() = default;

    const T& operator*() const noexcept { return value_ ? *value_ : nothing; }
    const T* operator->() const noexcept { return &**this; }
    /// To change it.
    T& edit() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }
    /// Whether memory is spent on it.
    bool is_there() const noexcept { return value_ != nullptr; }

private:
    static inline const T nothing{};
    std::unique_ptr<T> value_;
};

}  // namespace etagere
