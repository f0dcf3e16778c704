#include "etagere/upstream/upstream.hpp"

#include "call_impl.hpp"
#include "pool.hpp"

#include <utility>

namespace etagere::upstream {

namespace {

/// Holds the pool itself: the cluster may be gone before the answer is here.
net::task<result<std::unique_ptr<call>>> send_from(std::shared_ptr<pool> from, call_request request) {
    auto out = std::make_unique<call_impl>(std::move(from));
    const auto done = co_await out->start(request);
    if (!done) co_return std::unexpected(done.error());
    co_return out;
}

class pooled_cluster final : public cluster {
public:
    pooled_cluster(net::worker& on, std::shared_ptr<shared_state> shared) : pool_(pool::make(on, std::move(shared))) {}
    ~pooled_cluster() override { pool_->retire(); }
    pooled_cluster(const pooled_cluster&) = delete;
    pooled_cluster& operator=(const pooled_cluster&) = delete;

    net::task<result<std::unique_ptr<call>>> send(call_request request) override {
        return send_from(pool_, std::move(request));
    }
    const options& settings() const noexcept override { return pool_->settings(); }
    void drain() noexcept override { pool_->close_idle(); }

private:
    std::shared_ptr<pool> pool_;
};

}  // namespace

std::unique_ptr<cluster> make_cluster(net::worker& on, std::shared_ptr<shared_state> shared) {
    return std::make_unique<pooled_cluster>(on, std::move(shared));
}

}  // namespace etagere::upstream
