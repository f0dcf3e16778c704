// The other direction, by the libraries' own decoders.
#pragma once

#include "etagere/http/coding.hpp"

#include <brotli/decode.h>
#define ZLIB_CONST
#include <optional>
#include <string>
#include <string_view>
#include <zlib.h>
#include <zstd.h>

namespace etagere::coding {

/// What is decodable of `coded`, and whether that is all: a body that has to be complete and without anything behind
/// it.
struct decoded {
    std::string text;
    bool whole = false;
};

inline decoded decode_gzip(std::string_view coded) {
    z_stream s{};
    if (inflateInit2(&s, 15 + 16) != Z_OK) return {};
    s.next_in = reinterpret_cast<const Bytef*>(coded.data());
    s.avail_in = static_cast<uInt>(coded.size());
    decoded out;
    int status = Z_OK;
    while (status == Z_OK) {
        char buffer[65536];
        s.next_out = reinterpret_cast<Bytef*>(buffer);
        s.avail_out = sizeof buffer;
        status = inflate(&s, Z_SYNC_FLUSH);
        out.text.append(buffer, sizeof buffer - s.avail_out);
    }
    out.whole = status == Z_STREAM_END && s.avail_in == 0;
    inflateEnd(&s);
    return out;
}

inline decoded decode_brotli(std::string_view coded) {
    BrotliDecoderState* const s = BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
    const auto* in = reinterpret_cast<const std::uint8_t*>(coded.data());
    std::size_t left = coded.size();
    decoded out;
    BrotliDecoderResult status = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    while (status == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
        std::uint8_t buffer[65536];
        std::uint8_t* next = buffer;
        std::size_t room = sizeof buffer;
        status = BrotliDecoderDecompressStream(s, &left, &in, &room, &next, nullptr);
        out.text.append(reinterpret_cast<const char*>(buffer), sizeof buffer - room);
    }
    out.whole = status == BROTLI_DECODER_RESULT_SUCCESS && left == 0;
    BrotliDecoderDestroyInstance(s);
    return out;
}

inline decoded decode_zstd(std::string_view coded) {
    ZSTD_DCtx* const c = ZSTD_createDCtx();
    ZSTD_inBuffer in{coded.data(), coded.size(), 0};
    decoded out;
    std::size_t status = 1;
    for (;;) {
        char buffer[65536];
        ZSTD_outBuffer into{buffer, sizeof buffer, 0};
        status = ZSTD_decompressStream(c, &into, &in);
        if (ZSTD_isError(status) != 0) break;
        out.text.append(buffer, into.pos);
        if (status == 0 || (in.pos == in.size && into.pos < into.size)) break;
    }
    out.whole = status == 0 && in.pos == in.size;
    ZSTD_freeDCtx(c);
    return out;
}

inline decoded decode(http::coding how, std::string_view coded) {
    switch (how) {
        case http::coding::gzip: return decode_gzip(coded);
        case http::coding::br: return decode_brotli(coded);
        case http::coding::zstd: return decode_zstd(coded);
        case http::coding::identity: break;
    }
    return {std::string(coded), true};
}

}  // namespace etagere::coding
