#include "etagere/observe/access_log.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace etagere::observe {
namespace {

constexpr std::uint32_t whole_line = 1'000'000;
constexpr std::string_view redacted = "[redacted]";

std::string_view shown(std::string_view text, bool redact) noexcept {
    return redact && !text.empty() ? redacted : text;
}

/// Members of a JSON object after the first. A key is `,"name":`, one piece to append.
class members {
public:
    explicit members(writer& out) noexcept : out_(out) {}

    template <std::size_t N> void text(const char (&key)[N], std::string_view value) {
        out_ += key;
        append_json_string(out_, value);
    }
    template <std::size_t N> void text_if_any(const char (&key)[N], std::string_view value) {
        if (!value.empty()) text(key, value);
    }
    /// An entity tag has a quote at its end, and before its opaque part.
    template <std::size_t N> void tag_if_any(const char (&key)[N], std::string_view value) {
        if (value.empty()) return;
        out_ += key;
        append_json_tag(out_, value);
    }
    template <std::size_t N, class Number> void number(const char (&key)[N], Number value) {
        out_ += key;
        out_.number(value);
    }
    template <std::size_t N> void milliseconds_of(const char (&key)[N], std::uint64_t microseconds) {
        out_ += key;
        append_milliseconds(out_, microseconds);
    }
    template <std::size_t N> void truth(const char (&key)[N], bool value) {
        out_ += key;
        if (value) {
            out_ += "true";
        } else {
            out_ += "false";
        }
    }

private:
    writer& out_;
};

/// What a reason says is the same in every line.
struct reason_members {
    reason_members() {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const reason_info& about = info(static_cast<reason>(i));
            std::string& out = text[i];
            out = R"(,"cache":")" + std::string(about.cache_class) + R"(","reason":")" + std::string(about.name) + '"';
            // Where an answer was not kept the operator is told what to write; a hit needs no advice.
            if (about.cache_class == "miss" && !about.remedy.empty()) {
                out += R"(,"remedy":)";
                append_json_string(out, about.remedy);
            }
        }
    }
    std::array<std::string, static_cast<std::size_t>(reason::count_)> text;
};

std::string_view members_of(reason why) {
    static const reason_members all;
    return all.text[static_cast<std::size_t>(why)];
}

/// Keys, numbers and punctuation of a JSON line, rounded up: its texts come on top.
constexpr std::size_t json_frame = 1536;

std::size_t most_json_line(const record& r, std::string_view origin) noexcept {
    std::size_t most = json_frame + members_of(r.why).size() + origin.size();
    for (const std::string_view text : {r.request_id, r.path, r.query, r.protocol, r.etag_in, r.etag_out, r.store,
                                        r.upstream, r.endpoint, r.user_agent, r.error}) {
        most += most_json(text);
    }
    return most;
}

void write_json(writer& out, const record& r, const access_options& o, std::string_view origin, timestamp& time) {
    out += R"({"ts":")";
    time.append_rfc3339(out, r.at);
    if (is_failure(r)) {
        out += R"(","level":"error","msg":"request")";
    } else {
        out += R"(","level":"info","msg":"request")";
    }
    members m(out);
    m.text_if_any(R"(,"request_id":)", r.request_id);
    out += origin;
    m.text(R"(,"path":)", r.path);
    m.text_if_any(R"(,"query":)", shown(r.query, o.redact_query));
    m.text_if_any(R"(,"protocol":)", r.protocol);
    m.number(R"(,"status":)", r.status);
    m.number(R"(,"bytes_in":)", r.bytes_in);
    m.number(R"(,"bytes_out":)", r.bytes_out);
    m.milliseconds_of(R"(,"duration_ms":)", r.duration_us);
    m.milliseconds_of(R"(,"ttfb_ms":)", r.ttfb_us);
    out += members_of(r.why);
    if (r.age_s >= 0) m.number(R"(,"age_s":)", r.age_s);
    if (r.has_ttl) m.number(R"(,"ttl_s":)", r.ttl_s);
    m.tag_if_any(R"(,"etag_in":)", r.etag_in);
    m.tag_if_any(R"(,"etag_out":)", r.etag_out);
    if (!r.not_modified && !r.collapsed) {
        out += R"(,"not_modified":false,"collapsed":false)";
    } else {
        m.truth(R"(,"not_modified":)", r.not_modified);
        m.truth(R"(,"collapsed":)", r.collapsed);
    }
    m.text_if_any(R"(,"store":)", r.store);
    if (r.store_us != 0) m.milliseconds_of(R"(,"store_ms":)", r.store_us);
    if (!r.upstream.empty()) {
        m.text(R"(,"upstream":)", r.upstream);
        m.text_if_any(R"(,"endpoint":)", r.endpoint);
        m.number(R"(,"upstream_status":)", r.upstream_status);
        m.milliseconds_of(R"(,"upstream_ms":)", r.upstream_us);
        m.milliseconds_of(R"(,"queue_ms":)", r.queue_us);
        m.number(R"(,"retries":)", r.retries);
    }
    m.text_if_any(R"(,"user_agent":)", shown(r.user_agent, o.redact_user_agent));
    m.text_if_any(R"(,"error":)", r.error);
    out += '}';
}

void append_target(std::string& out, const record& r, const access_options& o) {
    append_plain_escaped(out, r.path, true);
    if (r.query.empty()) return;
    out += '?';
    append_plain_escaped(out, shown(r.query, o.redact_query), true);
}

void append_combined(std::string& out, const record& r, const access_options& o, timestamp& time) {
    const auto word = [&out](std::string_view text, bool escape_space) {
        append_plain_escaped(out, text.empty() ? "-" : text, escape_space);
    };
    word(shown(r.client_ip, o.redact_client_ip), true);
    out += " - - [";
    time.append_clf(out, r.at);
    out += "] \"";
    word(r.method, true);
    out += ' ';
    append_target(out, r, o);
    out += ' ';
    word(r.protocol, true);
    out += "\" ";
    append_number(out, std::int64_t{r.status});
    out += ' ';
    append_number(out, r.bytes_out);
    out += " \"";
    word(r.referer, false);
    out += "\" \"";
    word(shown(r.user_agent, o.redact_user_agent), false);
    out += '"';
}

void append_rack_cache(std::string& out, const record& r, const access_options& o) {
    out += "cache: [";
    append_plain_escaped(out, r.method, true);
    out += ' ';
    append_target(out, r, o);
    out += "] ";
    append_rack_cache_words(out, r);
}

}  // namespace

bool is_failure(const record& r) noexcept {
    return r.status >= 500 || (r.status < 400 && !r.error.empty());
}

std::string_view line_memory::origin_members(const record& r, bool redact_client_ip) {
    const std::array now = origin_of(r);
    if (!members_.empty() && redacted_ == redact_client_ip && std::ranges::equal(made_of_, now)) return members_;
    std::ranges::copy(now, made_of_.begin());
    redacted_ = redact_client_ip;
    members_.clear();
    std::size_t most = json_frame;
    for (const std::string_view text : now) most += most_json(text);
    append_at_most(members_, most, [&](writer& to) {
        members m(to);
        m.text(R"(,"listener":)", r.listener);
        m.text(R"(,"route":)", r.route);
        m.text_if_any(R"(,"client_ip":)", shown(r.client_ip, redact_client_ip));
        m.text(R"(,"method":)", r.method);
        m.text_if_any(R"(,"scheme":)", r.scheme);
        m.text_if_any(R"(,"host":)", r.host);
    });
    return members_;
}

void append_access_line(std::string& out, const record& r, const access_options& o, line_memory& memory) {
    switch (o.format) {
        case access_format::off: return;
        case access_format::json: {
            const std::string_view origin = memory.origin_members(r, o.redact_client_ip);
            append_at_most(out, most_json_line(r, origin),
                           [&](writer& to) { write_json(to, r, o, origin, memory.time); });
            break;
        }
        case access_format::combined: append_combined(out, r, o, memory.time); break;
        case access_format::rack_cache: append_rack_cache(out, r, o); break;
    }
    out += '\n';
}

void access_log::lane_state::configure(const access_options& o) {
    options = o;
    step = static_cast<std::uint32_t>(std::lround(std::clamp(o.sample, 0.0, 1.0) * whole_line));
    owed = 0;
}

access_log::access_log(log_writer& writer, unsigned workers, access_options o, const std::shared_ptr<log_output>& to)
    : lanes_(workers) {
    for (lane_state& l : lanes_) {
        l.lane = writer.open_lane(to);
        l.configure(o);
    }
}

void access_log::write(unsigned worker, const record& r) {
    lane_state& l = lanes_[worker];
    l.lane->append([&l, &r](std::string& out) {
        if (!is_failure(r)) {
            l.owed += l.step;
            if (l.owed < whole_line) return;
            l.owed -= whole_line;
        }
        append_access_line(out, r, l.options, l.memory);
    });
}

void access_log::configure(const access_options& o, const std::shared_ptr<log_output>& to) {
    for (lane_state& l : lanes_) {
        l.lane->exclusively([&l, &o] { l.configure(o); });
        l.lane->redirect(to);
    }
}

}  // namespace etagere::observe
