// JSON (RFC 8259) for people and programs that ask: written, never read. Text is made harmless as in a log line.
// Not thread-safe: one for each document.
#pragma once

#include "etagere/observe/text.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::observe {

/// Commas come by themselves; begin and end have to match.
class json_writer {
public:
    /// Appends to `out`, which has to outlive it.
    explicit json_writer(std::string& out) noexcept : out_(out), start_(out.size()) {}

    void begin() { open('{'); }
    void end() { out_ += '}'; }
    void begin_list() { open('['); }
    void end_list() { out_ += ']'; }
    void key(std::string_view name) {
        separate();
        append_json_string(out_, name);
        out_ += ':';
    }
    void text(std::string_view value) {
        separate();
        append_json_string(out_, value);
    }
    void number(std::int64_t value) {
        separate();
        append_number(out_, value);
    }
    void flag(bool value) {
        separate();
        out_ += value ? "true" : "false";
    }
    void null() {
        separate();
        out_ += "null";
    }

    void member(std::string_view name, std::string_view value) {
        key(name);
        text(value);
    }
    void member(std::string_view name, const char* value) { member(name, std::string_view(value)); }
    void member(std::string_view name, std::integral auto value) {
        key(name);
        if constexpr (std::same_as<decltype(value), bool>) {
            flag(value);
        } else {
            number(static_cast<std::int64_t>(value));
        }
    }
    void begin(std::string_view name) {
        key(name);
        begin();
    }
    void begin_list(std::string_view name) {
        key(name);
        begin_list();
    }

private:
    void open(char bracket) {
        separate();
        out_ += bracket;
    }
    void separate() {
        if (out_.size() == start_) return;
        const char last = out_.back();
        if (last != '{' && last != '[' && last != ':') out_ += ',';
    }

    std::string& out_;
    std::size_t start_;
};

}  // namespace etagere::observe
