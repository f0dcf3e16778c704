// F4: structured fields (RFC 9651). The input is one value, taken for an item, a list and a dictionary. What was read
// is written again as §4.1 says; that has to be read as the same, and to be what was read where it is written once
// more.
#include "etagere/http/structured_fields.hpp"

#include "check.hpp"

#include <string>

using namespace etagere::http::structured;

namespace {

constexpr std::string_view hex = "0123456789abcdef";

// Quotes and backslashes escaped.
void write_string(std::string& out, const std::string& value) {
    out += '"';
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
}

void write_display_string(std::string& out, const std::string& value) {
    out += "%\"";
    for (const char c : value) {
        if (c >= ' ' && c <= '~' && c != '%' && c != '"') {
            out += c;
            continue;
        }
        const auto octet = static_cast<unsigned char>(c);
        out += '%';
        out += hex[octet >> 4U];
        out += hex[octet & 15U];
    }
    out += '"';
}

void write_bytes(std::string& out, const std::string& value) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out += ':';
    for (std::size_t i = 0; i < value.size(); i += 3) {
        unsigned three = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            three = three << 8U | (i + k < value.size() ? static_cast<unsigned char>(value[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += i + k > value.size() ? '=' : digits[three >> (18U - 6U * static_cast<unsigned>(k)) & 63U];
        }
    }
    out += ':';
}

void write_decimal(std::string& out, std::int64_t thousandths) {
    const std::int64_t size = thousandths < 0 ? -thousandths : thousandths;
    std::string fraction = std::to_string(1000 + size % 1000).substr(1);
    while (fraction.size() > 1 && fraction.back() == '0') fraction.pop_back();
    out.append(thousandths < 0 ? "-" : "").append(std::to_string(size / 1000)).append(".").append(fraction);
}

void write(std::string& out, const bare_item& v) {
    switch (v.type) {
        case kind::integer: out += std::to_string(v.number); return;
        case kind::decimal: write_decimal(out, v.number); return;
        case kind::string: write_string(out, v.decoded()); return;
        case kind::token: out += v.decoded(); return;
        case kind::bytes: write_bytes(out, v.decoded()); return;
        case kind::boolean: out += v.is_true() ? "?1" : "?0"; return;
        case kind::date: out.append("@").append(std::to_string(v.number)); return;
        case kind::display_string: write_display_string(out, v.decoded()); return;
    }
}

void write(std::string& out, const parameters& with) {
    with.for_each([&](std::string_view key, const bare_item& v) {
        out.append(";").append(key);
        if (!v.is_true()) write(out.append("="), v);
        FUZZ_CHECK(with.find(key));
    });
}

void write(std::string& out, const member& m) {
    out += m.key;
    const bool implied = !m.key.empty() && !m.is_inner_list && m.value.is_true();
    if (!m.key.empty() && !implied) out += '=';
    if (m.is_inner_list) {
        out += '(';
        bool first = true;
        m.items.for_each([&](const item& i) {
            if (!first) out += ' ';
            first = false;
            write(out, i.value);
            write(out, i.with);
        });
        out += ')';
    } else if (!implied) {
        write(out, m.value);
    }
    write(out, m.with);
}

template <class Sequence> std::string write_all(const Sequence& s) {
    std::string out;
    s.for_each([&](const member& m) {
        if (!out.empty()) out += ", ";
        write(out, m);
    });
    return out;
}

std::string write_all(const item& i) {
    std::string out;
    write(out, i.value);
    write(out, i.with);
    return out;
}

template <class Parse> void check(std::string_view text, Parse parse) {
    const auto read = parse(text);
    if (!read) return;
    const std::string once = write_all(*read);
    const auto again = parse(once);
    FUZZ_CHECK(again && write_all(*again) == once);
    for (const char c : text) FUZZ_CHECK(c == '\t' || (c >= ' ' && c <= '~'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check(text, parse_item);
    check(text, parse_list);
    check(text, parse_dictionary);
    // An item is a list of one.
    const auto one = parse_item(text);
    if (one) {
        const auto alone = parse_list(text);
        FUZZ_CHECK(alone && write_all(*alone) == write_all(*one));
    }
    return 0;
}
