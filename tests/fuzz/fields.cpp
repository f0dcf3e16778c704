// F11 and the small grammars: fields, lists, dates, authorities. The first octet chooses.
#include "etagere/http/fields.hpp"

#include "etagere/http/authority.hpp"
#include "etagere/http/date.hpp"
#include "etagere/http/lists.hpp"

#include "check.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace etagere::http;
using etagere::fuzz::input;

// Operations on fields, against a list of pairs.
void operate(input in) {
    fields all;
    std::vector<std::pair<std::string, std::string>> model;
    while (!in.rest.empty()) {
        const std::uint8_t what = in.octet();
        const std::string_view name = in.text();
        const std::string_view value = in.text();
        const auto same = [&](const auto& pair) { return iequals(pair.first, name); };
        switch (what % 4) {
            case 0: FUZZ_CHECK(all.erase(name) == static_cast<std::size_t>(std::erase_if(model, same))); break;
            case 1: all.shrink(); break;
            default:
                if (all.add(name, value)) {
                    FUZZ_CHECK(is_token(name) && value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
                    model.emplace_back(name, value);
                }
        }
        FUZZ_CHECK(all.size() == model.size());
        for (std::size_t i = 0; i < model.size(); ++i) {
            FUZZ_CHECK(all[i].name == model[i].first && all[i].value == model[i].second);
            FUZZ_CHECK(all[i].id == find_field_id(all[i].name) && all.find(all[i].name).has_value());
        }
        FUZZ_CHECK(all.find(name).has_value() == std::ranges::any_of(model, same));
    }
}

// The members of a list, joined, are the same members.
void split(std::string_view text) {
    std::vector<std::string> members;
    std::string joined;
    for (std::string_view rest = text; const auto member = next_member(rest);) {
        FUZZ_CHECK(!member->empty() && trim(*member) == *member);
        members.emplace_back(*member);
        joined.append(joined.empty() ? "" : ",").append(*member);
        const directive d = split_directive(*member);
        FUZZ_CHECK(d.argument.has_value() == (member->find('=') != std::string_view::npos));
        const auto delta = parse_delta_seconds(d.argument.value_or(""));
        FUZZ_CHECK(!delta || (*delta >= 0 && *delta <= std::int64_t{1} << 31));
    }
    std::string_view rest = joined;
    for (const std::string& member : members) FUZZ_CHECK(next_member(rest) == std::string_view(member));
    FUZZ_CHECK(!next_member(rest));
}

void date(std::string_view text) {
    const etagere::wall_time now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 30);
    const auto t = parse_date(text, now);
    if (!t) return;
    if (*t >= etagere::wall_seconds(std::chrono::sys_days(std::chrono::year(10'000) / 1 / 1))) return;  // a leap second
    const std::string written = format_date(*t);
    FUZZ_CHECK(written.size() == 29 && parse_date(written, now) == t);
}

// Idempotent: what was accepted is accepted in its canonical form, with the same meaning.
void authorities(std::string_view text) {
    const auto a = parse_authority(text);
    if (!a) return;
    FUZZ_CHECK(!a->host.empty() && a->host.size() <= 255);
    FUZZ_CHECK(a->host.find_first_of(std::string_view("/?#@%,; \t\r\n\0", 12)) == std::string_view::npos);
    const std::string canonical = std::string(a->host) + (a->port ? ":" + std::to_string(*a->port) : "");
    const auto b = parse_authority(canonical);
    FUZZ_CHECK(b && b->host == a->host && b->port == a->port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    input in(data, size);
    switch (in.octet() % 4) {
        case 0: operate(in); break;
        case 1: split(in.rest); break;
        case 2: date(in.rest); break;
        default: authorities(in.rest); break;
    }
    return 0;
}
