#include "etagere/admin/admin.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace etagere::admin {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// One piece after the other.
class pieces final : public net::body_source {
public:
    explicit pieces(std::vector<std::string> all) : all_(std::move(all)) {}
    net::task<result<std::string_view>> read() override {
        if (next_ == all_.size()) co_return std::string_view{};
        co_return std::string_view(all_[next_++]);
    }
    void stop() noexcept override {}

private:
    std::vector<std::string> all_;
    std::size_t next_ = 0;
};

/// A request as a codec hands it over; nothing but try_now() is expected to be used where it says true.
class fake_transaction final : public net::transaction {
public:
    explicit fake_transaction(std::string_view method, std::string_view target) {
        head.verb = http::find_method(method);
        head.method_name = method;
        head.target = target;
        head.host = "127.0.0.1";
        head.port = 9901;
    }
    void field(std::string_view name, std::string_view value) { ASSERT_TRUE(head.header.add(name, value)); }

    const http::request_head& request() noexcept override { return head; }
    const net::peer_info& peer() const noexcept override { return peer_; }
    net::worker& on() noexcept override { return worker_; }
    moment started() const noexcept override { return {wall_time{1'764'518'405'250ms}, {}}; }
    std::uint64_t bytes_in() const noexcept override { return 0; }
    std::uint64_t bytes_out() const noexcept override { return 0; }
    net::body_source& body() noexcept override {
        EXPECT_TRUE(may_read) << "try_now() must not touch the body";
        return sent_;
    }
    net::task<result<void>> send_interim(const http::response_head&) override { co_return unexpected(); }
    net::task<result<void>> answer(net::immediate_answer& a) override {
        answered_status = a.status;
        answered = std::string(a.body);
        closed = a.close;
        co_return result<void>{};
    }
    net::immediate_answer& blank_answer() noexcept override { return blank; }
    net::task<result<void>> send_whole(const http::response_head&, std::string_view) override {
        co_return unexpected();
    }
    net::task<result<void>> send_head(const http::response_head&) override { co_return unexpected(); }
    net::task<result<void>> send(std::string_view) override { co_return unexpected(); }
    net::task<result<void>> flush() override { co_return unexpected(); }
    net::task<result<void>> finish(const http::fields*) override { co_return unexpected(); }
    void abort() noexcept override { ADD_FAILURE(); }
    bool head_sent() const noexcept override { return false; }
    net::task<void> tunnel(const http::response_head&, net::stream_socket, std::string, milliseconds) override {
        unexpected();
        co_return;
    }

    http::request_head head;
    void carry(std::vector<std::string> content) {
        head.body = http::framing::chunked();
        sent_ = pieces(std::move(content));
        may_read = true;
    }
    bool may_read = false;
    int answered_status = 0;
    std::string answered;
    net::immediate_answer blank;
    bool closed = false;

private:
    static result<void> unexpected() {
        ADD_FAILURE() << "admin answers at once";
        return fail(errc::internal);
    }
    net::peer_info peer_;
    net::worker worker_{0};
    pieces sent_{{}};
};

struct Admin : testing::Test {
    Admin() {
        now.ready = true;
        now.state = "ready";
    }
    admin_handler make(admin_options o = {}) {
        return {std::move(o),
                {.readiness = [this] { return now; }, .metrics = [] { return "etagere_build_info 1\n"; }}};
    }
    net::immediate_answer ask(fake_transaction& t, admin_options o = {}) {
        auto handler = make(std::move(o));
        net::immediate_answer a;
        EXPECT_TRUE(handler.try_now(t, a));
        return a;  // outlives the handler: it owns what it points to
    }
    net::immediate_answer ask(std::string_view method, std::string_view target, admin_options o = {}) {
        fake_transaction t(method, target);
        return ask(t, std::move(o));
    }
    readiness now;
};

TEST_F(Admin, LivezIsAnsweredWhileTheProcessRuns) {
    now = {};
    for (const auto* const path : {"/livez", "/healthz", "/livez?verbose"}) {
        const auto a = ask("GET", path);
        EXPECT_EQ(a.status, 200);
        EXPECT_EQ(a.start,
                  "HTTP/1.1 200 OK\r\nDate: Sun, 30 Nov 2025 16:00:05 GMT\r\nContent-Type: application/json\r\n"
                  "Cache-Control: no-store\r\n");
        EXPECT_EQ(a.body, "{\"status\":\"alive\"}\n");
        EXPECT_EQ(a.how, http::framing::of_length(a.body.size()));
        EXPECT_FALSE(a.close);
    }
}

TEST_F(Admin, ReadyzSaysNoWhileStartingAndDraining) {
    EXPECT_EQ(ask("GET", "/readyz").status, 200);
    EXPECT_EQ(ask("GET", "/readyz").body, "{\"status\":\"ready\"}\n");
    now = {.ready = false, .state = "draining", .checks = {}};
    const auto a = ask("GET", "/readyz");
    EXPECT_EQ(a.status, 503);
    EXPECT_THAT(a.start, StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
    EXPECT_EQ(a.body, "{\"status\":\"draining\"}\n");
}

TEST_F(Admin, ReadyzVerboseTellsTheChecks) {
    now.checks = {{"config", false, "the last reload failed: a.yaml:3:5: unknown key \"timout\""},
                  {"store default", true, "memory"}};
    constexpr std::string_view verbose =
        R"({"status":"ready","checks":[)"
        R"({"name":"config","ok":false,"detail":"the last reload failed: a.yaml:3:5: unknown key \"timout\""},)"
        R"({"name":"store default","ok":true,"detail":"memory"}]})"
        "\n";
    EXPECT_EQ(ask("GET", "/readyz?verbose").body, verbose);
    EXPECT_EQ(ask("GET", "/readyz?verbose=1").body, verbose);
    EXPECT_EQ(ask("GET", "/readyz?verbose").status, 200) << "degraded, but serving";
    EXPECT_EQ(ask("GET", "/readyz?verbosely").body, "{\"status\":\"ready\"}\n");
}

TEST_F(Admin, MetricsAreATextOfTheirFormat) {
    const auto a = ask("GET", "/metrics");
    EXPECT_EQ(a.status, 200);
    EXPECT_THAT(a.start, HasSubstr("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
    EXPECT_EQ(a.body, "etagere_build_info 1\n");
}

TEST_F(Admin, MetricsLiveAtTheConfiguredPath) {
    EXPECT_EQ(ask("GET", "/m", {.metrics_path = "/m", .token = {}, .hosts = {}}).status, 200);
    EXPECT_EQ(ask("GET", "/metrics", {.metrics_path = "/m", .token = {}, .hosts = {}}).status, 404);
    EXPECT_EQ(ask("GET", "/metrics", {.metrics_path = "", .token = {}, .hosts = {}}).status, 404);
}

TEST_F(Admin, HeadIsGetWithoutContent) {
    const auto get = ask("GET", "/metrics");
    const auto head = ask("HEAD", "/metrics");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.start, get.start);
    EXPECT_EQ(head.body, "");
    EXPECT_FALSE(head.how.has_body());
    EXPECT_EQ(head.declared_length, static_cast<std::int64_t>(get.body.size()));
}

TEST_F(Admin, UnknownPathsAre404) {
    for (const auto* const path : {"/", "/livez/", "/metricsx", "/METRICS", "*", "/reload"}) {
        const auto a = ask("GET", path);
        EXPECT_EQ(a.status, 404) << path;
        EXPECT_EQ(a.body, "{\"error\":\"no such page\"}\n");
    }
}

TEST_F(Admin, OtherMethodsAre405) {
    for (const auto* const method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"}) {
        const auto a = ask(method, "/metrics");
        EXPECT_EQ(a.status, 405) << method;
        EXPECT_THAT(a.start, HasSubstr("\r\nAllow: GET, HEAD\r\n"));
        EXPECT_EQ(ask(method, "/livez").status, 405) << method;
    }
}

TEST_F(Admin, ABodyThatIsNotReadEndsTheConnection) {
    fake_transaction t("POST", "/metrics");
    t.head.body = http::framing::of_length(10);
    EXPECT_TRUE(ask(t).close);
}

// S272
TEST_F(Admin, WebPagesAreRefused) {
    for (const auto* const path : {"/metrics", "/livez", "/readyz", "/nothing"}) {
        fake_transaction t("GET", path);
        t.field("Origin", "https://evil.example");
        EXPECT_EQ(ask(t).status, 403) << path;
    }
    fake_transaction null_origin("POST", "/metrics");
    null_origin.field("Origin", "null");
    null_origin.field("Content-Type", "text/plain");
    EXPECT_EQ(ask(null_origin).status, 403);
}

struct host_case {
    std::string_view host;
    int status;
};
class UnsafeHost : public Admin, public testing::WithParamInterface<host_case> {};

// S272: DNS rebinding makes a page's own name resolve to us.
TEST_P(UnsafeHost, HasToBeOurs) {
    fake_transaction t("POST", "/metrics");
    t.head.host = GetParam().host;
    EXPECT_EQ(ask(t, {.token = {}, .hosts = {"etagere.internal"}}).status, GetParam().status);
    fake_transaction get("GET", "/metrics");
    get.head.host = GetParam().host;
    EXPECT_EQ(ask(get).status, 200) << "Prometheus may use any name";
}
INSTANTIATE_TEST_SUITE_P(Hosts, UnsafeHost,
                         testing::Values(host_case{"127.0.0.1", 405}, host_case{"[::1]", 405},
                                         host_case{"10.0.0.7", 405}, host_case{"localhost", 405},
                                         host_case{"etagere.internal", 405}, host_case{"rebind.evil.example", 403},
                                         host_case{"localhost.evil.example", 403},
                                         host_case{"127.0.0.1.evil.example", 403}, host_case{"", 403}));

struct token_case {
    const char* name;
    std::string_view authorization;
    int status;
};
class Token : public Admin, public testing::WithParamInterface<token_case> {};

TEST_P(Token, GuardsEverythingButHealth) {
    const admin_options guarded{.token = "s3cret", .hosts = {}};
    const auto status_of = [&](std::string_view path) {
        fake_transaction t("GET", path);
        if (!GetParam().authorization.empty()) t.field("Authorization", GetParam().authorization);
        return ask(t, guarded).status;
    };
    EXPECT_EQ(status_of("/metrics"), GetParam().status);
    EXPECT_EQ(status_of("/nothing"), GetParam().status == 200 ? 404 : 401) << "which pages there are is not told";
    EXPECT_EQ(status_of("/livez"), 200);
    EXPECT_EQ(status_of("/healthz"), 200);
    EXPECT_EQ(status_of("/readyz"), 200);
}
INSTANTIATE_TEST_SUITE_P(
    Values, Token,
    testing::Values(token_case{"None", "", 401}, token_case{"Right", "Bearer s3cret", 200},
                    token_case{"SchemeInAnyCase", "bEARER s3cret", 200}, token_case{"Wrong", "Bearer s3creT", 401},
                    token_case{"Prefix", "Bearer s3cre", 401}, token_case{"Longer", "Bearer s3cretx", 401},
                    token_case{"Empty", "Bearer ", 401}, token_case{"SchemeOnly", "Bearer", 401},
                    token_case{"OtherScheme", "Basic s3cret", 401}, token_case{"NoScheme", "s3cret", 401}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(Admin, TwoAuthorizationFieldsAreNone) {
    fake_transaction t("GET", "/metrics");
    t.field("Authorization", "Bearer s3cret");
    t.field("Authorization", "Bearer s3cret");
    EXPECT_EQ(ask(t, {.token = "s3cret", .hosts = {}}).status, 401);
}

TEST_F(Admin, ARefusalSaysHowToBeLetInAndNotTheToken) {
    const auto a = ask("GET", "/metrics", {.token = "s3cret", .hosts = {}});
    EXPECT_THAT(a.start, HasSubstr("\r\nWWW-Authenticate: Bearer\r\n"));
    EXPECT_THAT(std::string(a.start) + std::string(a.body), Not(HasSubstr("s3cret")));
}

TEST_F(Admin, AReloadChangesTheToken) {
    auto handler = make({.token = "old", .hosts = {}});
    fake_transaction t("GET", "/metrics");
    t.field("Authorization", "Bearer new");
    net::immediate_answer before;
    handler.try_now(t, before);
    handler.configure({.token = "new", .hosts = {}});
    net::immediate_answer after;
    handler.try_now(t, after);
    EXPECT_EQ(before.status, 401);
    EXPECT_EQ(after.status, 200);
}

struct Pages : Admin {
    void ask_slowly(fake_transaction& t, admin_options o = {}) {
        admin_functions f{.readiness = [this] { return now; }, .metrics = [] { return std::string{}; }};
        f.pages.push_back({.path = "/echo", .writes = true, .answer = [](question q) -> net::task<reply> {
                               reply r;
                               r.status = 202;
                               r.content = q.head.method_name + ":" + q.body;
                               co_return r;
                           }});
        f.pages.push_back({.path = "/tell", .answer = [](question q) -> net::task<reply> {
                               reply r;
                               r.content = std::string(q.head.query());
                               co_return r;
                           }});
        admin_handler handler(std::move(o), std::move(f));
        net::immediate_answer a;
        answered_at_once = handler.try_now(t, a);
        net::asio::io_context io;
        net::spawn(io.get_executor(), handler.handle(t));
        io.run();
    }
    bool answered_at_once = false;
};

TEST_F(Pages, AreAskedAndMayTakeTheirTime) {
    fake_transaction get("GET", "/tell?a=b");
    ask_slowly(get);
    EXPECT_FALSE(answered_at_once);
    EXPECT_EQ(get.answered_status, 200);
    EXPECT_EQ(get.answered, "a=b");
    fake_transaction post("POST", "/echo");
    post.carry({"one", "two"});
    ask_slowly(post);
    EXPECT_EQ(post.answered_status, 202);
    EXPECT_EQ(post.answered, "POST:onetwo");
    EXPECT_FALSE(post.closed);
}

TEST_F(Pages, HeadIsGetWithoutContent) {
    fake_transaction head("HEAD", "/tell?a=b");
    ask_slowly(head);
    EXPECT_EQ(head.answered_status, 200);
    EXPECT_EQ(head.answered, "");
}

TEST_F(Pages, HaveOneMethod) {
    for (const auto& [method, target, allowed] :
         {std::tuple("GET", "/echo", "POST"), std::tuple("PURGE", "/echo", "POST"),
          std::tuple("POST", "/tell", "GET, HEAD")}) {
        fake_transaction t(method, target);
        ask_slowly(t);
        EXPECT_TRUE(answered_at_once);
        EXPECT_EQ(t.answered_status, 405) << method << target << allowed;
    }
}

TEST_F(Pages, TakeABoundedBody) {
    fake_transaction t("POST", "/echo");
    t.carry({std::string(40'000, 'a'), std::string(40'000, 'b')});
    ask_slowly(t);
    EXPECT_EQ(t.answered_status, 413);
    EXPECT_TRUE(t.closed) << "the rest of it is not read";
}

TEST_F(Pages, AreBehindTheTokenAndNotForWebPages) {
    fake_transaction bare("POST", "/echo");
    ask_slowly(bare, {.token = "s3cret", .hosts = {}});
    EXPECT_TRUE(answered_at_once);
    EXPECT_EQ(bare.answered_status, 401);
    fake_transaction page("POST", "/echo");
    page.field("Origin", "https://evil.example");
    ask_slowly(page);
    EXPECT_EQ(page.answered_status, 403);
    fake_transaction rebound("POST", "/echo");
    rebound.head.host = "rebind.evil.example";
    ask_slowly(rebound);
    EXPECT_EQ(rebound.answered_status, 403);
    fake_transaction by_name("POST", "/echo");
    by_name.head.host = "etagere.internal";
    by_name.field("Authorization", "Bearer s3cret");
    ask_slowly(by_name, {.token = "s3cret", .hosts = {}});
    EXPECT_EQ(by_name.answered_status, 202) << "a page cannot know the token";
}

TEST_F(Admin, CodecsThatOnlyAwaitGetTheSameAnswer) {
    auto handler = make();
    fake_transaction t("GET", "/nothing");
    net::asio::io_context io;
    net::spawn(io.get_executor(), handler.handle(t));
    io.run();
    EXPECT_EQ(t.answered_status, 404);
}

}  // namespace
}  // namespace etagere::admin
