// F1: bytes → canonical request → serialise → strict reparse must agree, and a second reader must see the same.
#include "etagere/http/field_policy.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "check.hpp"
#include "h1_wire.hpp"

namespace {

using namespace etagere::http;

void check_canonical(const request_head& head, bool keep_underscores) {
    FUZZ_CHECK(is_token(head.method_name) && head.verb == find_method(head.method_name));
    FUZZ_CHECK(head.verb != method::connect);
    FUZZ_CHECK(head.target.starts_with('/') || (head.target == "*" && head.verb == method::options));
    FUZZ_CHECK(head.target.find_first_of(std::string_view(" \t\r\n#\0", 6)) == std::string::npos);
    FUZZ_CHECK(!head.host.empty() || head.protocol == version::http10);
    FUZZ_CHECK(head.body.how != framing::kind::until_close);
    FUZZ_CHECK(head.upgrade.empty() || !head.body.has_body());
    for (const fields::entry f : head.header) {
        FUZZ_CHECK(is_token(f.name) && is_field_value(f.value) && f.id == find_field_id(f.name));
        FUZZ_CHECK(!is_codec_owned(f.id) && !is_withheld(f.id, f.name) && !is_underscore_twin(f.name));
        FUZZ_CHECK(keep_underscores || f.name.find('_') == std::string_view::npos);
    }
}

void check_same(const request_head& a, const request_head& b) {
    FUZZ_CHECK(a.verb == b.verb && a.method_name == b.method_name && a.target == b.target);
    FUZZ_CHECK(a.host == b.host && a.port == b.port && a.upgrade == b.upgrade);
    FUZZ_CHECK(a.body.has_body() == b.body.has_body());
    FUZZ_CHECK(!a.body.has_body() || a.body == b.body);
    FUZZ_CHECK(a.header.size() == b.header.size());
    for (std::size_t i = 0; i < a.header.size(); ++i) {
        FUZZ_CHECK(a.header[i].name == b.header[i].name && a.header[i].value == b.header[i].value);
    }
}

/// A parser that remembers says what one says that never saw anything before.
void check_repeated(std::string_view first, std::string_view behind, const h1::head_limits& limits,
                    std::string_view scheme) {
    h1::request_parser parser;
    FUZZ_CHECK(parser.parse(first, limits, scheme) == first.size());
    const std::size_t line_at = first.starts_with("\r\n") ? 2 : 0;
    const std::string_view fields = first.substr(first.find('\n', line_at) + 1);
    // Two other request lines: what follows in the input, and one that is good for sure.
    const std::string_view line = behind.substr(0, behind.find('\n'));
    const std::string_view version = first.find(" HTTP/1.0\r\n") < first.find('\n', line_at) ? "1.0" : "1.1";
    for (const std::string& next : {std::string(line) + "\n" + std::string(fields) + "more",
                                    "HEAD /again?x HTTP/" + std::string(version) + "\r\n" + std::string(fields)}) {
        request_head fresh;
        const auto wanted = h1::parse_request(next, limits, scheme, fresh);
        const auto taken = parser.parse(next, limits, scheme);
        FUZZ_CHECK(taken.has_value() == wanted.has_value());
        FUZZ_CHECK(taken ? *taken == *wanted : taken.error() == wanted.error());
        if (!taken || *taken == 0) continue;
        check_same(parser.head(), fresh);
        FUZZ_CHECK(parser.head().protocol == fresh.protocol && parser.head().keep_alive == fresh.keep_alive);
        FUZZ_CHECK(parser.head().expects_continue == fresh.expects_continue);
        FUZZ_CHECK(parser.head().body == fresh.body && parser.head().scheme == fresh.scheme);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etagere::fuzz::input in(data, size);
    const std::uint8_t options = in.octet();
    h1::head_limits limits;
    limits.keep_underscores = (options & 1U) != 0;
    const std::string_view scheme = (options & 2U) != 0 ? "https" : "http";

    request_head head;
    const auto taken = h1::parse_request(in.rest, limits, scheme, head);
    if (!taken || *taken == 0) return 0;
    FUZZ_CHECK(*taken <= in.rest.size());
    check_canonical(head, limits.keep_underscores);

    check_repeated(in.rest.substr(0, *taken), in.rest.substr(*taken), limits, scheme);

    // What follows does not matter, and nothing less is enough.
    request_head again;
    FUZZ_CHECK(h1::parse_request(in.rest.substr(0, *taken), limits, scheme, again) == *taken);
    check_same(head, again);
    for (const std::size_t less : {*taken - 1, *taken - 2, *taken / 2}) {
        FUZZ_CHECK(h1::parse_request(in.rest.substr(0, less), limits, scheme, again).value_or(0) == 0);
    }

    if (head.host.empty()) return 0;  // HTTP/1.0 without Host: the exchange gives it one before it goes on
    std::string wire;
    h1::write_request_head(wire, head);
    limits.header_bytes = 2 * wire.size();
    limits.fields = head.header.size() + 8;
    limits.target_bytes = wire.size();
    FUZZ_CHECK(h1::parse_request(wire, limits, scheme, again) == wire.size());
    check_same(head, again);

    const auto second = etagere::fuzz::read_wire(wire);
    FUZZ_CHECK(second.start_line == head.method_name + " " + head.target + " HTTP/1.1");
    FUZZ_CHECK(second.count("host") == 1 && second.get("host") == head.authority());
    FUZZ_CHECK(second.count("transfer-encoding") == (head.body.how == framing::kind::chunked ? 1U : 0U));
    if (head.body.how == framing::kind::length) {
        FUZZ_CHECK(second.get("content-length") == std::to_string(head.body.length));
    }
    return 0;
}
