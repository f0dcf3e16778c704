// Whole hits: from the bytes of the request to the record, through the proxy that the program has.
#include "etagere/http/h1/parser.hpp"
#include "etagere/net/h1_connection.hpp"

#include "measure.hpp"
#include "requests.hpp"
#include "stage.hpp"

#include <array>
#include <sys/socket.h>
#include <unistd.h>

namespace etagere::bench {
namespace {

constexpr std::string_view json_fields =
    "Content-Type: application/json; charset=utf-8\r\nETag: \"0123456789abcdef0123456789\"\r\n"
    "Cache-Control: max-age=600, public\r\n";

/// One request as its connection would hand it on; only the socket is missing.
class on_no_socket final : public net::transaction {
public:
    explicit on_no_socket(stage& s) : stage_(s) {}

    /// The status; 0 where the proxy did not answer at once.
    int ask(std::string_view text) {
        const auto taken = parser_.parse(text, {}, "http");
        if (!taken || *taken != text.size()) return 0;
        bytes_in_ = *taken;
        started_ = stage_.worker().now();
        if (!stage_.proxy().try_now(*this, answer_)) return 0;
        const int status = answer_.status;
        stage_.proxy().wrote_now(*this, answer_, stage_.worker().steady_now(), {});
        answer_.clear();
        return status;
    }

    const http::request_head& request() noexcept override { return parser_.head(); }
    const net::peer_info& peer() const noexcept override { return peer_; }
    net::worker& on() noexcept override { return stage_.worker(); }
    moment started() const noexcept override { return started_; }
    std::uint64_t bytes_in() const noexcept override { return bytes_in_; }
    std::uint64_t bytes_out() const noexcept override { return 0; }
    net::body_source& body() noexcept override { return no_body_; }
    bool head_sent() const noexcept override { return false; }
    void abort() noexcept override {}
    // A hit uses none of these.
    net::task<result<void>> send_interim(const http::response_head&) override { co_return fail(errc::internal); }
    net::task<result<void>> answer(net::immediate_answer&) override { co_return fail(errc::internal); }
    net::immediate_answer& blank_answer() noexcept override { return answer_; }
    net::task<result<void>> send_whole(const http::response_head&, std::string_view) override {
        co_return fail(errc::internal);
    }
    net::task<result<void>> send_head(const http::response_head&) override { co_return fail(errc::internal); }
    net::task<result<void>> send(std::string_view) override { co_return fail(errc::internal); }
    net::task<result<void>> flush() override { co_return fail(errc::internal); }
    net::task<result<void>> finish(const http::fields*) override { co_return fail(errc::internal); }
    net::task<void> tunnel(const http::response_head&, net::stream_socket, std::string, milliseconds) override {
        co_return;
    }

private:
    stage& stage_;
    http::h1::request_parser parser_;
    net::immediate_answer answer_;
    net::peer_info peer_{.address = "192.0.2.1", .listener = "ingress", .local_port = 8080, .trusted = false};
    net::empty_body no_body_;
    moment started_{};
    std::uint64_t bytes_in_ = 0;
};

void ask_again_and_again(benchmark::State& state, stage& s, const std::string& text, int expected) {
    on_no_socket client(s);
    const std::uint64_t before = s.observed();
    int status = expected;
    std::uint64_t asked = 0;
    measure(state, [&] {
        const int got = client.ask(text);
        if (got != expected) status = got;
        ++asked;
    });
    if (status != expected) state.SkipWithError(("answered " + std::to_string(status)).c_str());
    if (s.observed() - before != asked) state.SkipWithError("a hit without a record");
}

void hit(benchmark::State& state, std::string_view method, std::string_view target, std::string_view fields,
         std::string_view more, int expected) {
    stage s;
    const std::string request = head(method, target, fields, more);
    s.keep(head("GET", target, fields), json_fields, std::string(1024, 'x'));
    ask_again_and_again(state, s, request, expected);
}
constexpr std::string_view path = "/api/products?page=2";
BENCHMARK_CAPTURE(hit, whole_curl, "GET", path, curl_fields, "", 200);
BENCHMARK_CAPTURE(hit, whole_browser, "GET", path, browser_fields, "", 200);
BENCHMARK_CAPTURE(hit, head_request, "HEAD", path, curl_fields, "", 200);
BENCHMARK_CAPTURE(hit, not_modified, "GET", path, browser_fields, "If-None-Match: \"0123456789abcdef0123456789\"\r\n",
                  304);
BENCHMARK_CAPTURE(hit, failed_precondition, "GET", path, curl_fields, "If-Match: \"other\"\r\n", 412);
BENCHMARK_CAPTURE(hit, single_range, "GET", path, curl_fields, "Range: bytes=100-299\r\n", 206);
BENCHMARK_CAPTURE(hit, unsatisfiable_range, "GET", path, curl_fields, "Range: bytes=5000-\r\n", 416);
BENCHMARK_CAPTURE(hit, query_rules, "GET", "/rules/p?utm_source=x&page=2&a=1", browser_fields, "", 200);

void hit_coded(benchmark::State& state, std::string_view more, int expected) {
    stage s;
    const std::string request = head("GET", "/coded/p", browser_fields, more);
    const auto kept = s.keep(head("GET", "/coded/p", browser_fields), json_fields, std::string(1024, 'x'));
    const auto with = store::with_form(*kept, http::coding::gzip, store::share(std::string(100, 'z')));
    s.store().keep_forms(s.key_of(request), *with, s.worker().now());
    ask_again_and_again(state, s, request, expected);
}
BENCHMARK_CAPTURE(hit_coded, whole, "", 200);
BENCHMARK_CAPTURE(hit_coded, not_modified, "If-None-Match: W/\"0123456789abcdef0123456789\"\r\n", 304);

void hit_after_a_purge_of_something_else(benchmark::State& state) {
    stage s;
    const std::string request = head("GET", path, browser_fields);
    s.keep(request, json_fields, std::string(1024, 'x'));
    std::vector<cache::purge_target> groups;
    cache::purge_tag(groups, "another");
    cache::purge_prefix(groups, "", "/somewhere/else/");
    s.store().purge(groups, false, s.worker().now(), [](bool) {});
    ask_again_and_again(state, s, request, 200);
}
BENCHMARK(hit_after_a_purge_of_something_else);

/// The last of so many variants.
void hit_varied(benchmark::State& state) {
    stage s;
    const std::string varied = std::string(json_fields) + "Vary: X-Variant\r\n";
    std::string request;
    for (std::int64_t i = 0; i < state.range(0); ++i) {
        request = head("GET", path, browser_fields, "X-Variant: number-" + std::to_string(i) + "\r\n");
        s.keep(request, varied, std::string(1024, 'x'));
    }
    ask_again_and_again(state, s, request, 200);
}
BENCHMARK(hit_varied)->Arg(1)->Arg(20);

/// With the connection and its coroutines, over a pair of sockets: the time is mostly the kernel's.
void hit_on_a_connection(benchmark::State& state, std::string_view more) {
    stage s;
    const std::string request = head("GET", path, browser_fields, more);
    s.keep(head("GET", path, browser_fields), json_fields, std::string(1024, 'x'));
    int pair[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return state.SkipWithError("no sockets");
    net::connection_registry registry;
    net::stream_socket socket(s.worker().executor());
    socket.assign(net::asio::generic::stream_protocol(AF_UNIX, 0), pair[1]);
    auto options = std::make_shared<net::connection_options>();
    net::spawn(s.worker().executor(),
               net::run_h1_connection(s.worker(), std::move(socket), options,
                                      {.address = "unix", .listener = "ingress"}, s.proxy(), registry));
    std::array<char, 8192> got{};
    const char* problem = nullptr;
    measure(state, [&] {
        if (::send(pair[0], request.data(), request.size(), MSG_NOSIGNAL) < 0) problem = "cannot send";
        ssize_t n = 0;
        while (problem == nullptr && (n = ::recv(pair[0], got.data(), got.size(), MSG_DONTWAIT)) < 0) {
            s.worker().io().poll_one();
        }
        if (n < 100) problem = "no answer";
    });
    ::close(pair[0]);
    while (registry.size() > 0) s.worker().io().run_one();
    if (problem != nullptr) state.SkipWithError(problem);
}
BENCHMARK_CAPTURE(hit_on_a_connection, whole, "");
BENCHMARK_CAPTURE(hit_on_a_connection, not_modified, "If-None-Match: \"0123456789abcdef0123456789\"\r\n");

}  // namespace
}  // namespace etagere::bench
