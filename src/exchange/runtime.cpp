#include "etagere/exchange/runtime.hpp"

#include <algorithm>
#include <random>
#include <span>

namespace etagere::exchange {

namespace {

void write_hex(std::span<char> to, std::uint64_t value) noexcept {
    for (std::size_t i = to.size(); i-- > 0; value >>= 4U) to[i] = "0123456789abcdef"[value & 15U];
}

}  // namespace

worker_state::worker_state(net::worker& on, std::shared_ptr<const runtime> current, collapse_table& collapse,
                           observer& watch)
    : on_(on), collapse_(collapse), watch_(watch), reads_(on) {
    std::random_device seed;
    write_hex(id_high_, (std::uint64_t{seed()} << 32U) | seed());
    adopt(std::move(current));
}

void worker_state::adopt(std::shared_ptr<const runtime> next) {
    std::vector<std::shared_ptr<upstream::cluster>> clusters;
    clusters.reserve(next->upstreams.size());
    for (const auto& shared : next->upstreams) {
        std::shared_ptr<upstream::cluster> kept;
        for (std::size_t i = 0; current_ && i < current_->upstreams.size(); ++i) {
            if (current_->upstreams[i] == shared) kept = clusters_[i];
        }
        clusters.push_back(kept ? std::move(kept)
                                : std::shared_ptr<upstream::cluster>(upstream::make_cluster(on_, shared)));
    }
    current_ = std::move(next);
    clusters_ = std::move(clusters);
}

std::shared_ptr<upstream::cluster> worker_state::cluster_for(const runtime& of, std::size_t upstream) {
    for (std::size_t i = 0; i < current_->upstreams.size(); ++i) {
        if (current_->upstreams[i] == of.upstreams[upstream]) return clusters_[i];
    }
    return upstream::make_cluster(on_, of.upstreams[upstream]);
}

void worker_state::drain() noexcept {
    for (const auto& c : clusters_) c->drain();
}

std::string worker_state::new_request_id() {
    std::string id(2 * id_high_.size(), '0');
    std::ranges::copy(id_high_, id.begin());
    // The multiplier is odd: a permutation, so unique.
    write_hex(std::span(id).subspan(id_high_.size()), ++id_low_ * 0x9E3779B97F4A7C15U);
    return id;
}

}  // namespace etagere::exchange
