#include "etagere/observe/log_writer.hpp"

#include "etagere/observe/log.hpp"

#include "log_support.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace etagere::observe {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20s;

void append(log_lane& lane, std::string_view text) {
    lane.append([text](std::string& out) { out += text; });
}

TEST(LogWriter, LinesReachAFileInOrder) {
    const temporary_directory directory;
    const std::string path = directory / "access.log";
    log_writer writer;
    const auto lane = writer.open_lane(*log_output::open(path));
    append(*lane, "one\n");
    append(*lane, "two\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(content_of(path), "one\ntwo\n");
    append(*lane, "three\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(content_of(path), "one\ntwo\nthree\n");
    EXPECT_EQ(writer.dropped(), 0U);
}

TEST(LogWriter, WritesWithoutBeingAsked) {
    pipe_pair pipe;
    log_writer writer({.flush_every = 5ms});
    const auto lane = writer.open_lane(std::make_shared<log_output>(pipe.writer()));
    append(*lane, "line\n");
    EXPECT_EQ(pipe.read_some(), "line\n");
}

TEST(LogWriter, HalfAFullLaneIsNotKeptWaiting) {
    pipe_pair pipe;
    log_writer writer({.lane_bytes = 64, .flush_every = 1h});
    const auto lane = writer.open_lane(std::make_shared<log_output>(pipe.writer()));
    append(*lane, "short\n");
    append(*lane, std::string(40, 'x') + "\n");
    EXPECT_EQ(pipe.read_some(), "short\n" + std::string(40, 'x') + "\n");
}

TEST(LogWriter, WhatIsWaitingIsWrittenAtTheEnd) {
    const temporary_directory directory;
    const std::string path = directory / "access.log";
    {
        log_writer writer({.flush_every = 1h});
        append(*writer.open_lane(*log_output::open(path)), "last words\n");
    }
    EXPECT_EQ(content_of(path), "last words\n");
}

TEST(LogWriter, AStuckOutputCostsLinesAndNobodyWaits) {
    pipe_pair pipe;
    pipe.fill();  // and nobody reads
    const std::string line = std::string(99, 'x') + "\n";
    {
        log_writer writer({.lane_bytes = 4096, .flush_every = 1ms, .stop_within = 1ms});
        const auto lane = writer.open_lane(std::make_shared<log_output>(pipe.writer()));
        int taken = 0;
        while (writer.dropped() == 0) {
            append(*lane, line);
            ++taken;
        }
        EXPECT_LE(taken, 1 + 2 * 41) << "no more than two buffers";
        EXPECT_FALSE(writer.flush(1ms));
    }
    pipe.close_writer();
    EXPECT_EQ(pipe.read_all().find('x'), std::string::npos);
}

TEST(LogWriter, AStuckOutputThatGoesOnGetsTheRest) {
    pipe_pair pipe;
    log_writer writer({.lane_bytes = 1024 * 1024, .flush_every = 1ms});
    const auto lane = writer.open_lane(std::make_shared<log_output>(pipe.writer()));
    const std::string text = std::string(999, 'x') + "\n";
    std::string wanted;
    for (int i = 0; i < 400; ++i) {  // more than a pipe holds
        append(*lane, text);
        wanted += text;
    }
    std::string got;
    while (got.size() < wanted.size()) got += pipe.read_some();
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(writer.dropped(), 0U);
}

TEST(LogWriter, AClosedPipeCountsWhatIsLost) {
    pipe_pair pipe;
    pipe.close_reader();
    log_writer writer;
    const auto lane = writer.open_lane(std::make_shared<log_output>(pipe.writer()));
    append(*lane, "one\ntwo\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(writer.dropped(), 2U);
}

TEST(LogWriter, AFullDiskCountsWhatIsLost) {
    const auto full = log_output::open("/dev/full");
    ASSERT_TRUE(full);
    log_writer writer;
    append(*writer.open_lane(*full), "one\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(writer.dropped(), 1U);
}

TEST(LogWriter, ReopensAfterARotation) {
    const temporary_directory directory;
    const std::string path = directory / "access.log";
    const std::string rotated = directory / "access.log.1";
    log_writer writer;
    const auto output = *log_output::open(path);
    const auto first = writer.open_lane(output);
    const auto second = writer.open_lane(output);
    append(*first, "before\n");
    ASSERT_TRUE(writer.flush(patience));
    std::filesystem::rename(path, rotated);
    append(*second, "still before\n");
    ASSERT_TRUE(writer.flush(patience));
    writer.reopen();
    append(*first, "after\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(content_of(rotated), "before\nstill before\n");
    EXPECT_EQ(content_of(path), "after\n");
}

TEST(LogWriter, AFileThatCannotBeOpenedAgainStaysInUse) {
    const temporary_directory directory;
    std::filesystem::create_directory(directory / "logs");
    log_writer writer;
    const auto lane = writer.open_lane(*log_output::open(directory / "logs/access.log"));
    log::attach(writer.open_lane(*log_output::open(directory / "app.log")));
    std::filesystem::rename(directory / "logs", directory / "elsewhere");
    writer.reopen();
    append(*lane, "kept\n");
    ASSERT_TRUE(writer.flush(patience));
    log::attach(nullptr);
    EXPECT_EQ(content_of(directory / "elsewhere/access.log"), "kept\n");
    EXPECT_NE(content_of(directory / "app.log").find(R"("event":"log_reopen_failed")"), std::string::npos);
}

TEST(LogWriter, RedirectSendsTheRestElsewhere) {
    const temporary_directory directory;
    log_writer writer;
    const auto lane = writer.open_lane(*log_output::open(directory / "old"));
    append(*lane, "old\n");
    ASSERT_TRUE(writer.flush(patience));
    lane->redirect(*log_output::open(directory / "new"));
    append(*lane, "new\n");
    ASSERT_TRUE(writer.flush(patience));
    EXPECT_EQ(content_of(directory / "old"), "old\n");
    EXPECT_EQ(content_of(directory / "new"), "new\n");
}

TEST(LogOutput, SaysWhyAPathCannotBeOpened) {
    const auto output = log_output::open("/nowhere/access.log");
    ASSERT_FALSE(output);
    EXPECT_EQ(output.error(), boost::system::errc::no_such_file_or_directory);
}

TEST(LogWriter, ManyThreadsLoseAndMixNothing) {
    const temporary_directory directory;
    const std::string path = directory / "access.log";
    constexpr int threads = 4;
    constexpr int lines = 2000;
    {
        log_writer writer({.lane_bytes = 4 * 1024 * 1024, .flush_every = 1ms});
        const auto output = *log_output::open(path);
        std::vector<std::thread> workers;
        for (int t = 0; t < threads; ++t) {
            workers.emplace_back([lane = writer.open_lane(output), t] {
                for (int i = 0; i < lines; ++i) append(*lane, std::to_string(t) + ":" + std::to_string(i) + "\n");
            });
        }
        for (int i = 0; i < 20; ++i) writer.reopen();
        for (auto& worker : workers) worker.join();
    }
    std::vector<int> next(threads, 0);
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto t = static_cast<std::size_t>(line.at(0) - '0');
        ASSERT_EQ(line, std::to_string(t) + ":" + std::to_string(next.at(t)++));
    }
    EXPECT_EQ(next, std::vector<int>(threads, lines));
}

}  // namespace
}  // namespace etagere::observe
