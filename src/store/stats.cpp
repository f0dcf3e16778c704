#include "etagere/store/stats.hpp"

namespace etagere::store {

std::string_view name(operation op) noexcept {
    switch (op) {
        case operation::peek: return "peek";
        case operation::load: return "load";
        case operation::load_body: return "load_body";
        case operation::put: return "put";
        case operation::freshen: return "freshen";
        case operation::erase: return "erase";
        case operation::count_: break;
    }
    return "";
}

std::string_view name(outcome result) noexcept {
    switch (result) {
        case outcome::ok: return "ok";
        case outcome::miss: return "miss";
        case outcome::timeout: return "timeout";
        case outcome::unavailable: return "unavailable";
        case outcome::error: return "error";
        case outcome::too_large: return "too_large";
        case outcome::count_: break;
    }
    return "";
}

}  // namespace etagere::store
