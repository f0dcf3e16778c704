#include "etagere/observe/log_writer.hpp"

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

namespace etagere::observe {
namespace {

result<int> open_file(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
    if (descriptor < 0) return std::unexpected(error_code(errno, boost::system::system_category()));
    return descriptor;
}

/// What one write to a pipe may carry without blocking once poll() said that there is room (PIPE_BUF), and without
/// cutting a line in two where that can be had: other processes may share the pipe.
std::string_view piece_for_pipe(std::string_view lines) noexcept {
    if (lines.size() <= PIPE_BUF) return lines;
    const auto newline = lines.rfind('\n', PIPE_BUF - 1);
    return lines.substr(0, newline == std::string_view::npos ? PIPE_BUF : newline + 1);
}

}  // namespace

result<std::shared_ptr<log_output>> log_output::open(const std::string& where) {
    if (where == "stdout") return std::make_shared<log_output>(STDOUT_FILENO);
    if (where == "stderr") return std::make_shared<log_output>(STDERR_FILENO);
    const auto descriptor = open_file(where);
    if (!descriptor) return std::unexpected(descriptor.error());
    auto output = std::make_shared<log_output>(*descriptor);
    output->owned_ = true;
    output->path_ = where;
    return output;
}

log_output::log_output(int borrowed_descriptor) noexcept {
    use(borrowed_descriptor);
}

log_output::~log_output() {
    if (owned_) ::close(descriptor_);
}

void log_output::use(int descriptor) noexcept {
    descriptor_ = descriptor;
    struct stat facts{};
    file_ = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
}

result<void> log_output::reopen() {
    if (!owned_) return {};
    const auto descriptor = open_file(path_);
    if (!descriptor) return std::unexpected(descriptor.error());
    ::close(descriptor_);
    use(*descriptor);
    return {};
}

log_output::step log_output::write_some(std::string_view lines) {
    if (!file_) {
        pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
        if (::poll(&ready, 1, 100) <= 0) return {};
        lines = piece_for_pipe(lines);
    }
    const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
    if (written >= 0) return {.bytes = static_cast<std::size_t>(written)};
    return {.failed = errno != EINTR && errno != EAGAIN};
}

}  // namespace etagere::observe
