// The counters of one worker: plain additions on its own cache lines, no locks, no read-modify-write. Other threads may
// read them at any time; each number is whole, a set of them is not a snapshot.
#pragma once

#include "etagere/base/reason.hpp"
#include "etagere/observe/exposition.hpp"
#include "etagere/observe/record.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace etagere::observe {

/// One writer, any readers.
class counter {
public:
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class histogram {
public:
    void observe(std::uint64_t microseconds) noexcept;
    void add_to(histogram_values& sum) const noexcept;

private:
    std::array<counter, bucket_count> buckets_;
    counter sum_us_;
};

/// Names from the configuration and their dense indexes, which never change: a name that a reload takes away keeps its
/// counters for when it comes back. 0 is "none"; when the table is full, further names share 1, "overflow".
/// Thread-safe; reading takes no lock.
class name_table {
public:
    static constexpr std::uint32_t none = 0, overflow = 1;

    explicit name_table(std::uint32_t capacity);
    std::uint32_t add(std::string_view name);
    std::uint32_t find(std::string_view name) const noexcept;  // none where it is not there
    std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }
    std::string_view operator[](std::uint32_t i) const noexcept { return names_[i]; }

private:
    std::mutex adding_;
    std::unique_ptr<std::string[]> names_;  // those below size_ are never written again
    const std::uint32_t capacity_;
    std::atomic<std::uint32_t> size_{0};
};

/// Objects that their one writer makes when it first needs them and readers find from then on.
template <class T, std::size_t N> class lazy_slots {
public:
    lazy_slots() = default;
    ~lazy_slots() {
        for (auto& slot : slots_) delete slot.load(std::memory_order_relaxed);
    }
    lazy_slots(const lazy_slots&) = delete;
    lazy_slots& operator=(const lazy_slots&) = delete;

    T& make(std::size_t i) {
        T* there = slots_[i].load(std::memory_order_relaxed);
        if (there == nullptr) {
            there = new T;
            slots_[i].store(there, std::memory_order_release);
        }
        return *there;
    }
    const T* find(std::size_t i) const noexcept { return slots_[i].load(std::memory_order_acquire); }

private:
    std::array<std::atomic<T*>, N> slots_{};
};

inline constexpr std::uint32_t max_routes = 1024, max_listeners = 16, max_upstreams = 256;

/// Label values of `method`: those of http::method; "other" is the last.
inline constexpr std::array<std::string_view, 10> method_labels{"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                                                "CONNECT", "OPTIONS", "TRACE", "PATCH", "other"};
inline constexpr std::array<std::string_view, 6> code_labels{"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
std::size_t code_index(int status) noexcept;
/// Label values of `cache`.
inline constexpr std::array<std::string_view, 6> class_labels{"hit", "stale", "revalidated", "miss", "pass", "refused"};

enum class refresh_result : std::uint8_t { revalidated, changed, failed };
inline constexpr std::array<std::string_view, 3> refresh_labels{"revalidated", "changed", "failed"};

/// Label values of `coding`, by http::coding without identity.
inline constexpr std::array<std::string_view, 3> coding_labels{"gzip", "br", "zstd"};

/// What a fetch in full showed of a 304: the same tag and bytes, other bytes under the same tag, or the other way
/// round.
enum class audit_result : std::uint8_t { true_304, wrong_304, churn };
inline constexpr std::array<std::string_view, 3> audit_labels{"true", "wrong_304", "churn"};

inline constexpr std::array<std::string_view, 4> phase_labels{"connect", "queue", "first_byte", "total"};
enum class phase : std::uint8_t { connect, queue, first_byte, total };

struct route_counters {
    struct requests {
        std::array<std::array<counter, code_labels.size()>, method_labels.size()> by_method;
    };
    struct by_class {
        histogram duration, first_byte;
        counter bytes_out;
    };
    struct by_coding {
        counter responses, uncoded_bytes, coded_bytes;
    };
    lazy_slots<requests, max_listeners> by_listener;
    std::array<by_class, class_labels.size()> classes;
    std::array<counter, static_cast<std::size_t>(reason::count_)> decisions;
    std::array<counter, refresh_labels.size()> refreshes;
    std::array<by_coding, coding_labels.size()> codings;
    counter encoded_bytes;
    std::array<counter, audit_labels.size()> audits;
    counter not_modified_client, not_modified_upstream, saved_client_bytes, saved_upstream_bytes, collapsed;
};

struct upstream_counters {
    std::array<counter, code_labels.size()> requests;
    std::array<histogram, phase_labels.size()> phases;
};

/// What the workers' counters are indexed by; shared by all of them.
struct metric_names {
    name_table routes{max_routes}, listeners{max_listeners}, upstreams{max_upstreams};
};

/// All functions but the readers belong to the worker. The first request of a route allocates, no later one does.
class alignas(64) worker_counters {
public:
    explicit worker_counters(const metric_names& names) : names_(names) {}

    /// An exchange began (+1) or was observed (−1) on that listener.
    void in_flight(std::uint32_t listener_index, int change) noexcept;
    void observe(const record& r);
    /// A stale response was asked for again without a client waiting.
    void refreshed(std::uint32_t route_index, refresh_result result);
    void audited(std::uint32_t route_index, audit_result result);

    const route_counters* route(std::uint32_t i) const noexcept { return routes_.find(i); }
    const upstream_counters* upstream(std::uint32_t i) const noexcept { return upstreams_.find(i); }
    std::uint64_t started(std::uint32_t listener) const noexcept { return started_[listener].get(); }
    std::uint64_t ended(std::uint32_t listener) const noexcept { return ended_[listener].get(); }

private:
    route_counters& at(std::uint32_t route_index) { return routes_.make(route_index < max_routes ? route_index : 0); }
    void observe_upstream(const record& r);

    const metric_names& names_;
    std::array<counter, max_listeners> started_, ended_;
    lazy_slots<route_counters, max_routes> routes_;
    lazy_slots<upstream_counters, max_upstreams> upstreams_;
};

}  // namespace etagere::observe
