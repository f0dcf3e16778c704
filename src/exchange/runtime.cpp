#include "etagere/exchange/runtime.hpp"

#include <random>

namespace etagere::exchange {

worker_state::worker_state(net::worker& on, std::shared_ptr<const runtime> current, collapse_table& collapse,
                           observer& watch)
    : on_(on), collapse_(collapse), watch_(watch), reads_(on) {
    std::random_device seed;
    id_high_ = (std::uint64_t{seed()} << 32U) | seed();
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
    constexpr std::string_view digits = "0123456789abcdef";
    std::string id(32, '0');
    const std::uint64_t parts[] = {id_high_,
                                   ++id_low_ * 0x9E3779B97F4A7C15U};  // odd multiplier: a permutation, so unique
    for (std::size_t i = 0; i < 32; ++i) id[i] = digits[parts[i / 16] >> (60 - 4 * (i % 16)) & 15U];
    return id;
}

}  // namespace etagere::exchange
