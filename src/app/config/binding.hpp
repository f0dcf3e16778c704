// How a table of keys becomes a parser. A struct's table is `keys<S>`; an entry of it is made by
//
//     key<&S::member, codec{}>("name", "help")
//
// where the codec says how a value is written. From the same entry come the parser, the list of allowed keys and the
// reference (config_keys()), so that they cannot drift apart.
#pragma once

#include "reader.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace etagere::app::config {

template <class S> struct field {
    std::string_view name;
    std::string_view help;
    bool required = false;
    void (*read)(reader&, const node&, S&) = nullptr;
    void (*describe)(const std::string& path, std::string_view help, std::vector<config_key>& out) = nullptr;
};

/// The table of S; specialised in schema.cpp.
template <class S> inline constexpr std::nullptr_t keys = nullptr;

/// The words of an enumeration; specialised in schema.cpp.
template <class E> inline constexpr std::nullptr_t words = nullptr;

template <class S> std::vector<std::string_view> names_of(std::span<const field<S>> table) {
    std::vector<std::string_view> out;
    out.reserve(table.size());
    for (const auto& f : table) {
        out.push_back(f.name);
    }
    return out;
}

/// Reads the members of `n` that `table` knows into `out` in the order of the table, and reports the others.
template <class S> void read_map(reader& r, const node& n, S& out, std::span<const field<S>> table) {
    if (!r.expect_map(n, joined(names_of(table)))) {
        return;
    }
    for (const auto& f : table) {
        const reader::scope inside(r, f.name);
        if (const member* m = n.find(f.name); m == nullptr) {
            if (f.required) {
                r.error(n.at, "is needed");
            }
        } else if (m->value.is == node::kind::null) {
            r.error(m->at, "is empty; give it a value, or remove the key");
        } else {
            f.read(r, m->value, out);
        }
    }
    for (const member& m : n.members) {
        if (std::ranges::find(table, m.key, &field<S>::name) == table.end()) {
            const reader::scope inside(r, m.key);
            r.error(m.at, "unknown key", suggestion(m.key, names_of(table)));
        }
    }
}

template <class S>
void describe_map(const std::string& path, std::span<const field<S>> table, std::vector<config_key>& out) {
    for (const auto& f : table) {
        f.describe(path.empty() ? std::string(f.name) : fmt::format("{}.{}", path, f.name), f.help, out);
    }
}

template <class S> constexpr std::span<const field<S>> table_of() {
    return keys<S>;
}

// ---------------------------------------------------------------------------------------------- codecs of one scalar
// type() is what messages and the reference call it; take() fills `out` or reports.

template <class Codec>
concept scalar_codec = requires(const Codec& c) { c.type(); } && requires { typename Codec::is_scalar; };

template <class T, class U> void accept(reader& r, const node& at, parsed<T>&& value, U& out) {
    if (value) {
        out = std::move(*value);
    } else {
        r.error(at.at, std::move(value.error()));
    }
}

struct duration {
    using is_scalar = void;
    std::int64_t least = 0;  // milliseconds
    bool never = false;      // the word is allowed
    bool seconds = false;    // HTTP counts it in whole seconds
    std::string type() const { return never ? "duration or never" : "duration"; }
    template <class T> void take(reader& r, const node& at, const scalar& s, T& out) const {
        if (never && s.text == "never") {
            out = settings::never;
            return;
        }
        auto value = parse_duration(s);
        if (value && value->count() < least) {
            value = std::unexpected(fmt::format("{} is too short; the least is {}ms", quoted(s.shown), least));
        } else if (value && seconds && value->count() % 1000 != 0) {
            value =
                std::unexpected(fmt::format("{} has a part of a second; lifetimes are whole seconds", quoted(s.shown)));
        }
        accept(r, at, std::move(value), out);
    }
};

struct size {
    using is_scalar = void;
    std::uint64_t least = 0;
    std::uint64_t most = settings::unlimited;
    bool unlimited = false;  // the word is allowed
    std::string type() const { return unlimited ? "size or unlimited" : "size"; }
    void take(reader& r, const node& at, const scalar& s, std::uint64_t& out) const {
        if (unlimited && s.text == "unlimited") {
            out = settings::unlimited;
            return;
        }
        auto value = parse_size(s);
        if (value && *value < least) {
            value = std::unexpected(fmt::format("{} is too small; the least is {}", quoted(s.shown), size_text(least)));
        } else if (value && *value > most) {
            value = std::unexpected(fmt::format("{} is too large; the most is {}", quoted(s.shown), size_text(most)));
        }
        accept(r, at, std::move(value), out);
    }
};

struct count {
    using is_scalar = void;
    std::uint32_t least = 0;
    std::uint32_t most = UINT32_MAX;
    std::string type() const { return fmt::format("number from {} to {}", least, most); }
    void take(reader& r, const node& at, const scalar& s, std::uint32_t& out) const {
        accept(r, at, parse_count(s, least, most), out);
    }
};

/// Whatever a function of scalar.hpp reads. `Name` is a pointer to a static string, for it is a template argument.
template <auto Parse, const auto& Name> struct plain {
    using is_scalar = void;
    std::string type() const { return std::string(Name); }
    template <class T> void take(reader& r, const node& at, const scalar& s, T& out) const {
        accept(r, at, Parse(s), out);
    }
};

template <class E> std::vector<std::string_view> word_list() {
    std::vector<std::string_view> out;
    out.reserve(words<E>.size());
    for (const auto& [name, value] : words<E>) {
        out.push_back(name);
    }
    return out;
}

/// One word of `words<E>`; the member is an E, or whatever the table maps the word to.
template <class E> struct word {
    using is_scalar = void;
    std::string type() const { return "one of: " + joined(word_list<E>()); }
    template <class T> void take(reader& r, const node& at, const scalar& s, T& out) const {
        for (const auto& [name, value] : words<E>) {
            if (name == s.text) {
                out = value;
                return;
            }
        }
        const auto all = word_list<E>();
        r.error(at.at, fmt::format("{} is not one of: {}", quoted(s.shown), joined(all)),
                s.literal() ? suggestion(s.text, all) : std::string());
    }
};

// ------------------------------------------------------------------------------------------- codecs of whole values
// read() fills `out` or reports; describe() adds the keys at and below `path`.

/// A list, or a scalar with commas.
template <scalar_codec Item> struct list {
    Item item{};
    bool some = false;  // at least one
    std::string type() const { return fmt::format("list of {}", item.type()); }

    template <class T> void read(reader& r, const node& n, std::vector<T>& out) const {
        std::vector<T> found;
        const auto take = [&](const node& at, const scalar& s) {
            const reader::scope inside(r, found.size());
            item.take(r, at, s, found.emplace_back());
        };
        if (n.is == node::kind::list) {
            for (const node& i : n.items) {
                if (const auto s = r.read_scalar(i, item.type())) {
                    take(i, *s);
                }
            }
        } else if (const auto s = r.read_scalar(n, type())) {
            const auto parts = split_list(*s);
            if (parts.size() == 1) {
                item.take(r, n, parts.front(), found.emplace_back());
            } else {
                for (const scalar& i : parts) {
                    take(n, i);
                }
            }
        } else {
            return;
        }
        if (found.empty() && some) {
            r.error(n.at, "has no entry; it needs at least one");
        }
        out = std::move(found);
    }
    template <class T> void read(reader& r, const node& n, std::optional<std::vector<T>>& out) const {
        read(r, n, out.emplace());
    }
};

template <class T> struct unwrapped {
    using type = T;
};
template <class T> struct unwrapped<std::optional<T>> {
    using type = T;
};

/// A map read by `keys<T>`.
struct object {
    template <class T> void read(reader& r, const node& n, T& out) const { read_map<T>(r, n, out, keys<T>); }
    template <class T> void read(reader& r, const node& n, std::optional<T>& out) const {
        read_map<T>(r, n, out.emplace(), keys<T>);
    }
};

/// `off`, `on`, or a map read by `keys<T>`, which means on.
struct switchable {
    template <class T> void read(reader& r, const node& n, T& out) const {
        out.enabled = n.text != "off";
        if (n.is == node::kind::scalar) {
            if (n.text != "off" && n.text != "on") {
                r.wrong_kind(n, "on, off or a map", fmt::format("allowed: {}", joined(names_of(table_of<T>()))));
            }
        } else {
            read_map<T>(r, n, out, keys<T>);
        }
    }
};

/// A map from names to structs: `stores: { default: … }`.
struct named {
    template <class T> void read(reader& r, const node& n, std::vector<T>& out) const {
        if (!r.expect_map(n, "names of your choice")) {
            return;
        }
        for (const member& m : n.members) {
            const reader::scope inside(r, m.key);
            auto name = parse_name({.text = m.key, .shown = m.key});
            if (!name) {
                r.error(m.at, std::move(name.error()));
                continue;
            }
            T& entry = out.emplace_back();
            entry.name = std::move(*name);
            if (m.value.is == node::kind::null) {
                r.error(m.at, "is empty; give it a value, or remove the key");
            } else {
                read_map<T>(r, m.value, entry, keys<T>);
            }
        }
    }
};

// ------------------------------------------------------------------------------------------------- making of entries

template <class Codec, class T> void read_value(const Codec& codec, reader& r, const node& n, T& out) {
    if constexpr (scalar_codec<Codec>) {
        if (const auto s = r.read_scalar(n, codec.type())) {
            codec.take(r, n, *s, out);
        }
    } else {
        codec.read(r, n, out);
    }
}

template <class Codec, class T>
void describe_value(const Codec& codec, const std::string& path, std::string_view help, std::vector<config_key>& out) {
    if constexpr (std::is_same_v<Codec, object>) {
        describe_map(path, table_of<typename unwrapped<T>::type>(), out);
    } else if constexpr (std::is_same_v<Codec, switchable>) {
        out.push_back({.path = path, .type = "on, off or map", .help = std::string(help)});
        describe_map(path, table_of<T>(), out);
    } else if constexpr (std::is_same_v<Codec, named>) {
        describe_map(path + ".NAME", table_of<typename T::value_type>(), out);
    } else {
        out.push_back({.path = path, .type = codec.type(), .help = std::string(help)});
    }
}

template <class S, class T> S owner_of(T S::*);
template <class S, class T> T type_of(T S::*);

template <auto Member, auto Codec> constexpr auto key(std::string_view name, std::string_view help) {
    using S = decltype(owner_of(Member));
    using T = decltype(type_of(Member));
    return field<S>{.name = name,
                    .help = help,
                    .required = false,
                    .read = [](reader& r, const node& n, S& s) { read_value(Codec, r, n, s.*Member); },
                    .describe =
                        [](const std::string& path, std::string_view h, std::vector<config_key>& out) {
                            describe_value<std::remove_cvref_t<decltype(Codec)>, T>(Codec, path, h, out);
                        }};
}

template <auto Member, auto Codec> constexpr auto required(std::string_view name, std::string_view help) {
    auto f = key<Member, Codec>(name, help);
    f.required = true;
    return f;
}

/// A map in the file whose members belong to S itself: `sign: { key: … }`.
template <class S, const auto& Table> constexpr field<S> group(std::string_view name, std::string_view help) {
    return {.name = name,
            .help = help,
            .required = false,
            .read = [](reader& r, const node& n, S& s) { read_map<S>(r, n, s, Table); },
            .describe = [](const std::string& path, std::string_view,
                           std::vector<config_key>& out) { describe_map<S>(path, Table, out); }};
}

}  // namespace etagere::app::config
