// Questions of explain: the query of GET /explain, the request and the answer that are asked about, and a key. The
// input is each of them.
#include "etagere/exchange/explain.hpp"

#include "etagere/cache/key.hpp"

#include "../../src/app/explain_pages.hpp"
#include "check.hpp"

#include <algorithm>

using namespace etagere;

namespace {

bool steers(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; });
}

const settings::settings& config() {
    static const settings::settings made = [] {
        settings::settings all;
        all.upstreams.push_back({});
        all.upstreams[0].name = "app";
        all.stores.push_back({});
        all.stores[0].name = "default";
        settings::route r;
        r.name = "all";
        r.upstream = "app";
        r.cache.key.headers = {"A"};
        r.cache.key.cookies = {"c"};
        all.routes.push_back(std::move(r));
        return all;
    }();
    return made;
}

void ask(exchange::inquiry about, std::string_view answer) {
    static const routing::tables routes = *routing::compile(config());
    const std::size_t fields = about.fields.size();
    auto a = exchange::open_account(std::move(about), wall_time{std::chrono::hours(500'000)});
    if (!a) return;
    // However it is written, one question is one request with the fields that were named, and Host.
    if (!a->refused) FUZZ_CHECK(a->request.header.size() <= fields && !a->request.body.has_body());
    exchange::explain_route(*a, config(), routes);
    if (auto head = exchange::read_answer(answer)) exchange::explain_answer(*a, std::move(*head));
    FUZZ_CHECK(!steers(exchange::as_text(*a, exchange::detail::all, false)));
    FUZZ_CHECK(!steers(exchange::as_text(*a, exchange::detail::route, false)));
    const std::string json = exchange::as_json(*a, exchange::detail::all);
    FUZZ_CHECK(!steers(json) && std::ranges::count(json, '\n') == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto q = app::read_explain_query(text)) {
        const auto again = app::read_explain_query(app::write_explain_query(*q));
        FUZZ_CHECK(again && again->about.url == q->about.url && again->about.method == q->about.method);
        FUZZ_CHECK(again->about.fields.size() == q->about.fields.size());
        ask(q->about, text);
    }
    ask({.url = "/" + std::string(text.substr(0, text.find('\n')))}, text);
    if (const auto parts = cache::read_key(text)) FUZZ_CHECK(parts->size() >= 5);
    return 0;
}
