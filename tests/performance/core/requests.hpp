// What clients send: the same bytes for every benchmark.
#pragma once

#include <string>
#include <string_view>

namespace etagere::bench {

inline constexpr std::string_view curl_fields = "Host: shop.test:8080\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n";

inline constexpr std::string_view browser_fields =
    "Host: shop.test:8080\r\nConnection: keep-alive\r\nCache-Control: max-age=0\r\n"
    "sec-ch-ua: \"Chromium\";v=\"124\", \"Not-A.Brand\";v=\"99\"\r\nsec-ch-ua-mobile: ?0\r\n"
    "sec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 "
    "Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n"
    "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nAccept-Encoding: gzip, deflate, br\r\n"
    "Accept-Language: en-US,en;q=0.9\r\nCookie: _session=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";

/// A whole head; `more`: complete field lines.
inline std::string head(std::string_view method, std::string_view target, std::string_view fields,
                        std::string_view more = {}) {
    std::string out(method);
    return out.append(" ").append(target).append(" HTTP/1.1\r\n").append(fields).append(more).append("\r\n");
}

}  // namespace etagere::bench
