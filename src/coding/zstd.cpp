#include "encoders.hpp"

#include <zstd.h>

namespace etagere::coding {
namespace {

struct destroy {
    void operator()(ZSTD_CCtx* c) const noexcept { ZSTD_freeCCtx(c); }
};
using context = std::unique_ptr<ZSTD_CCtx, destroy>;

class zstd_encoder final : public encoder {
public:
    explicit zstd_encoder(context c) noexcept : context_(std::move(c)) {}

    bool write(std::string_view piece, then after, std::string& out) override {
        constexpr ZSTD_EndDirective directive_of[] = {ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end};
        const ZSTD_EndDirective directive = directive_of[static_cast<std::size_t>(after)];
        ZSTD_inBuffer in{piece.data(), piece.size(), 0};
        for (;;) {
            const std::size_t had = out.size();
            out.resize(had + step);
            ZSTD_outBuffer into{out.data() + had, step, 0};
            const std::size_t left = ZSTD_compressStream2(context_.get(), &into, &in, directive);
            out.resize(had + into.pos);
            if (ZSTD_isError(left) != 0) return false;
            // Without a flush it may keep what it has taken in.
            const bool done = after == then::more ? in.pos == in.size : left == 0;
            if (done) return true;
        }
    }

private:
    context context_;
};

}  // namespace

std::unique_ptr<encoder> make_zstd_encoder(std::optional<std::uint64_t> size) {
    context c(ZSTD_createCCtx());
    if (!c) return nullptr;
    constexpr int level = 6;
    constexpr int least_window = 10;  // ZSTD_WINDOWLOG_MIN
    ZSTD_CCtx_setParameter(c.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(c.get(), ZSTD_c_windowLog, window_log(size, least_window));  // RFC 9659 §3: 8 MiB at most
    if (size) ZSTD_CCtx_setPledgedSrcSize(c.get(), *size);
    return std::make_unique<zstd_encoder>(std::move(c));
}

}  // namespace etagere::coding
