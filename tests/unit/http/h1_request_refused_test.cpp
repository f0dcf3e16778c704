// Requests that are refused, by row of the security catalogue: every one is an error that closes the connection, so
// that nothing behind it is ever executed.
#include "h1_heads.hpp"

#include <string>

#include <gmock/gmock.h>

namespace etagere::http::h1 {
namespace {

struct refused {
    std::string row;  // of the security catalogue
    std::string text;
    std::string error;
};

void PrintTo(const refused& r, std::ostream* out) {
    *out << r.row << ": " << testing::PrintToString(r.text.substr(0, 300));
}

class H1RequestRefused : public testing::TestWithParam<refused> {};

TEST_P(H1RequestRefused, WithTheErrorThatSaysWhy) {
    EXPECT_EQ(verdict(request(GetParam().text).taken), GetParam().error);
    // S045: however it is cut, it is never taken for a request.
    const std::string& text = GetParam().text;
    const std::size_t step = text.size() > 2000 ? 997 : 1;
    for (std::size_t n = 0; n < text.size(); n += step) {
        EXPECT_NE(verdict(request(std::string_view(text).substr(0, n)).taken), "ok") << n;
    }
}

refused framing_row(const char* row, std::initializer_list<std::string_view> lines) {
    return {row, get_with(lines), "bad_framing"};
}

INSTANTIATE_TEST_SUITE_P(
    TransferEncoding, H1RequestRefused,
    testing::Values(
        framing_row("S001", {"Content-Length: 30", "Transfer-Encoding: chunked"}),
        framing_row("S002", {"Transfer-Encoding: chunked", "Content-Length: 4"}),
        framing_row("S003", {"Transfer-Encoding: xchunked", "Content-Length: 4"}),
        framing_row("S003", {"Content-Length: 4", "Transfer-Encoding: xchunked"}),
        framing_row("S005", {"Transfer-Encoding: chunked, identity"}),
        framing_row("S005", {"Transfer-Encoding: chunked, chunked"}),
        framing_row("S007", {"Transfer-Encoding: chunked", "Transfer-Encoding: chunked"}),
        framing_row("S007", {"Transfer-Encoding: x", "Transfer-Encoding: chunked"}),
        framing_row("S007", {"Transfer-Encoding: chunked", "Transfer-Encoding: x"}),
        framing_row("S009", {"Transfer-Encoding: \"chunked\""}),
        framing_row("S009", {"Transfer-Encoding: chunked;a=b"}), framing_row("S009", {"Transfer-Encoding:"}),
        framing_row("S009", {"Transfer-Encoding: ,chunked"}), framing_row("S009", {"Transfer-Encoding: chunked,"}),
        framing_row("S014", {"Transfer-Encoding: xchunked"}), framing_row("S014", {"Transfer-Encoding: identity"}),
        framing_row("S014", {"Transfer-Encoding: gzip"}), framing_row("S014", {"Transfer-Encoding: chunked, gzip"}),
        framing_row("S014", {"Transfer-Encoding: gzip, chunked"}),
        framing_row("S014", {"Transfer-Encoding: gzip", "Content-Length: 3"}),
        refused{"S017", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n",
                "bad_framing"},
        refused{"S011", get_with({"Transfer-Encoding : chunked"}), "bad_request"},
        refused{"S013", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\n\r\n", "bad_request"},
        refused{"S051", get_with({"Transfer-Encoding:", " chunked"}), "bad_request"},
        refused{"S051", get_with({"Transfer-Encoding: chunked", "\t, x"}), "bad_request"}));

INSTANTIATE_TEST_SUITE_P(
    ContentLength, H1RequestRefused,
    testing::Values(framing_row("S020", {"Content-Length: +5"}), framing_row("S020", {"Content-Length: -1"}),
                    framing_row("S020", {"Content-Length: -0"}), framing_row("S020", {"Content-Length: 0x5"}),
                    framing_row("S020", {"Content-Length: 5_0"}), framing_row("S020", {"Content-Length: 5.0"}),
                    framing_row("S020", {"Content-Length: 1e1"}), framing_row("S020", {"Content-Length: 5;a"}),
                    framing_row("S020", {"Content-Length: 5 5"}), framing_row("S020", {"Content-Length:"}),
                    framing_row("S020", {"Content-Length: \"5\""}), framing_row("S020", {"Content-Length: 5,"}),
                    framing_row("S020", {"Content-Length: ,5"}), framing_row("S020", {"Content-Length: 5,,5"}),
                    framing_row("S022", {"Content-Length: 18446744073709551621"}),
                    framing_row("S022", {"Content-Length: 18446744073709551615"}),
                    framing_row("S022", {"Content-Length: 9223372036854775808"}),
                    framing_row("S022", {"Content-Length: 99999999999999999999999999"}),
                    framing_row("S023", {"Content-Length: 5", "Content-Length: 0"}),
                    framing_row("S023", {"Content-Length: 5, 6"}),
                    framing_row("S023", {"Content-Length: 5", "Content-Length: 5, 6"}),
                    refused{"S025", get_with({"Content-Length : 5"}), "bad_request"}));

INSTANTIATE_TEST_SUITE_P(Lines, H1RequestRefused,
                         testing::Values(refused{"S050", get_with({"X-A : b"}), "bad_request"},
                                         refused{"S050", get_with({"X-A\t: b"}), "bad_request"},
                                         refused{"S051", get_with({"X-A: b", " c"}), "bad_request"},
                                         refused{"S051", get_with({"X-A: b", "\tc"}), "bad_request"},
                                         refused{"S051", get_with({"X-A: b", " "}), "bad_request"},
                                         refused{"S053", get_with({std::string_view("X-A: b\0c", 8)}), "bad_request"},
                                         refused{"S053", get_with({"X-A: b\rc"}), "bad_request"},
                                         refused{"S053", get_with({"X-A: b\r"}), "bad_request"},
                                         refused{"S053", get_with({"X-A: b\x01"}), "bad_request"},
                                         refused{"S053", get_with({"X-A: b\x7F"}), "bad_request"},
                                         refused{"S053", get_with({"X\rA: b"}), "bad_request"},
                                         refused{"S056", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "bad_request"},
                                         refused{"S056", "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n", "bad_request"},
                                         refused{"S056", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                                         refused{"S057", "GET / HTTP/1.1\nHost: a\n\n", "bad_request"},
                                         refused{"S057", "GET / HTTP/1.1\r\nHost: a\n\r\n", "bad_request"},
                                         refused{"S057", "GET / HTTP/1.1\r\nX: a\nHost: b\r\n\r\n", "bad_request"},
                                         refused{"S057", "GET / HTTP/1.1\r\nHost: a\r\n\n", "bad_request"},
                                         refused{"S057", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", "bad_request"},
                                         refused{"§1a", get_with({": x"}), "bad_request"},
                                         refused{"§1a", get_with({"no colon"}), "bad_request"},
                                         refused{"§1a", get_with({"caf\xE9: x"}), "bad_request"},
                                         refused{"§1a", get_with({"(x): y"}), "bad_request"},
                                         refused{"S068", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                                         refused{"S068", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                                         refused{"S068", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                                         refused{"§1a", get_with({"Connection: a b"}), "bad_request"},
                                         refused{"S159", std::string("\x16\x03\x01\x02", 4), "bad_request"}));

INSTANTIATE_TEST_SUITE_P(
    RequestLine, H1RequestRefused,
    testing::Values(refused{"S062", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET /\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "GET\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S062", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S064", "GET / http/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S064", "GET / HTTP/1.1x\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S064", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S064", "GET / HTTP/11\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S064", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "version_not_supported"},
                    refused{"S064", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "version_not_supported"},
                    refused{"S064", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", "version_not_supported"},
                    refused{"S064", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", "version_not_supported"},
                    refused{"S159", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version_not_supported"},
                    refused{"S066", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S066", "GET http://a/#b HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S069", "GET /caf\xC3\xA9 HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S069", "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S069", "GET /\x7F HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S069", std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", 28), "bad_request"},
                    refused{"§1a", "GET a/b HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S076", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "method_not_implemented"},
                    refused{"S077", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S077", "OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"},
                    refused{"S077", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "bad_request"}));

refused host_row(const char* row, const std::string& value) {
    return {row, "GET / HTTP/1.1\r\nHost: " + value + "\r\n\r\n", "bad_host"};
}

INSTANTIATE_TEST_SUITE_P(
    Host, H1RequestRefused,
    testing::Values(refused{"S070", "GET / HTTP/1.1\r\n\r\n", "bad_host"},
                    refused{"S070", "GET http://a/ HTTP/1.1\r\n\r\n", "bad_host"},
                    refused{"S071", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "bad_host"},
                    refused{"S071", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "bad_host"},
                    refused{"S071", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "bad_host"},
                    refused{"S073", "GET http://a/ HTTP/1.1\r\nHost: b/c\r\n\r\n", "bad_host"},
                    refused{"S072", "GET / HTTP/1.0\r\nHost: a/b\r\n\r\n", "bad_host"}, host_row("S072", ""),
                    host_row("S072", "a/b"), host_row("S072", "user@a"), host_row("S072", "a b"),
                    host_row("S072", "a,b"), host_row("S072", "a?b"), host_row("S072", "a:x"),
                    host_row("S072", "a:99999"), host_row("S072", std::string(300, 'a')), host_row("S072", "[::1"),
                    refused{"S072", get_with({std::string_view("X: 1\r\nHost: a\0b", 15)}), "bad_request"}));

INSTANTIATE_TEST_SUITE_P(Expect, H1RequestRefused,
                         testing::Values(refused{"S093", get_with({"Expect: y 100-continue"}), "expectation_failed"},
                                         refused{"S093", get_with({"Expect: foo"}), "expectation_failed"},
                                         refused{"S093", get_with({"Expect: 100-continue", "Expect: foo"}),
                                                 "expectation_failed"},
                                         refused{"S093", get_with({"Expect:"}), "expectation_failed"}));

std::string many_fields(int n) {
    std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < n; ++i) text += "X: 1\r\n";
    return text + "\r\n";
}

std::string many_options() {
    std::string text = "Connection: a";
    for (int i = 0; i < 70; ++i) text += ",a";
    return text;
}

INSTANTIATE_TEST_SUITE_P(
    Limits, H1RequestRefused,
    testing::Values(
        refused{"S059", get_with({"X: " + std::string(65'536, 'v')}), "header_fields_too_large"},
        refused{"S059", many_fields(3000), "header_fields_too_large"},
        refused{"S059", many_fields(100), "header_fields_too_large"},
        refused{"S059", std::string(40'000, 'G'), "header_fields_too_large"},
        refused{"S059", "GET / HTTP/1.1\r\nX: " + std::string(40'000, 'v'), "header_fields_too_large"},
        refused{"S060", "GET /" + std::string(65'536, 'p') + " HTTP/1.1\r\nHost: a\r\n\r\n", "uri_too_long"},
        refused{"S060", "GET /" + std::string(8192, 'p') + " HTTP/1.1\r\nHost: a\r\n\r\n", "uri_too_long"},
        refused{"S060", "GET /" + std::string(8193, 'p'), "uri_too_long"},
        refused{"S104", get_with({many_options()}), "bad_request"},
        refused{"S104",
                get_with({"Connection: a", "Connection: a", "Connection: a", "Connection: a", "Connection: a",
                          "Connection: a", "Connection: a", "Connection: a", "Connection: a"}),
                "bad_request"}));

// S068: bounded, whatever the peer sends.
TEST(H1Request, TenThousandEmptyLinesAreRefusedAtTheSecond) {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += "\r\n";
    EXPECT_EQ(verdict(request(text).taken), "bad_request");
    EXPECT_EQ(verdict(request("\r\n\r\n").taken), "bad_request");
}

// NUL, CR, LF or another control at any place of a head is refused or leaves the head incomplete.
TEST(H1Request, AControlAnywhereNeverPasses) {
    const std::string good = get_with({"X-A: b", "Content-Length: 3"});
    for (std::size_t at = 0; at < good.size(); ++at) {
        for (int c = 0; c < 256; ++c) {
            if ((c >= 0x20 && c != 0x7F) || c == '\t' || good[at] == static_cast<char>(c)) continue;
            std::string bad = good;
            bad[at] = static_cast<char>(c);
            EXPECT_NE(verdict(request(bad).taken), "ok") << "octet " << c << " at " << at;
            bad = good;
            bad.insert(at, 1, static_cast<char>(c));
            // CR LF in front of the request line is the one exception.
            EXPECT_NE(verdict(request(bad).taken), "ok") << "octet " << c << " before " << at;
        }
    }
}

}  // namespace
}  // namespace etagere::http::h1
