// A second, tiny reader of heads, which shares nothing with the one under test: what we write has to look the same to
// it.
#pragma once

#include "check.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etagere::fuzz {

struct wire_head {
    std::string start_line;
    std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

    std::size_t count(std::string_view name) const {
        return static_cast<std::size_t>(std::ranges::count(fields, name, [](const auto& f) { return f.first; }));
    }
    std::string get(std::string_view name) const {
        for (const auto& [n, value] : fields) {
            if (n == name) return value;
        }
        return {};
    }
};

/// Aborts where the text is no head of CRLF lines, "name: value" each, or says its framing twice.
inline wire_head read_wire(std::string_view text) {
    wire_head head;
    bool first = true;
    for (;;) {
        const auto end = text.find("\r\n");
        FUZZ_CHECK(end != std::string_view::npos);
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 2);
        FUZZ_CHECK(line.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
        if (line.empty()) break;
        if (std::exchange(first, false)) {
            head.start_line = line;
            continue;
        }
        const auto colon = line.find(": ");
        FUZZ_CHECK(colon != std::string_view::npos && colon > 0);
        std::string name(line.substr(0, colon));
        for (char& c : name) {
            FUZZ_CHECK(std::isgraph(static_cast<unsigned char>(c)) != 0 && c != ':');
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        head.fields.emplace_back(std::move(name), line.substr(colon + 2));
    }
    FUZZ_CHECK(text.empty() && !first);
    FUZZ_CHECK(head.count("content-length") + head.count("transfer-encoding") <= 1);
    if (head.count("transfer-encoding") == 1) FUZZ_CHECK(head.get("transfer-encoding") == "chunked");
    return head;
}

}  // namespace etagere::fuzz
