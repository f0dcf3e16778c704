#include "rack_cache_store.hpp"

#include "../config/scalar.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace etagere::app::rack_cache {
namespace {

using ruby::value;

constexpr std::string_view usual_server = "127.0.0.1:11211";  // Dalli's own default
constexpr std::string_view computed_server = "${MEMCACHED:-127.0.0.1:11211}";
constexpr std::size_t longest_name = 64;

bool is_name_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}
bool is_server_letter(char c) noexcept {
    return is_name_letter(c) || c == '.' || c == ':' || c == '[' || c == ']' || c == ',';
}
bool is_variable(std::string_view name) noexcept {
    return !name.empty() && (name[0] < '0' || name[0] > '9') &&
           std::ranges::all_of(name, [](char c) { return is_name_letter(c) && c != '-'; });
}

std::string variable(std::string_view name, std::string_view fallback) {
    return fmt::format("${{{}:-{}}}", name, fallback);
}

/// A namespace as étagère takes it.
std::string as_name(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, longest_name)) out += is_name_letter(c) ? c : '-';
    const auto from = out.find_first_not_of("-_");
    if (from == std::string::npos) return {};
    return out.substr(from, out.find_last_not_of("-_") - from + 1);
}

/// Whether étagère takes it for `servers` where no variable is set.
bool are_servers(std::string_view servers) {
    std::string usual;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (servers.substr(i).starts_with("${")) i = std::min(servers.find(":-", i), servers.size() - 2) + 2;
        if (i < servers.size() && servers[i] != '}') usual += servers[i];
    }
    const auto parts = config::split_list({.text = usual, .shown = usual});
    return !parts.empty() &&
           std::ranges::all_of(parts, [](const config::scalar& s) { return config::parse_server(s).has_value(); });
}

/// One of the two, before they become one.
struct half {
    enum class type : std::uint8_t { none, heap, memcached, other };
    type what = type::none;
    std::string servers, name_space;
};

class reader {
public:
    explicit reader(const options& o, place& out) : options_(o), out_(out) {}

    half read(const option& o) {
        line_ = o.line;
        name_ = o.name;
        switch (o.is.what) {
            case value::type::text: return from_uri(o.is.text);
            case value::type::call:
                if (o.is.text == "Dalli::Client.new" || o.is.text == "Memcached.new") return from_client(o.is);
                if (o.is.text == "Rails.cache") return from_rails();
                break;
            case value::type::env:
            case value::type::symbol:
            case value::type::number:
            case value::type::boolean:
            case value::type::nil:
            case value::type::list:
            case value::type::hash:
            case value::type::other: break;
        }
        warn(fmt::format("{}: this is more than can be read here; memory stands for it", name_));
        return {half::type::other, {}, {}};
    }

private:
    void warn(std::string text) { out_.warnings.push_back({line_, std::move(text)}); }
    void comment(std::string text) { out_.comments.push_back({line_, std::move(text)}); }

    half from_uri(std::string_view uri) {
        const auto colon = uri.find(':');
        const std::string_view scheme = uri.substr(0, colon);
        if (colon == std::string_view::npos) return unknown(uri);
        std::string_view rest = uri.substr(colon + 1);
        if (scheme == "heap" || scheme == "mem") return {half::type::heap, {}, {}};
        if (scheme == "file" || scheme == "disk") {
            warn(
                fmt::format("{}: étagère has no store on disk; memory stands for it, and begins empty. memcached "
                            "would outlive a restart",
                            name_));
            return {half::type::heap, {}, {}};
        }
        if (scheme == "rails") return from_rails();
        if (scheme == "noop") {
            warn(fmt::format("{}: `noop:` keeps no bodies, étagère keeps them: in memory", name_));
            return {half::type::heap, {}, {}};
        }
        constexpr std::array<std::string_view, 3> schemes{"memcached", "memcache", "dalli"};
        if (std::ranges::find(schemes, scheme) == schemes.end()) return unknown(uri);
        if (rest.starts_with("//")) rest.remove_prefix(2);
        half h{half::type::memcached, {}, {}};
        // `#{…}` may hold slashes and question marks of its own.
        const std::size_t host_end = outside_of_variables(rest, "/?");
        std::string_view host = rest.substr(0, host_end);
        std::string_view path = rest.substr(host_end);
        if (const auto query = outside_of_variables(path, "?"); query < path.size()) {
            comment(fmt::format("{}: the store's own options (`{}`) are not translated", name_,
                                ruby::plain(path.substr(query))));
            path = path.substr(0, query);
        }
        if (const auto at = host.rfind('@');
            at != std::string_view::npos && host.find("#{") == std::string_view::npos) {
            warn(fmt::format("{}: étagère speaks to memcached without user and password", name_));
            host.remove_prefix(at + 1);
        }
        h.servers = with_variables(host, "127.0.0.1");
        if (!are_servers(h.servers)) computed(h);
        h.name_space = as_name(path);
        return h;
    }

    static std::size_t outside_of_variables(std::string_view text, std::string_view wanted) noexcept {
        int braces = 0;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '{') ++braces;
            if (text[i] == '}' && braces > 0) --braces;
            if (braces == 0 && wanted.find(text[i]) != std::string_view::npos) return i;
        }
        return text.size();
    }

    void computed(half& h) {
        h.servers = computed_server;
        warn(fmt::format("{}: the address is computed, so `servers` is a guess: set MEMCACHED or write it there",
                         name_));
    }

    half unknown(std::string_view uri) {
        warn(fmt::format("{}: étagère has no store like `{}`; memory stands for it", name_,
                         ruby::plain(uri.substr(0, uri.find(':')))));
        return {half::type::other, {}, {}};
    }

    half from_rails() {
        const auto& store = options_.cache_store;
        if (store && (store->text == "mem_cache_store" || store->text == "dalli_store")) return from_client(*store);
        warn(
            fmt::format("{}: Rails.cache is not known here; memory stands for it. Where it is memcached, write its "
                        "servers under stores.default.memcached",
                        name_));
        return {half::type::other, {}, {}};
    }

    // Dalli::Client.new("a:11211", namespace: "shop") | (["a", "b"]) | (ENV["X"].split(",")) | ()
    half from_client(const value& client) {
        half h{half::type::memcached, {}, {}};
        for (const value& v : client.items) add_servers(h, v);
        if (client.items.empty()) h.servers = variable("MEMCACHE_SERVERS", usual_server);  // where Dalli looks
        if (!are_servers(h.servers)) computed(h);
        std::string others;
        for (const auto& [name, v] : client.pairs) {
            if (name == "namespace" || name == "prefix_key") {
                h.name_space = as_name(v.text);
            } else if (name == "username" || name == "password") {
                if (name == "username")
                    warn(fmt::format("{}: étagère speaks to memcached without user and password", name_));
            } else {
                others += (others.empty() ? "" : ", ") + ruby::plain(name);
            }
        }
        if (!others.empty())
            comment(fmt::format("{}: the client's own options ({}) are not translated", name_, others));
        return h;
    }

    void add_servers(half& h, const value& v) {
        std::string one;
        if (v.is(value::type::list)) {
            for (const value& member : v.items) add_servers(h, member);
            return;
        }
        if (v.is(value::type::text)) one = with_variables(v.text, "127.0.0.1");
        if (v.is(value::type::env) && is_variable(v.text)) {
            const std::string fallback = v.items.empty() ? std::string() : with_variables(v.items[0].text, {});
            one = variable(v.text, fallback.empty() ? usual_server : fallback);
        }
        if (one.empty()) one = "?";  // none of the letters of a server, so all of them count as computed
        h.servers += (h.servers.empty() ? "" : ",") + one;
    }

    const options& options_;
    place& out_;
    int line_ = 0;
    std::string name_;
};

/// "shop-meta" and "shop-body" share "shop".
std::string common_name(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty() || a == b) return a.empty() ? b : a;
    const auto [end, other] = std::ranges::mismatch(a, b);
    std::string_view shared(a.data(), static_cast<std::size_t>(end - a.begin()));
    return as_name(
        shared.substr(0, shared.find_last_of("-_") == std::string_view::npos ? 0 : shared.find_last_of("-_")));
}

}  // namespace

std::string with_variables(std::string_view text, std::string_view fallback) {
    std::string out;
    while (!text.empty()) {
        const auto open = text.find("#{");
        const std::string_view literal = text.substr(0, open);
        if (!std::ranges::all_of(literal, is_server_letter)) return {};
        out += literal;
        if (open == std::string_view::npos) break;
        text.remove_prefix(open + 2);
        const auto close = text.find('}');
        if (close == std::string_view::npos) return {};
        const std::string_view code = text.substr(0, close);
        const std::vector<ruby::token> all = ruby::tokens(code);
        const value v = ruby::reader(code, all).read();
        if (!v.is(value::type::env) || !is_variable(v.text)) return {};
        const std::string given = v.items.empty() ? std::string() : v.items[0].text;
        if (!std::ranges::all_of(given, is_server_letter)) return {};
        const std::string_view usual = out.ends_with(':') ? std::string_view("11211") : fallback;
        out += variable(v.text, given.empty() ? usual : given);
        text.remove_prefix(close + 1);
    }
    return out;
}

place find_place(const options& o) {
    place out;
    reader read(o, out);
    const option* const meta = o.find("metastore");
    const option* const entity = o.find("entitystore");
    const half m = meta ? read.read(*meta) : half{};
    const half e = entity ? read.read(*entity) : half{};
    const bool meta_in = m.what == half::type::memcached;
    const bool entity_in = e.what == half::type::memcached;
    out.memcached = meta_in || entity_in;
    if (!out.memcached) return out;
    out.servers = entity_in ? e.servers : m.servers;
    out.name_space = meta_in && entity_in ? common_name(m.name_space, e.name_space)
                     : entity_in          ? e.name_space
                                          : m.name_space;
    if (meta_in && entity_in && m.servers != e.servers) {
        out.warnings.push_back(
            {meta->line, fmt::format("metastore: étagère keeps heads and bodies on the same servers, those of "
                                     "entitystore; {} is not used",
                                     m.servers)});
    }
    if (meta_in && entity_in && m.name_space != e.name_space && !m.name_space.empty() && !e.name_space.empty()) {
        out.comments.push_back({meta->line, fmt::format("metastore, entitystore: étagère tells heads and bodies apart "
                                                        "itself, so the namespaces `{}` and `{}` become one",
                                                        m.name_space, e.name_space)});
    }
    if (meta_in != entity_in) {
        out.warnings.push_back({(meta_in ? meta : entity)->line,
                                "metastore and entitystore differ: étagère keeps heads and bodies in one place, here "
                                "memcached"});
    }
    return out;
}

}  // namespace etagere::app::rack_cache
