// The access log: one line for each exchange, whatever the client sent. Members of the JSON line that do not apply are
// left out; `msg`, `listener`, `route`, `method`, `path`, `status`, the bytes, durations, `cache`, `reason`,
// `not_modified` and `collapsed` are always there.
#pragma once

#include "etagere/observe/log_writer.hpp"
#include "etagere/observe/record.hpp"
#include "etagere/observe/text.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace etagere::observe {

enum class access_format : std::uint8_t {
    off,
    json,
    combined,    // Apache's and nginx's "combined"
    rack_cache,  // "cache: [GET /api/products?page=1] stale, valid, store"
};

struct access_options {
    access_format format = access_format::json;
    double sample = 1.0;  // share of lines that are written, 0 to 1, spread evenly; failures are always written
    bool redact_query = false, redact_client_ip = false, redact_user_agent = false;  // "[redacted]" instead
};

/// What was made for one line and serves the next: most lines are of the same second, client and host as the one
/// before. Not thread-safe: one for each writer of lines.
class line_memory {
public:
    timestamp time;
    /// Members of a JSON line from "listener" to "host". Valid until the next call.
    std::string_view origin_members(const record& r, bool redact_client_ip);

private:
    static std::array<std::string_view, 6> origin_of(const record& r) noexcept {
        return {r.listener, r.route, r.client_ip, r.method, r.scheme, r.host};
    }

    std::array<std::string, 6> made_of_;
    bool redacted_ = false;
    std::string members_;  // "" before the first
};

/// Appends one line, newline included.
void append_access_line(std::string& out, const record& r, const access_options& o, line_memory& memory);

/// An answer of 500 and above, or one that failed after its head was sent: never sampled out.
bool is_failure(const record& r) noexcept;

/// write() belongs to the workers, one lane each; the rest is for the thread that reloads. Never blocks a worker: a
/// full lane drops the line and counts it (log_writer::dropped).
class access_log {
public:
    access_log(log_writer& writer, unsigned workers, access_options o, const std::shared_ptr<log_output>& to);

    void write(unsigned worker, const record& r);
    /// After a reload. Lines written from now on obey `o`.
    void configure(const access_options& o, const std::shared_ptr<log_output>& to);

private:
    struct alignas(64) lane_state {  // a cache line of its own: each worker writes to one
        void configure(const access_options& o);

        std::shared_ptr<log_lane> lane;
        access_options options;
        line_memory memory;
        std::uint32_t step = 0,
                      owed = 0;  // sampling, in millionths of a line: a line goes out whenever a whole is owed
    };
    std::vector<lane_state> lanes_;
};

}  // namespace etagere::observe
