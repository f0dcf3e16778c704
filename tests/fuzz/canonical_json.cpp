// Canonical JSON: any bytes, and JSON pointers. The input: a pointer, NUL, the text.
#include "etagere/cache/canonical_json.hpp"

#include "check.hpp"

#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

using etagere::cache::canonical_json;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etagere::fuzz::input in(data, size);
    const std::vector<std::string> ignored{std::string(in.text())};
    const std::string text(in.rest);
    const auto all = canonical_json(text, {});
    const auto part = canonical_json(text, ignored);
    // What is ignored never decides whether a text is JSON, and only takes away.
    FUZZ_CHECK(all.has_value() == part.has_value());
    if (!all) return 0;
    FUZZ_CHECK(part->size() <= all->size());
    FUZZ_CHECK(canonical_json(" " + text + "\n", {}) == all);
    FUZZ_CHECK(canonical_json("[" + text + "]", {}) != all);

    // Another reading of the same text agrees that it is JSON. (Its depth is bounded lower.)
    boost::json::error_code failed;
    boost::json::parse_options options;
    options.max_depth = 64;
    const boost::json::value value = boost::json::parse(text, failed, {}, options);
    FUZZ_CHECK(!failed);
    // Written again, without numbers, which may lose digits there, it means the same.
    if (text.find_first_of("0123456789") == std::string::npos) {
        FUZZ_CHECK(canonical_json(boost::json::serialize(value), {}) == all);
    }
    return 0;
}
