// The words of Rack::Cache 1.2 to 1.13, in the order in which it records them. src/docs/rack-cache.md has them side by
// side.
#include "etagere/observe/record.hpp"

namespace etagere::observe {
namespace {

/// Whether the store was asked and then the origin answered. Only then do the words depend on the answer.
bool origin_answered(const record& r, const reason_info& why) noexcept {
    return r.found != looked_up::no && r.upstream_status != 0 &&
           (why.cache_class == "miss" || why.cache_class == "revalidated" || why.cache_class == "pass");
}

}  // namespace

void append_rack_cache_words(std::string& out, const record& r) {
    const reason_info& why = info(r.why);
    if (!origin_answered(r, why)) {
        out += why.rack_cache.empty() ? why.name : why.rack_cache;
        // As it is spelt there; its sentence with the Ruby exception, which follows there, has no like here.
        if (r.why == reason::hit_stale_error && r.upstream_status == 0) out += ", connnection_failed";
        return;
    }
    const bool valid = r.upstream_status == 304;
    switch (r.found) {
        case looked_up::stored: out += valid ? "stale, valid" : "stale, invalid"; break;
        // It asks in full; we ask whether the stored response is still good, for which it has no word after "reload".
        case looked_up::reload: out += r.freshened ? "reload, valid" : "reload"; break;
        case looked_up::nothing:
        case looked_up::no: out += "miss"; break;
    }
    if (r.ignored) out += ", ignore";
    if (r.stored || r.freshened) out += ", store";
}

}  // namespace etagere::observe
