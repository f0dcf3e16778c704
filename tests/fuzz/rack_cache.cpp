// Any bytes as a Ruby file with Rack::Cache's options: no crash, bounded work, and what comes out is a configuration
// that étagère takes. Nothing of the input becomes structure of the YAML.
#include "etagere/app/config.hpp"
#include "etagere/app/import.hpp"

#include "check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace etagere::app;
    const imported i = import_rack_cache({reinterpret_cast<const char*>(data), size}, "production.rb");
    FUZZ_CHECK(i.found == !i.yaml.empty());
    for (const std::string& w : i.warnings) {
        FUZZ_CHECK(std::ranges::none_of(w, [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    }
    if (!i.found) return 0;
    const environment none = [](const std::string&) { return std::nullopt; };
    const file_reader no_files = [](const std::string&) -> std::expected<std::string, std::string> {
        return std::unexpected("no files here");
    };
    const config_result r = parse_config(i.yaml, "imported.yaml", none, no_files);
    FUZZ_CHECK(r.ok());
    FUZZ_CHECK(r.value.routes.size() == 1 && r.value.stores.size() == 1);
    return 0;
}
