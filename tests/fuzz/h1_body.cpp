// F3: a body decoded in pieces is the body decoded at once: content, end, trailers and error.
#include "etagere/http/field_policy.hpp"
#include "etagere/http/h1/body.hpp"
#include "etagere/http/h1/serializer.hpp"

#include "check.hpp"

#include <random>

namespace {

using namespace etagere::http;

struct outcome {
    std::string content;
    std::size_t taken = 0;
    bool done = false;
    bool failed = false;
    std::string trailers;
    friend bool operator==(const outcome&, const outcome&) = default;
};

// `piece()` says how much of the input comes next.
template <class Piece> outcome decode(framing how, std::string_view text, Piece piece) {
    outcome out;
    h1::body_decoder decoder;
    decoder.start(how, {.chunk_line_bytes = 64, .trailer_bytes = 128, .trailer_fields = 4});
    while (out.taken < text.size() && !decoder.done()) {
        std::string_view part = text.substr(out.taken, piece());
        while (!part.empty() && !decoder.done()) {
            const auto step = decoder.decode(part);
            if (!step) {
                // How much of a refused line was taken before depends on the cuts, and matters to nobody.
                out.failed = true;
                out.taken = 0;
                return out;
            }
            FUZZ_CHECK(step->consumed > 0 && step->consumed <= part.size() && step->content.size() <= step->consumed);
            out.content += step->content;
            out.taken += step->consumed;
            part.remove_prefix(step->consumed);
        }
    }
    out.done = decoder.done();
    for (const fields::entry f : decoder.trailers()) {
        FUZZ_CHECK(!is_forbidden_trailer(f.id, f.name));
        out.trailers.append(f.name).append(":").append(f.value).append("\n");
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etagere::fuzz::input in(data, size);
    const std::uint8_t options = in.octet();
    std::minstd_rand random(options);
    framing how = framing::chunked();
    if ((options & 7U) == 1) how = framing::of_length(in.octet());
    if ((options & 7U) == 2) how = framing::until_close();

    const outcome whole = decode(how, in.rest, [&] { return in.rest.size(); });
    FUZZ_CHECK(whole == decode(how, in.rest, [] { return std::size_t{1}; }));
    FUZZ_CHECK(whole == decode(how, in.rest, [&] { return std::size_t{1} + random() % 9; }));
    FUZZ_CHECK(whole == decode(how, in.rest, [&] { return std::size_t{1} + random() % 300; }));

    // And what we write is read back.
    std::string wire;
    for (std::string_view rest = in.rest; !rest.empty();) {
        const std::string_view chunk = rest.substr(0, 1 + random() % 50);
        h1::write_chunk_start(wire, chunk.size());
        wire.append(chunk).append("\r\n");
        rest.remove_prefix(chunk.size());
    }
    h1::write_last_chunk(wire, {});
    const outcome read = decode(framing::chunked(), wire, [&] { return std::size_t{1} + random() % 70; });
    FUZZ_CHECK(read.done && read.content == in.rest && read.taken == wire.size());
    return 0;
}
