// HTTP/1 heads out: the only code that writes wire bytes of a head (RFC 9112 §3, §4, §6).
#pragma once

#include "etagere/http/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace etagere::http::h1 {

/// Appends request line, Host, the header, framing fields and the empty line. HTTP/1.1 always. With `head.upgrade`,
/// "Connection: Upgrade" and the Upgrade field; otherwise no Connection field (keep-alive is 1.1's default).
void write_request_head(std::string& out, const request_head& head);

/// How a response is framed towards a client of that version: chunked for 1.1 where the length is unknown, until_close
/// for 1.0; none for 1xx, 204, 304 and answers to HEAD (RFC 9112 §6.1: never Transfer-Encoding there).
framing response_framing(const response_head& head, version client, method answers) noexcept;

/// Appends status line and header without framing, Connection and the empty line: the part of a response that does not
/// change between clients, prebuilt for stored responses. Always "HTTP/1.1" (RFC 9112 §2.3).
void write_response_start(std::string& out, int status, std::string_view reason, const fields& header);
/// Appends the rest: the framing fields, where `declared_length` >= 0 writes Content-Length although no body follows
/// (HEAD, 304); "Connection: close" or, for a 1.0 client that asked for it, "Connection: keep-alive", and nothing where
/// the default holds; the empty line.
void write_head_end(std::string& out, framing how, std::int64_t declared_length, version client, bool keep_alive);

/// Appends "<hex>CRLF", the start of a chunk; the content and CRLF follow it.
void write_chunk_start(std::string& out, std::uint64_t size);
/// Appends the last chunk, the trailers and the empty line.
void write_last_chunk(std::string& out, const fields& trailers);

}  // namespace etagere::http::h1
