// Each option of Rack::Cache and what stands for it. Whoever adds a key to étagère that fits an option better changes
// the row here and in src/docs/rack-cache.md.
#include "etagere/app/import.hpp"

#include "rack_cache_options.hpp"
#include "rack_cache_store.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace etagere::app {
namespace {

using rack_cache::option;
using rack_cache::options;
using ruby::kind;
using ruby::plain;
using ruby::value;

constexpr std::int64_t longest_lifetime = std::int64_t{10} * 365 * 24 * 3600;

bool equal_names(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [](char x, char y) {
        const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
        return lower(x) == lower(y);
    });
}

/// An address without the user and password that it may have.
std::string shown_address(const value& v) {
    if (!v.is(value::type::text)) return plain(v.text);
    const std::string all = plain(v.text);
    const auto at = all.rfind('@');
    const auto slashes = all.find("//");
    return at == std::string::npos || slashes == std::string::npos || at < slashes
               ? all
               : all.substr(0, slashes + 2) + all.substr(at + 1);
}

class translation {
public:
    translation(const options& o, std::string_view file) : options_(o), file_(plain(file)) {}

    imported run() {
        out_.found = true;
        for (const rack_cache::note& n : options_.notes) warn(n.line, n.text);
        const std::string store = make_store();
        make_cache();
        for (const option& o : options_.all) {
            if (!known(o.name)) refuse(o, no_like(o.name));
        }
        out_.yaml = "# Rack::Cache's options out of " + file_ + R"(, translated by `etagere import rack-cache`.
# Rack::Cache knows neither `listen` nor `upstream`: set both. Take Rack::Cache out of the application, or it caches twice.
version: 1
listen: ":8080"
upstream: http://127.0.0.1:3000
)" + store + R"(
routes:
  - name: rack-cache
    match: { path: "/**" }
)" + (cache_.empty() ? std::string() : "    cache:\n" + cache_) +
                    log_ + (rest_.empty() ? "" : "\n# Not translated\n" + rest_);
        return std::move(out_);
    }

private:
    static bool known(std::string_view name) noexcept {
        constexpr std::array<std::string_view, 12> names{"metastore",      "entitystore",      "default_ttl",
                                                         "allow_reload",   "allow_revalidate", "private_headers",
                                                         "ignore_headers", "cache_key",        "query_string_ignore",
                                                         "verbose",        "use_native_ttl",   "fault_tolerant"};
        return std::ranges::find(names, name) != names.end();
    }

    /// Why an option has nothing that stands for it.
    static std::string_view no_like(std::string_view name) noexcept {
        struct row {
            std::string_view name, why;
        };
        constexpr std::array rows{
            row{"storage", "stores of one's own cannot be plugged in; `stores` has memory and memcached"},
            row{"compress",
                "bodies are kept as the origin sent them; `compress: { algorithms: [gzip] }` on the route "
                "codes them for clients"},
            row{"namespace", "of the store's client; write it as stores.default.memcached.namespace"},
            row{"expires_in", "of the store's client; étagère takes the expiry from the answer"},
            row{"force-pass", "belongs to one request; a route with `cache: off` passes what matches it"},
        };
        const auto* const found = std::ranges::find(rows, name, &row::name);
        return found == rows.end() ? "étagère does not know this option" : found->why;
    }

    void warn(int line, std::string_view text) { out_.warnings.push_back(fmt::format("{}:{}: {}", file_, line, text)); }
    /// Has no like: said in the file and to the operator.
    void refuse(const option& o, std::string_view why) {
        rest_ += fmt::format("# {}: {}\n#   {}\n", plain(o.name), o.is.source, why);
        warn(o.line, fmt::format("{}: not translated: {}", plain(o.name), why));
    }
    static std::string comment(int indent, const option& o, std::string_view what) {
        return fmt::format("{0:{1}}# {2}: {3}\n{0:{1}}#   {4}\n", "", indent, plain(o.name), o.is.source, what);
    }
    void about(const option& o, std::string_view what) { cache_ += comment(6, o, what); }
    void add(std::string_view line) { cache_ += fmt::format("      {}\n", line); }

    std::string make_store() {
        const rack_cache::place p = rack_cache::find_place(options_);
        for (const rack_cache::note& n : p.warnings) warn(n.line, n.text);
        std::string text = "\nstores:\n  default:\n";
        bool any = false;
        for (const std::string_view name : {"metastore", "entitystore"}) {
            const option* const o = options_.find(name);
            any = any || o;
            // A client's source may hold a password.
            if (o) text += fmt::format("    # {}: {}\n", name, shown_address(o->is));
        }
        if (!any) text += "    # no metastore, no entitystore: the process's own memory, as in Rack::Cache\n";
        for (const auto* notes : {&p.comments, &p.warnings}) {
            for (const rack_cache::note& n : *notes) text += fmt::format("    # {}\n", n.text);
        }
        if (!p.memcached)
            return text + "    memory: { size: 64MiB } # what is used least goes; Rack::Cache's heap grows\n";
        text +=
            "    memory: { size: 64MiB, local_ttl: 10s } # in front of memcached; size: 0 asks memcached each time, "
            "as\n"
            "                                            # Rack::Cache does\n    memcached:\n";
        text += fmt::format("      servers: \"{}\"\n", p.servers);
        if (!p.name_space.empty()) text += fmt::format("      namespace: {}\n", quoted(p.name_space));
        return text;
    }

    void make_cache() {
        default_ttl();
        client_directives();
        key();
        whose();
        ignored();
        faults();
        verbose();
    }

    void default_ttl() {
        const option* const o = options_.find("default_ttl");
        if (!o) return;
        if (!o->is.is(value::type::number) || o->is.number < 0 || o->is.number > longest_lifetime) {
            refuse(*o, "not a number of seconds that can be read here; write cache: { lifetime: { default: 60s } }");
        } else if (o->is.number == 0) {
            about(*o, "as étagère does it unasked: kept where there is a validator, and asked about each time");
        } else {
            about(*o, "where the origin names no lifetime. Not for 404 and 410: those are `negative`");
            add(fmt::format("lifetime: {{ default: {}s }}", o->is.number));
        }
    }

    /// nullopt where the option is not written; its own default holds then.
    std::optional<bool> flag(const option* o) {
        if (!o) return std::nullopt;
        if (o->is.is(value::type::boolean) || o->is.is(value::type::nil)) return o->is.truth();
        refuse(*o, "neither true nor false; Rack::Cache's default is taken");
        return std::nullopt;
    }

    void client_directives() {
        const option* const reload = options_.find("allow_reload");
        const option* const revalidate = options_.find("allow_revalidate");
        const bool reloads = flag(reload).value_or(false);
        const bool revalidates = flag(revalidate).value_or(false);
        if (reload) about(*reload, reloads ? "no-cache of a client asks the origin" : "as étagère does it unasked");
        if (revalidate) about(*revalidate, revalidates ? "max-age of a client counts" : "as étagère does it unasked");
        if (!reloads && !revalidates) return;
        if (reloads != revalidates) {
            const option& o = reloads ? *reload : *revalidate;
            warn(o.line,
                 fmt::format("{}: étagère has one switch for allow_reload and allow_revalidate; both are on now",
                             o.name));
            add("# one switch for both, so the other one is on too; and for no-store, min-fresh, max-stale, "
                "only-if-cached");
        }
        add("client_directives: honour");
    }

    void key() {
        const option* const own = options_.find("cache_key");
        const option* const ignore = options_.find("query_string_ignore");
        const bool usual = !own || own->is.source == "Rack::Cache::Key";
        if (own && !usual) {
            refuse(*own,
                   "code cannot be translated; cache: { key: { query: { sort, ignore }, headers, cookies } } says "
                   "what two requests have in common");
        }
        if (own && usual) about(*own, "Rack::Cache's own");
        std::string names;
        if (ignore && !usual) refuse(*ignore, "cache_key stands in its place");
        if (ignore && usual) {
            names = ignored_parameters(ignore->is.source);
            if (names.empty()) {
                refuse(*ignore, "more than can be read here; write cache: { key: { query: { ignore: [\"utm_*\"] } } }");
            } else {
                about(*ignore, "parameters that do not count");
            }
        }
        if (!usual) return;
        add("# Rack::Cache's keys do not know the order of parameters");
        add(names.empty() ? "key: { query: { sort: true } }"
                          : fmt::format("key: {{ query: {{ sort: true, ignore: [{}] }} }}", names));
    }

    /// The names in the three forms that people write: k =~ /^(utm|trk)_/, k == "a" || …, %w[a b].include?(k). Empty
    /// where the code says anything else.
    static std::string ignored_parameters(std::string_view source) {
        std::string out;
        const auto take = [&out](std::string_view name, bool rest) {
            out += fmt::format("{}\"{}{}\"", out.empty() ? "" : ", ", name, rest ? "*" : "");
        };
        const std::vector<ruby::token> all = ruby::tokens(source);
        const auto is_mark = [](const ruby::token& t, std::string_view m) {
            return t.what == kind::mark && t.text == m;
        };
        constexpr std::array<std::string_view, 9> allowed{"{", "}", "|", ",", "(", ")", "->", "||", "."};
        for (std::size_t i = 0; i + 1 < all.size(); ++i) {
            const ruby::token& t = all[i];
            if (is_mark(t, "=~") && all[i + 1].what == kind::regex) {
                if (!take_pattern(all[++i].text, take)) return {};
            } else if (is_mark(t, "==") && all[i + 1].what == kind::text && is_plain(all[i + 1].text)) {
                take(all[++i].text, false);
            } else if (t.what == kind::words && is_mark(all[i + 1], ".") && all[i + 2].text == "include?") {
                for (std::size_t from = 0; from < t.text.size();) {
                    const std::size_t end = std::min(t.text.find(' ', from), t.text.size());
                    if (!is_plain(t.text.substr(from, end - from))) return {};
                    take(t.text.substr(from, end - from), false);
                    from = end + 1;
                }
            } else if (t.what != kind::name && t.what != kind::line &&
                       (t.what != kind::mark || std::ranges::find(allowed, t.text) == allowed.end())) {
                return {};
            }
        }
        return out;
    }

    static bool is_plain(std::string_view text) noexcept {
        return !text.empty() && std::ranges::all_of(text, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        });
    }

    /// ^name, ^(a|b)_, ^name$
    template <class Take> static bool take_pattern(std::string_view p, const Take& take) {
        if (p.starts_with("\\A")) {
            p.remove_prefix(2);
        } else if (p.starts_with("^")) {
            p.remove_prefix(1);
        } else {
            return false;
        }
        const bool whole = p.ends_with("$") || p.ends_with("\\z") || p.ends_with("\\Z");
        if (whole) p.remove_suffix(p.ends_with("$") ? 1 : 2);
        std::string_view choices = p, tail;
        if (p.starts_with("(")) {
            const auto close = p.find(')');
            if (close == std::string_view::npos) return false;
            choices = p.substr(1, close - 1);
            if (choices.starts_with("?:")) choices.remove_prefix(2);
            tail = p.substr(close + 1);
        } else if (p.find('|') != std::string_view::npos) {
            return false;
        }
        if (!tail.empty() && !is_plain(tail)) return false;
        for (;;) {
            const auto bar = choices.find('|');
            const std::string name = std::string(choices.substr(0, bar)) + std::string(tail);
            if (!is_plain(name)) return false;
            take(name, !whole);
            if (bar == std::string_view::npos) return true;
            choices.remove_prefix(bar + 1);
        }
    }

    /// The names of a list, or nullopt where it is more than names.
    std::optional<std::vector<std::string>> names_of(const option& o) {
        std::vector<std::string> out;
        bool good = o.is.is(value::type::list);
        for (const value& v : o.is.items) {
            good = good && (v.is(value::type::text) || v.is(value::type::symbol)) && is_plain(v.text);
            out.push_back(v.text);
        }
        if (good) return out;
        refuse(o, "not a list of names that can be read here");
        return std::nullopt;
    }
    static bool has(const std::vector<std::string>& names, std::string_view name) noexcept {
        return std::ranges::any_of(names, [name](const std::string& n) { return equal_names(n, name); });
    }

    void whose() {
        const option* const o = options_.find("private_headers");
        if (!o) return;
        const auto names = names_of(*o);
        if (!names) return;
        std::string more;
        for (const std::string& n : *names) {
            if (!equal_names(n, "Authorization") && !equal_names(n, "Cookie")) more += (more.empty() ? "" : ", ") + n;
        }
        if (!more.empty()) {
            about(*o,
                  "étagère keeps such answers, for each value of the field apart; Rack::Cache keeps those that are "
                  "public");
            headers_ = more;
        } else if (has(*names, "Authorization") && has(*names, "Cookie")) {
            about(*o, "as étagère does it unasked");
        }
        if (!has(*names, "Authorization")) {
            refuse(*o,
                   "an answer to Authorization is kept only where it says public, s-maxage or must-revalidate "
                   "(RFC 9111 section 3.5)");
        }
        if (!has(*names, "Cookie")) {
            refuse(*o,
                   "an answer to a request with cookies is kept only where it says public; cache: { cookies: plain } "
                   "would change that, and also keep and replay Set-Cookie");
        }
        if (!headers_.empty()) merge_headers();
    }

    /// `key` was written before it was known that fields part it too.
    void merge_headers() {
        const std::string part = fmt::format("headers: [{}]", headers_);
        const auto at = cache_.find("key: { ");
        if (at == std::string::npos) {
            add(fmt::format("key: {{ {} }}", part));
        } else {
            cache_.insert(at + 7, part + ", ");
        }
    }

    void ignored() {
        const option* const o = options_.find("ignore_headers");
        if (!o) return;
        const auto names = names_of(*o);
        if (!names) return;
        // What étagère keeps of no answer: cache/stored_fields.cpp.
        constexpr std::array<std::string_view, 6> never{"Set-Cookie", "Set-Cookie2",  "X-Request-Id",
                                                        "X-Runtime",  "X-Rack-Cache", "Server-Timing"};
        std::string kept;
        for (const std::string& n : *names) {
            const bool dropped = std::ranges::any_of(never, [&](std::string_view f) { return equal_names(n, f); });
            if (!dropped) kept += (kept.empty() ? "" : ", ") + n;
        }
        if (!has(*names, "Set-Cookie")) {
            refuse(*o, "Set-Cookie is never kept; cache: { cookies: plain } would, and replay it to everybody");
        }
        if (!kept.empty()) {
            refuse(*o, fmt::format("étagère keeps {}; take such fields out at the origin", kept));
        } else {
            about(*o, "as étagère does it unasked");
        }
    }

    void faults() {
        const option* const fault = options_.find("fault_tolerant");
        if (const auto on = flag(fault)) {
            about(*fault, *on ? "also for 500, 502, 503 and 504, and not where the origin forbids it"
                              : "as étagère does it unasked");
            if (*on) add("stale: { if_error: 1d }");
        }
        if (const option* const native = options_.find("use_native_ttl"); flag(native)) {
            about(*native, "étagère always gives memcached an expiry: lifetime, then what stale and validate_for need");
        }
    }

    void verbose() {
        const option* const o = options_.find("verbose");
        const std::string_view head = "\nobservability:\n";
        if (flag(o).value_or(true)) {
            log_ = std::string(head) +
                   (o ? comment(2, *o, "the words of Rack::Cache") : "  # verbose is Rack::Cache's default\n") +
                   "  access_log: { format: rack_cache }\n";
        } else {
            log_ = std::string(head) + comment(2, *o, "étagère's own log is JSON; \"off\" writes none") +
                   "  access_log: { format: json }\n";
        }
    }

    static std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

    const options& options_;
    std::string file_;
    std::string cache_, headers_, log_, rest_;
    imported out_;
};

}  // namespace

imported import_rack_cache(std::string_view ruby, std::string_view file) {
    imported nothing;
    if (ruby.size() > max_import_bytes) {
        nothing.warnings.push_back(fmt::format("{}:1: larger than {} bytes", plain(file), max_import_bytes));
        return nothing;
    }
    const options o = rack_cache::find_options(ruby);
    if (o.found) return translation(o, file).run();
    for (const rack_cache::note& n : o.notes) {
        nothing.warnings.push_back(fmt::format("{}:{}: {}", plain(file), n.line, n.text));
    }
    return nothing;
}

}  // namespace etagere::app
