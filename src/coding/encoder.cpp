#include "etagere/coding/encoder.hpp"

#include "encoders.hpp"

namespace etagere::coding {

std::unique_ptr<encoder> make_encoder(http::coding how, std::optional<std::uint64_t> size) {
    switch (how) {
        case http::coding::gzip: return make_gzip_encoder();
        case http::coding::br: return make_brotli_encoder(size);
        case http::coding::zstd: return make_zstd_encoder(size);
        case http::coding::identity: break;
    }
    return nullptr;
}

}  // namespace etagere::coding
