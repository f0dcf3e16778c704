#include "etagere/store/shared_bytes.hpp"

#include <cerrno>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace etagere::store {
namespace {

std::string counting(std::size_t octets) {
    std::string text;
    text.reserve(octets + 8);
    for (std::size_t i = 0; text.size() < octets; ++i) text += std::to_string(i) + ",";
    text.resize(octets);
    return text;
}

std::string contents(int file) {
    std::string text(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
}

TEST(SharedBytes, AreTheBytesGivenWhereverTheyLie) {
    for (const std::size_t octets :
         {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{4096}, shared_bytes::file_from - 1,
          shared_bytes::file_from, shared_bytes::file_from + 1, std::size_t{1'000'000}}) {
        const std::string text = counting(octets);
        const shared_bytes bytes = share(text);
        ASSERT_TRUE(bytes) << octets;
        EXPECT_EQ(*bytes, text) << octets;
        EXPECT_EQ(bytes.size(), octets);
        EXPECT_EQ(bytes.file() >= 0, octets >= shared_bytes::file_from) << octets;
        EXPECT_GE(bytes.memory(), octets);
        EXPECT_LE(bytes.memory(), octets + 4096 + 32) << octets;
        if (bytes.file() >= 0) EXPECT_EQ(contents(bytes.file()), text) << octets;
    }
}

TEST(SharedBytes, OfNothingAreNothing) {
    const shared_bytes none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none, nullptr);
    EXPECT_NE(share(""), nullptr) << "an empty body is a body";
}

TEST(SharedBytes, AreSharedByCopiesAndGoWithTheLast) {
    shared_bytes first = share(counting(100'000));
    const int file = first.file();
    shared_bytes second = first;
    EXPECT_EQ(first, second);
    EXPECT_NE(first, share(*first)) << "equal bytes elsewhere are other bytes";
    first = nullptr;
    EXPECT_EQ(contents(file), *second);
    shared_bytes third = std::move(second);
    EXPECT_FALSE(second);
    EXPECT_EQ(third.size(), 100'000U);
    third = nullptr;
    errno = 0;
    EXPECT_EQ(::lseek(file, 0, SEEK_END), -1);
    EXPECT_EQ(errno, EBADF);
}

TEST(SharedBytes, LeaveThreeQuartersOfTheFilesToConnections) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = 40;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const std::string text = counting(70'000);
    std::vector<shared_bytes> all;
    std::size_t files = 0;
    for (int i = 0; i < 30; ++i) {
        all.push_back(share(text));
        files += all.back().file() >= 0 ? 1U : 0U;
        EXPECT_EQ(*all.back(), text) << i;
    }
    EXPECT_EQ(files, 10U);
    all.clear();
    EXPECT_GE(share(text).file(), 0) << "those that went made room";
    few.rlim_cur = 3;  // none left at all: the standard three are open
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const shared_bytes without = share(text);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(without.file(), -1);
    EXPECT_EQ(*without, text);
}

}  // namespace
}  // namespace etagere::store
