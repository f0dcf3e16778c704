// The application log: what the program itself has to say, one JSON object a line in the envelope of the access log:
// ts, level, msg, component, event, then the fields. `event` is a fixed name that operators can search for.
//
// Thread-safe. Cheap enough for a data path that fails, not for each request. Once attached, a line is appended to the
// lane and never waits for the output. Callers pass no secrets: no tokens, keys, credentials or bodies.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace etagere::observe {
class log_lane;
}

namespace etagere::log {

enum class level : std::uint8_t { trace, debug, info, warn, error };

/// `{"listener", name}`, `{"line", 12}`. Text is escaped here.
struct field {
    field(std::string_view n, std::string_view text) : name(n), value(text) {}
    field(std::string_view n, const char* text) : name(n), value(std::string_view(text)) {}
    field(std::string_view n, const std::string& text) : name(n), value(std::string_view(text)) {}
    field(std::string_view n, bool truth) : name(n), value(truth) {}
    field(std::string_view n, double number) : name(n), value(number) {}
    field(std::string_view n, std::signed_integral auto number) : name(n), value(std::int64_t{number}) {}
    field(std::string_view n, std::unsigned_integral auto number) : name(n), value(std::uint64_t{number}) {}

    std::string_view name;
    std::variant<std::string_view, bool, double, std::int64_t, std::uint64_t> value;
};
using fields = std::initializer_list<field>;

void write(level l, std::string_view component, std::string_view event, std::string_view message, fields more = {});

inline void debug(std::string_view component, std::string_view event, std::string_view message, fields more = {}) {
    write(level::debug, component, event, message, more);
}
inline void info(std::string_view component, std::string_view event, std::string_view message, fields more = {}) {
    write(level::info, component, event, message, more);
}
inline void warn(std::string_view component, std::string_view event, std::string_view message, fields more = {}) {
    write(level::warn, component, event, message, more);
}
inline void error(std::string_view component, std::string_view event, std::string_view message, fields more = {}) {
    write(level::error, component, event, message, more);
}

/// info until set. Takes effect at once, on all threads.
void set_level(level least) noexcept;
bool enabled(level l) noexcept;
/// From now on lines go to `lane`; null: straight to stdout, as at the start. Detach before the lane's writer ends.
void attach(std::shared_ptr<observe::log_lane> lane);

}  // namespace etagere::log
