// A pipe whose reading end the test holds, and a directory that goes away with the test.
#pragma once

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace etagere::observe {

class pipe_pair {
public:
    pipe_pair() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
    ~pipe_pair() {
        close_reader();
        close_writer();
    }
    pipe_pair(const pipe_pair&) = delete;
    pipe_pair& operator=(const pipe_pair&) = delete;

    int writer() const { return ends_[1]; }
    void close_reader() { close(ends_[0]); }
    void close_writer() { close(ends_[1]); }
    /// Until not one more byte fits in.
    void fill() {
        const std::string bytes(4096, '.');
        ::fcntl(ends_[1], F_SETFL, O_NONBLOCK);
        while (::write(ends_[1], bytes.data(), bytes.size()) > 0) {}
        ::fcntl(ends_[1], F_SETFL, 0);
    }
    /// Waits until something is there; "" at the end.
    std::string read_some() {
        std::array<char, 65536> buffer;
        const auto n = ::read(ends_[0], buffer.data(), buffer.size());
        return {buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
    }
    std::string read_all() {
        std::string all;
        for (std::string piece = read_some(); !piece.empty(); piece = read_some()) all += piece;
        return all;
    }

private:
    static void close(int& descriptor) {
        if (descriptor >= 0) ::close(descriptor);
        descriptor = -1;
    }
    std::array<int, 2> ends_{-1, -1};
};

class temporary_directory {
public:
    temporary_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "etagere-XXXXXX").string();
        EXPECT_NE(::mkdtemp(name.data()), nullptr);
        path_ = name;
    }
    ~temporary_directory() { std::filesystem::remove_all(path_); }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    std::string operator/(const char* name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace etagere::observe
