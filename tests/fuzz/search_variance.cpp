// No-Vary-Search: the rule and what it makes of targets. The input: the field's value, then queries, each ended by NUL.
#include "etagere/cache/search_variance.hpp"

#include "check.hpp"

#include <algorithm>
#include <string>

using namespace etagere;
using namespace etagere::cache;

namespace {

std::string simplified(std::string_view target, const search_variance& rule) {
    std::string out;
    append_simplified_target(out, target, rule);
    return out;
}

std::string sorted(std::string_view text) {
    std::string out(text);
    std::ranges::sort(out);
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    http::fields response;
    if (!response.add("No-Vary-Search", in.text())) return 0;
    const auto rule = find_search_variance(response);
    if (!rule) return 0;
    FUZZ_CHECK(carries(response, *rule) && find_search_variance(response) == rule);
    FUZZ_CHECK(std::ranges::is_sorted(rule->names));
    search_variance any = *rule;
    any.any_order = true;
    while (!in.rest.empty()) {
        const std::string target = "/p?" + std::string(in.text());
        // Nothing is invented, nothing is left to be taken, and a ';' leaves all as it is.
        const std::string once = simplified(target, *rule);
        FUZZ_CHECK(once.starts_with("/p") && once.size() <= target.size());
        FUZZ_CHECK(simplified(once, *rule) == once);
        if (target.contains(';')) FUZZ_CHECK(once == target);
        // Order changes what comes first, not what is there.
        FUZZ_CHECK(sorted(simplified(target, any)) == sorted(once));
        FUZZ_CHECK(simplified(once, any) == simplified(target, any));
    }
    return 0;
}
