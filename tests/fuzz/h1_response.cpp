// F2: bytes → canonical response → serialise for a 1.1 client → strict reparse must agree.
#include "etagere/http/field_policy.hpp"
#include "etagere/http/h1/parser.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "check.hpp"
#include "h1_wire.hpp"

using namespace etagere::http;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etagere::fuzz::input in(data, size);
    const method answers = (in.octet() & 1U) != 0 ? method::head : method::get;

    response_head head;
    h1::head_limits limits;
    const auto taken = h1::parse_response(in.rest, limits, answers, head);
    // Whatever was read before: here the first half, as a head of its own, and then the same once more.
    h1::response_parser parser;
    response_head known;
    (void)parser.parse(std::string(in.rest.substr(0, in.rest.size() / 2)) + "\r\n\r\n", limits, answers, known);
    for (int i = 0; i < 2; ++i) {
        const auto same = parser.parse(in.rest, limits, answers, known);
        FUZZ_CHECK(same == taken);
        if (!taken || *taken == 0) continue;
        FUZZ_CHECK(known.status == head.status && known.body == head.body && known.keep_alive == head.keep_alive);
        FUZZ_CHECK(known.header.size() == head.header.size());
        for (std::size_t f = 0; f < head.header.size(); ++f) {
            FUZZ_CHECK(known.header.line(f) == head.header.line(f) && known.header[f].id == head.header[f].id);
        }
    }
    if (!taken || *taken == 0) return 0;
    FUZZ_CHECK(*taken <= in.rest.size());
    FUZZ_CHECK(head.status >= 100 && head.status <= 599);
    FUZZ_CHECK(head.body.how != framing::kind::until_close || !head.keep_alive);
    FUZZ_CHECK(head.declared_length < 0 || (head.status >= 200 && head.status != 204));
    for (const fields::entry f : head.header) {
        FUZZ_CHECK(is_token(f.name) && is_field_value(f.value) && f.id == find_field_id(f.name) &&
                   !is_codec_owned(f.id));
    }
    response_head again;
    FUZZ_CHECK(h1::parse_response(in.rest.substr(0, *taken - 1), limits, answers, again).value_or(0) == 0);

    std::string wire;
    const framing how = h1::response_framing(head, version::http11, answers);
    h1::write_response_start(wire, head.status, head.reason, head.header);
    h1::write_head_end(wire, how, head.declared_length, version::http11, head.keep_alive);
    limits.header_bytes = 2 * wire.size();
    limits.fields = head.header.size() + 8;
    FUZZ_CHECK(h1::parse_response(wire, limits, answers, again) == wire.size());
    FUZZ_CHECK(again.status == head.status && again.reason == head.reason && again.body == how);
    FUZZ_CHECK(again.keep_alive == head.keep_alive);
    FUZZ_CHECK(again.header.size() == head.header.size());
    for (std::size_t i = 0; i < head.header.size(); ++i) {
        FUZZ_CHECK(again.header[i].name == head.header[i].name && again.header[i].value == head.header[i].value);
    }
    const auto second = etagere::fuzz::read_wire(wire);
    FUZZ_CHECK(second.start_line == "HTTP/1.1 " + std::to_string(head.status) + " " + head.reason);
    return 0;
}
