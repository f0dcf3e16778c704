// Finding in memory, and records for a remote store.
#include "etagere/store/memory.hpp"
#include "etagere/store/record.hpp"

#include "measure.hpp"

#include <random>

namespace etagere::bench {
namespace {

using namespace std::chrono_literals;

constexpr moment now{wall_time(1'800'000'000s), steady_time(1h)};

cache::stored_response response() {
    cache::stored_response r;
    r.request_time = r.response_time = now.wall;
    for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"Content-Type", "application/json; charset=utf-8"},
             {"ETag", "W/\"0123456789abcdef0123456789\""},
             {"Cache-Control", "max-age=600, public"},
             {"Date", "Mon, 30 Nov 2026 12:00:00 GMT"}}) {
        (void)r.header.add(name, value);
    }
    r.index();
    return r;
}

std::string key_of(std::uint64_t i) {
    return std::string("3:all4:http9:shop.test2:80/api/products/") + std::to_string(i);
}

/// Of so many keys, in an order that no cache of the processor can know.
void find(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    const auto store = store::make_memory_store({.size = std::uint64_t{1} << 31U, .max_object = 1U << 20U});
    const auto body = store::share(std::string(100, 'x'));
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < count; ++i) {
        keys.push_back(key_of(i));
        store->put(keys.back(), store::make_object(response(), body, now.wall + 1h), 1, now);
    }
    std::ranges::shuffle(keys, std::mt19937_64(1));  // the same order every time
    std::size_t at = 0;
    measure(state, [&] {
        const store::found found = store->peek(keys[at], now);
        if (!found.set) std::abort();
        at = at + 1 == keys.size() ? 0 : at + 1;
    });
}
BENCHMARK(find)->Arg(1)->Arg(1'000)->Arg(100'000);

void put(benchmark::State& state) {
    const auto store = store::make_memory_store({.size = std::uint64_t{16} << 20U, .max_object = 1U << 20U});
    const auto body = store::share(std::string(1024, 'x'));
    std::uint64_t i = 0;
    measure(state, may_allocate::yes,
            [&] { store->put(key_of(++i), store::make_object(response(), body, now.wall + 1h), 1, now); });
}
BENCHMARK(put);

std::vector<store::record::variant> one_variant() {
    std::vector<store::record::variant> out(1);
    out[0].response = response();
    out[0].entity = std::string(64, 'a');
    out[0].keep_until = now.wall + 1h;
    return out;
}

void encode_meta(benchmark::State& state) {
    const auto variants = one_variant();
    measure(state, may_allocate::yes,
            [&] { benchmark::DoNotOptimize(store::record::encode_meta(key_of(1), variants, {})); });
}
BENCHMARK(encode_meta);

void decode_meta(benchmark::State& state) {
    const std::string bytes = store::record::encode_meta(key_of(1), one_variant(), {});
    measure(state, may_allocate::yes, [&] {
        if (!store::record::decode_meta(bytes, key_of(1), {})) std::abort();
    });
}
BENCHMARK(decode_meta);

void decode_piece(benchmark::State& state) {
    const std::string body(10 * 1024, 'x');
    const auto layout = store::record::lay_out({}, body.size(), 1U << 20U);
    const std::string bytes = store::record::encode_piece(layout, 0, body, {});
    measure(state, [&] {
        if (!store::record::decode_piece(bytes, layout, 0, {})) std::abort();
    });
}
BENCHMARK(decode_piece);

}  // namespace
}  // namespace etagere::bench
