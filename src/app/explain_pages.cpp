#include "explain_pages.hpp"

#include <utility>

namespace etagere::app {

namespace {

int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// application/x-www-form-urlencoded; what is no escape stays as it is.
std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape =
            text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0;
        if (escape) {
            out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        } else {
            out += text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '.' || c == '_' || c == '/';
        if (plain) {
            out += c;
        } else {
            const auto octet = static_cast<unsigned char>(c);
            out += '%';
            out += digits[octet >> 4U];
            out += digits[octet & 15U];
        }
    }
    return out;
}

net::task<admin::reply> answer(explain_sources from, exchange::detail what, admin::question q) {
    auto question = read_explain_query(q.head.query());
    if (!question) co_return admin::refusal(400, question.error());
    const std::shared_ptr<const exchange::runtime> running = from.running();
    question->about.at = from.listening_at(question->about.as);
    auto account = exchange::open_account(std::move(question->about), from.on->now().wall);
    if (!account) co_return admin::refusal(400, account.error());
    co_await exchange::explain(*account, running, *from.collapse, *from.on);
    admin::reply r;
    if (question->as_text) {
        r.content_type = "text/plain; charset=utf-8";
        r.content = exchange::as_text(*account, what, question->colour);
    } else {
        r.content = exchange::as_json(*account, what);
    }
    co_return r;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> split_field(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    return std::pair(std::string(line.substr(0, colon)), std::string(value));
}

std::expected<explain_question, std::string> read_explain_query(std::string_view query) {
    explain_question q;
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
        const std::size_t equals = pair.find('=');
        const std::string name = decode(pair.substr(0, equals));
        const std::string value = equals == std::string_view::npos ? std::string{} : decode(pair.substr(equals + 1));
        if (name == "url") {
            q.about.url = value;
        } else if (name == "method") {
            q.about.method = value;
        } else if (name == "header") {
            auto field = split_field(value);
            if (!field) return std::unexpected("header is not \"Name: value\"");
            q.about.fields.push_back(std::move(*field));
        } else if (name == "role" && (value == "ingress" || value == "egress")) {
            q.about.as = value == "egress" ? exchange::role::egress : exchange::role::ingress;
        } else if (name == "format" && (value == "json" || value == "text")) {
            q.as_text = value == "text";
        } else if (name == "colour" && (value == "0" || value == "1")) {
            q.colour = value == "1";
        } else {
            return std::unexpected(
                "the query takes url, method, header, role=ingress|egress, format=json|text, colour=0|1");
        }
    }
    if (q.about.url.empty()) return std::unexpected("url is missing");
    return q;
}

std::string write_explain_query(const explain_question& q) {
    std::string out = "url=" + encode(q.about.url) + "&method=" + encode(q.about.method);
    for (const auto& [name, value] : q.about.fields) {
        out.append("&header=").append(encode(name)).append(encode(": ")).append(encode(value));
    }
    if (q.about.as == exchange::role::egress) out += "&role=egress";
    if (q.as_text) out += "&format=text";
    if (q.colour) out += "&colour=1";
    return out;
}

std::vector<admin::page> explain_pages(const explain_sources& from) {
    const auto page = [&from](std::string path, exchange::detail what) {
        return admin::page{std::move(path), false,
                           [from, what](admin::question q) { return answer(from, what, std::move(q)); }};
    };
    return {page("/explain", exchange::detail::all), page("/entry", exchange::detail::entry)};
}

}  // namespace etagere::app
