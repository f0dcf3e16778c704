#include "etagere/observe/log.hpp"

#include "etagere/observe/log_writer.hpp"

#include "log_support.hpp"

#include <regex>
#include <string>
#include <thread>
#include <vector>

namespace etagere::log {
namespace {

using namespace std::chrono_literals;

struct Log : testing::Test {
    Log() { attach(writer.open_lane(*observe::log_output::open(path))); }
    ~Log() override {
        set_level(level::info);
        attach(nullptr);
    }
    /// With every time stamp replaced by T.
    std::string lines() {
        EXPECT_TRUE(writer.flush(20s));
        static const std::regex stamp(R"("ts":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")");
        return std::regex_replace(observe::content_of(path), stamp, "T");
    }

    observe::temporary_directory directory;
    std::string path = directory / "app.log";
    observe::log_writer writer;
};

TEST_F(Log, OneObjectALineInTheEnvelopeOfTheAccessLog) {
    info("app", "listening", "listening on 127.0.0.1:8080",
         {{"listener", "ingress"}, {"address", std::string("127.0.0.1:8080")}});
    error("app", "reload_failed", "the old configuration stays", {{"err", "file.yaml:3:5: unknown key \"timout\""}});
    EXPECT_EQ(lines(),
              R"({T,"level":"info","msg":"listening on 127.0.0.1:8080","component":"app","event":"listening",)"
              R"("listener":"ingress","address":"127.0.0.1:8080"})"
              "\n"
              R"({T,"level":"error","msg":"the old configuration stays","component":"app","event":"reload_failed",)"
              R"("err":"file.yaml:3:5: unknown key \"timout\""})"
              "\n");
}

TEST_F(Log, FieldsOfEveryKind) {
    info("c", "e", "m",
         {{"yes", true}, {"small", -3}, {"unsigned", 7U}, {"large", std::uint64_t{1} << 63}, {"share", 0.25}});
    EXPECT_EQ(lines(), R"({T,"level":"info","msg":"m","component":"c","event":"e","yes":true,"small":-3,"unsigned":7,)"
                       R"("large":9223372036854775808,"share":0.25})"
                       "\n");
}

TEST_F(Log, TextCannotForgeALine) {
    warn("c", "e", "a\n{\"level\":\"error\"}", {{"host\"", "\x1b[2J\r\n"}});
    EXPECT_EQ(lines(), R"({T,"level":"warn","msg":"a\u000a{\"level\":\"error\"}","component":"c","event":"e",)"
                       R"("host\"":"\u001b[2J\u000d\u000a"})"
                       "\n");
}

TEST_F(Log, TheLevelChangesWhileRunning) {
    EXPECT_FALSE(enabled(level::debug));
    debug("c", "e", "not this");
    set_level(level::debug);
    EXPECT_TRUE(enabled(level::debug));
    debug("c", "e", "this");
    set_level(level::error);
    warn("c", "e", "nor this");
    EXPECT_EQ(lines(), R"({T,"level":"debug","msg":"this","component":"c","event":"e"})"
                       "\n");
}

TEST_F(Log, ManyThreadsWriteWholeLines) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
            for (int i = 0; i < 200; ++i) info("c", "e", "m", {{"i", i}});
        });
    }
    for (auto& thread : threads) thread.join();
    const std::string text = lines();
    const std::regex line(R"(\{T,"level":"info","msg":"m","component":"c","event":"e","i":\d+\}\n)");
    const auto matched = std::distance(std::sregex_iterator(text.begin(), text.end(), line), std::sregex_iterator());
    EXPECT_EQ(matched, 800);
    EXPECT_EQ(std::regex_replace(text, line, ""), "");
}

TEST(LogUnattached, GoesStraightToStdout) {
    testing::internal::CaptureStdout();
    info("c", "e", "m");
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_NE(text.find(R"("level":"info","msg":"m","component":"c","event":"e"})"
                        "\n"),
              std::string::npos)
        << text;
}

}  // namespace
}  // namespace etagere::log
