#include "etagere/observe/log.hpp"

#include "etagere/observe/log_writer.hpp"
#include "etagere/observe/text.hpp"

#include <array>
#include <chrono>
#include <mutex>
#include <utility>

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

namespace etagere::log {
namespace {

constexpr std::array names{"trace", "debug", "info", "warn", "error"};

spdlog::level::level_enum to_spdlog(level l) noexcept {
    return static_cast<spdlog::level::level_enum>(std::to_underlying(l));
}
static_assert(std::to_underlying(level::error) == spdlog::level::err);

/// The message of a log_msg is the line's members after ts and level; this adds those two and finds the way out.
class json_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
    void attach(std::shared_ptr<observe::log_lane> lane) {
        const std::scoped_lock lock(mutex_);
        lane_.swap(lane);
    }

private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        if (lane_) {
            lane_->append([this, &message](std::string& out) { append_line(out, message); });
            return;
        }
        std::string line;
        append_line(line, message);
        direct_.write(line, [] { return true; });
    }
    void flush_() override {}

    void append_line(std::string& out, const spdlog::details::log_msg& message) {
        out += R"({"ts":")";
        time_.append_rfc3339(out, std::chrono::time_point_cast<milliseconds>(message.time));
        out += R"(","level":")";
        out += names[static_cast<std::size_t>(message.level)];
        out += R"(",)";
        out.append(message.payload.data(), message.payload.size());
        out += "}\n";
    }

    std::shared_ptr<observe::log_lane> lane_;
    observe::log_output direct_{1};
    observe::timestamp time_;
};

struct state {
    std::shared_ptr<json_sink> sink = std::make_shared<json_sink>();
    spdlog::logger logger{"etagere", sink};
};
/// Never destroyed: something may still log while the process ends.
state& shared() {
    static state& the = *new state;
    return the;
}

void append_value(std::string& out, const field& f) {
    std::visit(
        [&out]<class T>(const T& value) {
            if constexpr (std::same_as<T, std::string_view>) {
                observe::append_json_string(out, value);
            } else if constexpr (std::same_as<T, bool>) {
                out += value ? "true" : "false";
            } else {
                observe::append_number(out, value);
            }
        },
        f.value);
}

void append_member(std::string& out, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    if (!out.empty()) out += ',';
    observe::append_json_string(out, name);
    out += ':';
    observe::append_json_string(out, text);
}

}  // namespace

void write(level l, std::string_view component, std::string_view event, std::string_view message, fields more) {
    if (!enabled(l)) return;
    std::string members;
    append_member(members, "msg", message);
    append_member(members, "component", component);
    append_member(members, "event", event);
    for (const field& f : more) {
        if (!members.empty()) members += ',';
        observe::append_json_string(members, f.name);
        members += ':';
        append_value(members, f);
    }
    shared().logger.log(to_spdlog(l), spdlog::string_view_t(members.data(), members.size()));
}

void set_level(level least) noexcept {
    shared().logger.set_level(to_spdlog(least));
}

bool enabled(level l) noexcept {
    return shared().logger.should_log(to_spdlog(l));
}

void attach(std::shared_ptr<observe::log_lane> lane) {
    shared().sink->attach(std::move(lane));
}

}  // namespace etagere::log
