// What this build is. The revision comes from the build system.
#pragma once

#include <string_view>

namespace etagere::app {

inline constexpr std::string_view version = ETAGERE_VERSION;
inline constexpr std::string_view revision = ETAGERE_REVISION;

}  // namespace etagere::app
