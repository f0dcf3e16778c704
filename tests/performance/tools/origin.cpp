// The origin behind every server that is measured, and itself the limit that they are measured against: one thread,
// epoll, one read and one write a request, answers made in advance, no more of HTTP than the workloads need.
//
//   bench_origin [--sendfile]     port on stdout; ends on SIGTERM
//
// Besides the documents (documents.hpp): /s/SIZE streams SIZE bytes that are nowhere kept, /_count tells as JSON how
// many requests came, and how many of them were answered with 304. --sendfile: bodies of 10 KB and more go out of a
// file in memory.
#include "documents.hpp"
#include "sockets.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <sys/mman.h>
#include <sys/sendfile.h>

namespace {

using namespace bench;

struct connection {
    explicit connection(int fd) : descriptor(fd) {}
    ~connection() { close(descriptor); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    int descriptor;
    std::array<char, 8192> in{};
    std::size_t held = 0;       // bytes of `in` not yet answered
    std::string_view unsent;    // of an answer made in advance, or of `own`
    std::size_t streaming = 0;  // bytes of a stream behind it
    int file = -1;              // or a body out of a file
    off_t file_at = 0;
    std::size_t file_left = 0;
    std::string own;
    bool last = false;  // close after this answer
    bool waits_for_room = false;
};

enum class progress : std::uint8_t { done, blocked, gone };

class origin {
public:
    explicit origin(bool use_sendfile) : sendfile_(use_sendfile) {}

    [[noreturn]] void run() {
        const int listener = listen_and_tell(0);
        poller_.add(listener, EPOLLIN, nullptr);
        for (;;) {
            for (const epoll_event& e : poller_.wait(-1)) {
                if (!e.data.ptr) {
                    take_connections(listener);
                    continue;
                }
                auto* c = static_cast<connection*>(e.data.ptr);
                if (!(c->waits_for_room ? resume(*c) : receive(*c))) delete c;  // made in take_connections
            }
        }
    }

private:
    void take_connections(int listener) {
        for (int fd; (fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
            send_at_once(fd);
            auto c = std::make_unique<connection>(fd);
            poller_.add(fd, EPOLLIN, c.get());
            (void)c.release();  // from here the poller's events are the only ones that know it: run() deletes it
        }
    }

    // These say whether the connection goes on.
    bool receive(connection& c) {
        const ssize_t n = recv(c.descriptor, c.in.data() + c.held, c.in.size() - c.held, 0);
        if (n < 0 && errno == EAGAIN) return true;
        if (n <= 0) return false;
        c.held += static_cast<std::size_t>(n);
        return serve(c);
    }
    bool resume(connection& c) {
        switch (flush(c)) {
            case progress::blocked: return true;
            case progress::gone: return false;
            case progress::done: break;
        }
        c.waits_for_room = false;
        poller_.change(c.descriptor, EPOLLIN, &c);
        return !c.last && serve(c);
    }
    bool serve(connection& c) {
        for (;;) {
            const std::string_view held(c.in.data(), c.held);
            const std::size_t end = held.find("\r\n\r\n");
            if (end == held.npos) return c.held < c.in.size();
            answer(c, held.substr(0, end + 4));
            c.held -= end + 4;
            if (c.held > 0) std::memmove(c.in.data(), c.in.data() + end + 4, c.held);
            switch (flush(c)) {
                case progress::blocked:
                    c.waits_for_room = true;
                    poller_.change(c.descriptor, EPOLLOUT, &c);
                    return true;
                case progress::gone: return false;
                case progress::done: break;
            }
            if (c.last) return false;
            if (c.held == 0) return true;
        }
    }

    void answer(connection& c, std::string_view head) {
        const std::size_t begin = std::min(head.find(' '), head.size() - 1) + 1;
        const std::string_view target = head.substr(begin, head.find(' ', begin) - begin);
        c.last = head.find("onnection: close") != head.npos;  // both spellings of the first letter
        if (target == "/_count") return count(c);
        ++requests_;
        if (target.starts_with("/s/")) return stream(c, target.substr(3));
        const document* d = documents_.find(target);
        if (!d) return own_answer(c, "404 Not Found", "");
        if (!d->not_modified.empty() && head.find(entity_tag) != head.npos) {
            ++not_modified_;
            c.unsent = d->not_modified;
            return;
        }
        c.unsent = d->whole;
        if (sendfile_ && d->whole.size() - d->head_bytes >= 10240) from_file(c, *d);
    }
    static void own_answer(connection& c, std::string_view status, std::string_view body) {
        c.own = "HTTP/1.1 " + std::string(status) +
                "\r\nCache-Control: no-store\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                std::string(body);
        c.unsent = c.own;
    }
    void count(connection& c) const {
        own_answer(c, "200 OK",
                   "{\"requests\": " + std::to_string(requests_) +
                       ", \"not_modified\": " + std::to_string(not_modified_) + "}");
    }
    static void stream(connection& c, std::string_view size) {
        std::from_chars(size.data(), size.data() + size.size(), c.streaming);
        c.own =
            "HTTP/1.1 200 OK\r\nCache-Control: private, no-store\r\nContent-Length: " + std::to_string(c.streaming) +
            "\r\n\r\n";
        c.unsent = c.own;
    }
    void from_file(connection& c, const document& d) {
        int& fd = files_.try_emplace(&d, -1).first->second;
        const std::string_view body = std::string_view(d.whole).substr(d.head_bytes);
        if (fd < 0) {
            fd = checked(memfd_create("body", MFD_CLOEXEC), "memfd_create");
            if (write(fd, body.data(), body.size()) != static_cast<ssize_t>(body.size())) fail("memfd");
        }
        c.unsent = std::string_view(d.whole).substr(0, d.head_bytes);
        c.file = fd;
        c.file_at = 0;
        c.file_left = body.size();
    }

    progress flush(connection& c) {
        for (;;) {
            if (c.unsent.empty()) {
                if (c.streaming == 0) break;
                c.unsent = std::string_view(block_).substr(0, std::min(c.streaming, block_.size()));
                c.streaming -= c.unsent.size();
            }
            const int more = c.file_left > 0 ? MSG_MORE : 0;
            const ssize_t n = send(c.descriptor, c.unsent.data(), c.unsent.size(), MSG_NOSIGNAL | more);
            if (n < 0) return errno == EAGAIN ? progress::blocked : progress::gone;
            c.unsent.remove_prefix(static_cast<std::size_t>(n));
        }
        while (c.file_left > 0) {
            const ssize_t n = sendfile(c.descriptor, c.file, &c.file_at, c.file_left);
            if (n < 0) return errno == EAGAIN ? progress::blocked : progress::gone;
            c.file_left -= static_cast<std::size_t>(n);
        }
        return progress::done;
    }

    const bool sendfile_;
    poller poller_;
    documents documents_;
    std::unordered_map<const document*, int> files_;
    const std::string block_ = letters(256 * 1024);
    std::uint64_t requests_ = 0;
    std::uint64_t not_modified_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    const bool use_sendfile = arguments.size() == 2 && std::string_view(arguments[1]) == "--sendfile";
    if (arguments.size() > 1 && !use_sendfile) {
        std::fputs("usage: bench_origin [--sendfile]\n", stderr);
        return 2;
    }
    origin(use_sendfile).run();
}
