// Entity tags and their comparison (RFC 9110 §8.8.3, §13.1).
#pragma once

#include "etagere/http/fields.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etagere::http {

/// Views into the field value. `opaque` is without quotes.
struct entity_tag {
    bool weak = false;
    std::string_view opaque;
    std::string to_string() const;  // byte for byte as it goes on the wire
};
/// Strict grammar of RFC 9110 §8.8.3; surrounding white space is ignored.
std::optional<entity_tag> parse_entity_tag(std::string_view value) noexcept;
bool strong_equal(const entity_tag& a, const entity_tag& b) noexcept;  // §8.8.3.2
bool weak_equal(const entity_tag& a, const entity_tag& b) noexcept;

/// How If-None-Match members are read. `lenient` also takes what tag-juggling consumers send after cutting the quotes
/// off with [1..-2]: abc for "abc" and /"abc for W/"abc". The opaque part still has to be equal.
enum class tag_reading : std::uint8_t { strict, lenient };

/// What compressing hops append to the opaque part and forget to take off again: "v1" comes back as "v1-gzip" (Apache),
/// "v1--gzip" (Jetty), "v1;gzip", likewise with br, zstd and deflate. `removed` takes such a tag for the one without;
/// the rest has to be equal, octet for octet.
enum class suffix_reading : std::uint8_t { kept, removed };
/// The coding that such a suffix of the opaque part names: "gzip" for v1-gzip; "" where it ends in none or nothing
/// would be left.
std::string_view suffix_coding(std::string_view opaque) noexcept;
/// The opaque part without that suffix, the longest one; unchanged without.
std::string_view without_suffix(std::string_view opaque) noexcept;

/// Cuts one member off the front of an If-None-Match or If-Match value; nullopt at the end. Commas within a well-formed
/// tag belong to it. What comes out need not be a tag.
std::optional<std::string_view> next_tag(std::string_view& rest) noexcept;

enum class tag_match : std::uint8_t { absent, any, matches, differs };
/// If-None-Match against the current tag, weak comparison, all lines as one list (RFC 9110 §13.1.2). `any` for "*".
tag_match match_if_none_match(const fields& request, const std::optional<entity_tag>& current, tag_reading reading,
                              suffix_reading suffixes = suffix_reading::kept) noexcept;
/// If-Match, strong comparison (RFC 9110 §13.1.1).
tag_match match_if_match(const fields& request, const std::optional<entity_tag>& current) noexcept;

}  // namespace etagere::http
