// F8: keys and selecting fields. The input: one octet of switches, Vary, then two requests of a target and two values,
// all ended by NUL. The two values of a request are its lines of X-A, its cookies, its Accept-Language and its Accept.
#include "etagere/cache/decisions.hpp"
#include "etagere/cache/key.hpp"

#include "check.hpp"

#include <string>

using namespace etagere;
using namespace etagere::cache;

namespace {

http::request_head read_request(fuzz::input& in) {
    http::request_head request;
    request.host = "h";
    request.target = "/";
    request.target += in.text();
    for (int i = 0; i < 2; ++i) {
        const std::string_view value = in.text();
        if (!request.header.add("X-A", value)) continue;
        request.header.append(http::field_id::cookie, value);
        request.header.append(http::field_id::accept_language, value);
        request.header.append(http::field_id::accept, value);
    }
    return request;
}

std::string digest(std::string_view value) {
    return std::string(value);
}

std::string key_of(const http::request_head& request, const policy& rules) {
    std::string key;
    make_key(key, "r", request, rules, digest);
    return key;
}

std::string all_lines(const http::request_head& request) {
    std::string out;
    for (const http::fields::entry f : request.header) {
        if (f.id == http::field_id::other) out.append(std::to_string(f.value.size())).append(":").append(f.value);
    }
    return out;
}

bool selects(const http::response_head& response, const http::request_head& stored_for, const http::request_head& asked,
             const policy& rules) {
    const stored_response r = make_stored(stored_for, response, rules, wall_time{}, wall_time{}, digest);
    const stored_response* const variants[] = {&r};
    return select_variant(variants, asked, rules, digest) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::input in(data, size);
    const std::uint8_t switches = in.octet();
    http::response_head response;
    if (!response.header.add("Vary", in.text())) return 0;
    const http::request_head a = read_request(in);
    const http::request_head b = read_request(in);

    // Without query rules a key is equal only where every part is.
    policy rules;
    rules.key_headers = {"X-A"};
    rules.per_credential = {"Cookie"};
    FUZZ_CHECK((key_of(a, rules) == key_of(b, rules)) == (a.target == b.target && all_lines(a) == all_lines(b)));

    // Query rules: what is kept is kept byte for byte, and applying them twice changes nothing.
    rules.query = {.sort = (switches & 1U) != 0, .ignore = {}};
    if ((switches & 2U) != 0) rules.query.ignore = {"utm_*", "x"};
    std::string once;
    append_key_target(once, a.target, rules.query);
    std::string twice;
    append_key_target(twice, once, rules.query);
    FUZZ_CHECK(once == twice && once.size() <= a.target.size());
    if (rules.query.ignore.empty()) FUZZ_CHECK(once.size() == a.target.size());

    // A response is selected by the request that brought it, and selection does not depend on who came first.
    rules.normalize_accept_language = (switches & 4U) != 0;
    rules.normalize_accept = (switches & 8U) != 0;
    FUZZ_CHECK(selects(response, a, a, rules) && selects(response, b, b, rules));
    FUZZ_CHECK(selects(response, a, b, rules) == selects(response, b, a, rules));
    policy verbatim = rules;
    verbatim.normalize_accept_language = verbatim.normalize_accept = false;
    FUZZ_CHECK(!selects(response, a, b, verbatim) || selects(response, a, b, rules));
    return 0;
}
