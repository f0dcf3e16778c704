#include "encoders.hpp"

#include <limits>

#define ZLIB_CONST
#include <zlib.h>

namespace etagere::coding {
namespace {

class gzip_encoder final : public encoder {
public:
    gzip_encoder() = default;
    ~gzip_encoder() override {
        if (ready_) deflateEnd(&stream_);
    }
    gzip_encoder(const gzip_encoder&) = delete;
    gzip_encoder& operator=(const gzip_encoder&) = delete;

    bool start() noexcept {
        constexpr int level = 6;
        constexpr int gzip_with_full_window = 15 + 16;
        constexpr int memory_level = 8;
        ready_ =
            deflateInit2(&stream_, level, Z_DEFLATED, gzip_with_full_window, memory_level, Z_DEFAULT_STRATEGY) == Z_OK;
        return ready_;
    }

    bool write(std::string_view piece, then after, std::string& out) override {
        constexpr std::size_t most_at_once = std::numeric_limits<uInt>::max();
        while (piece.size() > most_at_once) {
            if (!deflate_all(piece.substr(0, most_at_once), Z_NO_FLUSH, out)) return false;
            piece.remove_prefix(most_at_once);
        }
        constexpr int flush_of[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
        return deflate_all(piece, flush_of[static_cast<std::size_t>(after)], out);
    }

private:
    bool deflate_all(std::string_view piece, int flush, std::string& out) {
        // zlib reads octets as unsigned char.
        stream_.next_in = reinterpret_cast<const Bytef*>(piece.data());
        stream_.avail_in = static_cast<uInt>(piece.size());
        // "If deflate returns with avail_out == 0, this function must be called again" (zlib.h).
        do {
            const std::size_t had = out.size();
            out.resize(had + step);
            stream_.next_out = reinterpret_cast<Bytef*>(out.data() + had);
            stream_.avail_out = static_cast<uInt>(step);
            const int status = deflate(&stream_, flush);
            out.resize(had + step - stream_.avail_out);
            if (status == Z_STREAM_ERROR) return false;
        } while (stream_.avail_out == 0);
        return true;
    }

    z_stream stream_{};
    bool ready_ = false;
};

}  // namespace

std::unique_ptr<encoder> make_gzip_encoder() {
    auto made = std::make_unique<gzip_encoder>();
    return made->start() ? std::move(made) : nullptr;
}

}  // namespace etagere::coding
