// One loop for every benchmark: warmed up, counted, and an error where it allocates and should not.
#pragma once

#include "support/allocations.hpp"

#include <benchmark/benchmark.h>
#include <string>

namespace etagere::bench {

enum class may_allocate : std::uint8_t { no, yes };

template <class F> void measure(benchmark::State& state, may_allocate rule, F&& once) {
    for (int i = 0; i < 3; ++i) once();
    const std::size_t before = test::allocations();
    for (auto _ : state) once();
    const std::size_t count = test::allocations() - before;
    state.counters["allocations"] = benchmark::Counter(static_cast<double>(count), benchmark::Counter::kAvgIterations);
    if (rule == may_allocate::no && count > 0) {
        state.SkipWithError(("allocated " + std::to_string(count) + " times, and must not").c_str());
    }
}

template <class F> void measure(benchmark::State& state, F&& once) {
    measure(state, may_allocate::no, std::forward<F>(once));
}

}  // namespace etagere::bench
