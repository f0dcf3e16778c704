#include "etagere/observe/counters.hpp"

#include <algorithm>
#include <utility>

namespace etagere::observe {
namespace {

constexpr std::size_t reason_count = static_cast<std::size_t>(reason::count_);

std::array<std::uint8_t, reason_count> make_class_table() {
    std::array<std::uint8_t, reason_count> table{};
    for (std::size_t i = 0; i < reason_count; ++i) {
        const auto* const at = std::ranges::find(class_labels, info(static_cast<reason>(i)).cache_class);
        table[i] =
            static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(at - class_labels.begin(), class_labels.size() - 1));
    }
    return table;
}

/// Index into class_labels.
std::size_t class_of(reason why) noexcept {
    static const auto table = make_class_table();
    return table[static_cast<std::size_t>(why)];
}

/// Whether content that the client was answered with, or did not need, came out of the store instead of from the
/// origin. A 412 needs no content from anybody.
bool spared_the_origin(const record& r) noexcept {
    const bool from_store = r.upstream_status == 0 && r.age_s >= 0;
    return r.why != reason::hit_precondition_failed && (from_store || r.collapsed || r.upstream_status == 304);
}

}  // namespace

void histogram::observe(std::uint64_t microseconds) noexcept {
    const auto* const bound = std::ranges::find_if(bucket_bounds_us, [=](auto b) { return microseconds <= b; });
    buckets_[static_cast<std::size_t>(bound - bucket_bounds_us.begin())].add();
    sum_us_.add(microseconds);
}

void histogram::add_to(histogram_values& sum) const noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) sum.buckets[i] += buckets_[i].get();
    sum.sum_us += sum_us_.get();
}

name_table::name_table(std::uint32_t capacity)
    : names_(std::make_unique<std::string[]>(capacity)), capacity_(capacity) {
    add("none");
    add("overflow");
}

std::uint32_t name_table::add(std::string_view name) {
    const std::scoped_lock lock(adding_);
    const std::uint32_t n = size();
    for (std::uint32_t i = 0; i < n; ++i) {
        if (names_[i] == name) return i;
    }
    if (n == capacity_) return overflow;
    names_[n] = name;
    size_.store(n + 1, std::memory_order_release);
    return n;
}

std::uint32_t name_table::find(std::string_view name) const noexcept {
    for (std::uint32_t i = overflow + 1, n = size(); i < n; ++i) {
        if (names_[i] == name) return i;
    }
    return none;
}

std::size_t code_index(int status) noexcept {
    return status >= 100 && status <= 599 ? static_cast<std::size_t>(status / 100) : 0;
}

void worker_counters::in_flight(std::uint32_t listener_index, int change) noexcept {
    (change > 0 ? started_ : ended_)[listener_index].add();
}

void worker_counters::observe(const record& r) {
    route_counters& route = at(r.route_index);
    const auto verb = static_cast<std::size_t>(std::to_underlying(r.verb));
    route.by_listener.make(r.listener_index).by_method[verb][code_index(r.status)].add();
    route.decisions[static_cast<std::size_t>(r.why)].add();

    auto& of_class = route.classes[class_of(r.why)];
    of_class.duration.observe(r.duration_us);
    if (r.status != 0) of_class.first_byte.observe(r.ttfb_us);
    of_class.bytes_out.add(r.bytes_out);

    if (r.not_modified) {
        route.not_modified_client.add();
        route.saved_client_bytes.add(r.entity_bytes);
    }
    if (r.upstream_status == 304) route.not_modified_upstream.add();
    if (spared_the_origin(r)) route.saved_upstream_bytes.add(r.entity_bytes);
    if (r.collapsed) route.collapsed.add();
    if (r.coding != http::coding::identity) {
        auto& coding = route.codings.at(static_cast<std::size_t>(r.coding) - 1);
        coding.responses.add();
        coding.uncoded_bytes.add(r.uncoded_bytes);
        coding.coded_bytes.add(r.coded_bytes);
    }
    if (r.encoded_bytes != 0) route.encoded_bytes.add(r.encoded_bytes);
    if (!r.upstream.empty()) observe_upstream(r);
}

void worker_counters::observe_upstream(const record& r) {
    upstream_counters& upstream = upstreams_.make(names_.upstreams.find(r.upstream));
    upstream.requests[code_index(r.upstream_status)].add();
    const auto observe_phase = [&upstream](phase p, std::uint64_t us) {
        upstream.phases[std::to_underlying(p)].observe(us);
    };
    if (r.connect_us != 0) observe_phase(phase::connect, r.connect_us);
    observe_phase(phase::queue, r.queue_us);
    if (r.upstream_status != 0) observe_phase(phase::first_byte, r.upstream_ttfb_us);
    observe_phase(phase::total, r.upstream_us);
}

void worker_counters::refreshed(std::uint32_t route_index, refresh_result result) {
    at(route_index).refreshes[std::to_underlying(result)].add();
}

void worker_counters::audited(std::uint32_t route_index, audit_result result) {
    at(route_index).audits[std::to_underlying(result)].add();
}

}  // namespace etagere::observe
