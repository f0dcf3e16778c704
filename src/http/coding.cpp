#include "etagere/http/coding.hpp"

namespace etagere::http {

std::string_view name(coding c) noexcept {
    switch (c) {
        case coding::identity: return "identity";
        case coding::gzip: return "gzip";
        case coding::br: return "br";
        case coding::zstd: break;
    }
    return "zstd";
}

}  // namespace etagere::http
