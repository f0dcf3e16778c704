#include "encoders.hpp"

#include <brotli/encode.h>

namespace etagere::coding {
namespace {

struct destroy {
    void operator()(BrotliEncoderState* s) const noexcept { BrotliEncoderDestroyInstance(s); }
};
using state = std::unique_ptr<BrotliEncoderState, destroy>;

class brotli_encoder final : public encoder {
public:
    explicit brotli_encoder(state s) noexcept : state_(std::move(s)) {}

    bool write(std::string_view piece, then after, std::string& out) override {
        constexpr BrotliEncoderOperation operation_of[] = {BROTLI_OPERATION_PROCESS, BROTLI_OPERATION_FLUSH,
                                                           BROTLI_OPERATION_FINISH};
        const BrotliEncoderOperation operation = operation_of[static_cast<std::size_t>(after)];
        // Brotli reads octets as unsigned char.
        const auto* in = reinterpret_cast<const std::uint8_t*>(piece.data());
        std::size_t left = piece.size();
        std::size_t none = 0;
        do {
            if (BrotliEncoderCompressStream(state_.get(), operation, &left, &in, &none, nullptr, nullptr) == 0) {
                return false;
            }
            std::size_t size = 0;  // all there is
            const std::uint8_t* const ready = BrotliEncoderTakeOutput(state_.get(), &size);
            if (size != 0) out.append(reinterpret_cast<const char*>(ready), size);
        } while (left != 0 || BrotliEncoderHasMoreOutput(state_.get()) != 0 ||
                 (after == then::end && BrotliEncoderIsFinished(state_.get()) == 0));
        return true;
    }

private:
    state state_;
};

}  // namespace

std::unique_ptr<encoder> make_brotli_encoder(std::optional<std::uint64_t> size) {
    state s(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr));
    if (!s) return nullptr;
    constexpr std::uint32_t quality = 5;  // beyond, each step doubles the time for a percent
    constexpr int least_window = BROTLI_MIN_WINDOW_BITS;
    const auto window = static_cast<std::uint32_t>(window_log(size, least_window));
    BrotliEncoderSetParameter(s.get(), BROTLI_PARAM_QUALITY, quality);
    BrotliEncoderSetParameter(s.get(), BROTLI_PARAM_LGWIN, window);
    if (size) {
        const auto hint = static_cast<std::uint32_t>(std::min<std::uint64_t>(*size, std::uint64_t{1} << 30U));
        BrotliEncoderSetParameter(s.get(), BROTLI_PARAM_SIZE_HINT, hint);
    }
    return std::make_unique<brotli_encoder>(std::move(s));
}

}  // namespace etagere::coding
