// bench_core [--benchmark_filter=hit/]: exit code 1 where a benchmark failed, allocated where it must not among them.
#include <benchmark/benchmark.h>

namespace {

class strict_reporter final : public benchmark::ConsoleReporter {
public:
    strict_reporter() : ConsoleReporter(OO_None) {}

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& r : runs) failed_ = failed_ || r.error_occurred;
        ConsoleReporter::ReportRuns(runs);
    }
    bool failed() const noexcept { return failed_; }

private:
    bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    strict_reporter reporter;
    const std::size_t ran = benchmark::RunSpecifiedBenchmarks(&reporter);
    return reporter.failed() || ran == 0 ? 1 : 0;
}
