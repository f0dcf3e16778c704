// Sampling, reconfiguration and the lanes of the access log. What a line looks like: access_line_test.cpp.
#include "etagere/observe/access_log.hpp"

#include "log_support.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace etagere::observe {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20s;
constexpr access_options rack_cache{.format = access_format::rack_cache};

record request(std::string_view path, int status = 200) {
    record r;
    r.method = "GET";
    r.path = path;
    r.status = status;
    r.why = reason::hit_fresh;
    return r;
}

struct AccessLog : testing::Test {
    std::string lines() {
        EXPECT_TRUE(writer.flush(patience));
        return content_of(path);
    }
    std::ptrdiff_t count_lines() { return std::ranges::count(lines(), '\n'); }

    temporary_directory directory;
    std::string path = directory / "access.log";
    std::shared_ptr<log_output> output = *log_output::open(path);
    log_writer writer;
};

TEST_F(AccessLog, WritesOneLineForEachExchange) {
    access_log log(writer, 2, rack_cache, output);
    log.write(0, request("/a"));
    log.write(0, request("/b"));
    log.write(1, request("/c"));
    EXPECT_EQ(lines(), "cache: [GET /a] fresh\ncache: [GET /b] fresh\ncache: [GET /c] fresh\n");
}

TEST_F(AccessLog, OffWritesNothing) {
    access_log log(writer, 1, {.format = access_format::off}, output);
    log.write(0, request("/a", 500));
    EXPECT_EQ(lines(), "");
}

struct sample_case {
    double share;
    std::ptrdiff_t of_a_thousand;
};
class Sampling : public AccessLog, public testing::WithParamInterface<sample_case> {};

TEST_P(Sampling, TakesExactlyItsShare) {
    access_options o = rack_cache;
    o.sample = GetParam().share;
    access_log log(writer, 1, o, output);
    for (int i = 0; i < 1000; ++i) log.write(0, request("/a"));
    EXPECT_EQ(count_lines(), GetParam().of_a_thousand);
}
INSTANTIATE_TEST_SUITE_P(Shares, Sampling,
                         testing::Values(sample_case{1.0, 1000}, sample_case{0.5, 500}, sample_case{0.1, 100},
                                         sample_case{0.001, 1}, sample_case{0.0, 0}, sample_case{-1.0, 0},
                                         sample_case{7.0, 1000}));

TEST_F(AccessLog, FailuresAreNeverSampledOut) {
    access_options o = rack_cache;
    o.sample = 0;
    access_log log(writer, 1, o, output);
    record truncated = request("/truncated");
    truncated.error = "upstream_truncated";
    for (int i = 0; i < 10; ++i) {
        log.write(0, request("/fine"));
        log.write(0, request("/missing", 404));
    }
    log.write(0, request("/broken", 503));
    log.write(0, truncated);
    EXPECT_EQ(lines(), "cache: [GET /broken] fresh\ncache: [GET /truncated] fresh\n");
}

TEST_F(AccessLog, AReloadChangesFormatShareAndOutput) {
    access_log log(writer, 1, {.format = access_format::off, .sample = 0}, output);
    log.write(0, request("/a"));
    const std::string other = directory / "other.log";
    log.configure(rack_cache, *log_output::open(other));
    log.write(0, request("/b"));
    EXPECT_EQ(lines(), "");
    EXPECT_EQ(content_of(other), "cache: [GET /b] fresh\n");
}

// For ThreadSanitizer: workers write while another thread reloads, rotates and reads.
TEST_F(AccessLog, WorkersDoNotMindReloads) {
    constexpr unsigned workers = 3;
    constexpr std::ptrdiff_t each = 500;
    access_log log(writer, workers, rack_cache, output);
    std::atomic<unsigned> running = workers;
    std::vector<std::thread> threads;
    for (unsigned w = 0; w < workers; ++w) {
        threads.emplace_back([&, w] {
            for (std::ptrdiff_t i = 0; i < each; ++i) log.write(w, request("/a"));
            --running;
        });
    }
    while (running != 0) {
        log.configure({.format = access_format::json}, output);
        log.configure(rack_cache, output);
        writer.reopen();
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(count_lines(), workers * each);
    EXPECT_EQ(writer.dropped(), 0U);
}

}  // namespace
}  // namespace etagere::observe
