#include "etagere/cache/key.hpp"

#include "etagere/base/writer.hpp"
#include "etagere/cache/search_variance.hpp"
#include "etagere/http/lists.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace etagere::cache {
namespace {

// Every key begins with it, as a part. Raise it when the meaning of a key changes: records of the older one are then
// never found.
constexpr char schema_part[] = "1:1";

/// Lengths stand before everything that comes from outside, so that no value can look like a border. Appends only.
class key_writer {
public:
    explicit key_writer(std::string& out) noexcept : out_(out) {}

    void part(std::string_view bytes) {
        length(bytes.size());
        out_ += bytes;
    }
    /// A part whose length is known once `write(out)` has appended it.
    template <class F> void part_from(F&& write) {
        const std::size_t start = out_.size();
        write(out_);
        std::array<char, 24> text;
        const std::string_view prefix = as_prefix(out_.size() - start, text);
        out_.insert(start, prefix);
    }
    /// Values of one name: none, one or several; absent and empty differ, and so do "a","b" and "a, b".
    void begin_values(char kind, std::string_view name) {
        out_ += kind;
        part(name);
    }
    void end_values() { out_ += '.'; }

private:
    static std::string_view as_prefix(std::size_t n, std::array<char, 24>& text) noexcept {
        char* end = std::to_chars(text.data(), text.data() + text.size() - 1, n).ptr;
        *end++ = ':';
        return {text.data(), static_cast<std::size_t>(end - text.data())};
    }
    void length(std::size_t n) {
        std::array<char, 24> text;
        out_ += as_prefix(n, text);
    }

    std::string& out_;
};

template <class F> void for_each_value(const http::fields& in, std::string_view name, F&& each) {
    for (const http::fields::entry f : in) {
        if (http::iequals(f.name, name)) each(f.value);
    }
}

// RFC 6265 §5.4 as origins read it: pairs separated by ';', on any number of lines. All pairs of that name count:
// origins do not agree whether the first or the last one wins.
template <class F> void for_each_cookie(const http::fields& in, std::string_view name, F&& each) {
    for_each_value(in, "Cookie", [&](std::string_view rest) {
        while (!rest.empty()) {
            const auto end = rest.find(';');
            const std::string_view pair = http::trim(rest.substr(0, end));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            const auto equals = pair.find('=');
            if (equals == std::string_view::npos || http::trim(pair.substr(0, equals)) != name) continue;
            each(http::trim(pair.substr(equals + 1)));
        }
    });
}

constexpr std::size_t most_prefix = writer::most_digits + 1;  // a length and its ':'

void write_part(writer& out, std::string_view bytes) noexcept {
    out.number(bytes.size());
    out += ':';
    out += bytes;
}

/// The parts that every key has, up to the target. `target` is written too where it stands as it came.
void write_start(std::string& out, std::string_view route, const http::request_head& request,
                 std::optional<std::string_view> target) {
    std::array<char, 8> digits;
    digits[0] = ':';
    const char* const end = std::to_chars(digits.data() + 1, digits.data() + digits.size(), request.port).ptr;
    const std::string_view port(digits.data(), static_cast<std::size_t>(end - digits.data()));
    const std::size_t most = sizeof schema_part + route.size() + request.scheme.size() + request.host.size() +
                             port.size() + (target ? target->size() : 0) + 4 * most_prefix;
    append_at_most(out, most, [&](writer& to) {
        to += schema_part;
        write_part(to, route);
        write_part(to, request.scheme);
        to.number(request.host.size() + port.size());
        to += ':';
        to += std::string_view(request.host);
        to += port;
        if (target) write_part(to, *target);
    });
}

/// `append_target`, where there is one, makes the target's part.
template <class AppendTarget>
void write_key(std::string& out, std::string_view route, const http::request_head& request, const policy& rules,
               credential_digest digest, AppendTarget&& append_target) {
    out.clear();
    key_writer key(out);
    if constexpr (std::is_null_pointer_v<std::remove_cvref_t<AppendTarget>>) {
        write_start(out, route, request, request.target);
    } else {
        write_start(out, route, request, std::nullopt);
        key.part_from(append_target);
    }
    for (const std::string& name : rules.key_headers) {
        key.begin_values('h', name);
        for_each_value(request.header, name, [&](std::string_view value) { key.part(value); });
        key.end_values();
    }
    for (const std::string& name : rules.key_cookies) {
        key.begin_values('c', name);
        for_each_cookie(request.header, name, [&](std::string_view value) { key.part(value); });
        key.end_values();
    }
    for (const std::string& name : rules.per_credential) {
        key.begin_values('p', name);
        for_each_value(request.header, name, [&](std::string_view value) { key.part(digest(value)); });
        key.end_values();
    }
}

}  // namespace

void make_key(std::string& out, std::string_view route, const http::request_head& request, const policy& rules,
              credential_digest digest) {
    if (!rules.query.sort && rules.query.ignore.empty()) return write_key(out, route, request, rules, digest, nullptr);
    write_key(out, route, request, rules, digest,
              [&](std::string& to) { append_key_target(to, request.target, rules.query); });
}

void make_search_key(std::string& out, std::string_view route, const http::request_head& request,
                     const search_variance& rule, const policy& rules, credential_digest digest) {
    write_key(out, route, request, rules, digest, [&](std::string& to) {
        if (!rules.query.sort && rules.query.ignore.empty()) {
            append_simplified_target(to, request.target, rule);
            return;
        }
        std::string target;
        append_simplified_target(target, request.target, rule);
        append_key_target(to, target, rules.query);
    });
}

}  // namespace etagere::cache
