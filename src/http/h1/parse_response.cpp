#include "etagere/http/h1/parser.hpp"

#include "head_fields.hpp"
#include "raw_head.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

namespace etagere::http::h1 {
namespace {

namespace beast = boost::beast;

std::string_view view(beast::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Beast calls us for the status line and each field; views point into the head.
class response_reader final : public beast::http::basic_parser<false> {
public:
    explicit response_reader(response_head& out) : out_(out) {}

    const head_fields& own() const noexcept { return own_; }

private:
    void on_response_impl(int code, beast::string_view reason, int minor_and_major, beast::error_code&) override {
        out_.status = code;
        out_.reason.assign(view(reason));
        out_.protocol = minor_and_major == 11 ? version::http11 : version::http10;
    }

    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value,
                       beast::error_code& ec) override {
        const field_id id = find_field_id(view(name));
        if (own_.take(id, view(value))) return;
        if (!out_.header.add(id, view(name), view(value))) ec = beast::http::error::bad_field;
    }

    void on_header_impl(beast::error_code&) override {}
    void on_finish_impl(beast::error_code&) override {}
    // Only heads are put in, so that nothing of the following is ever called.
    void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int, beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }

    response_head& out_;
    head_fields own_;
};

bool is_interim(const response_head& head) noexcept {
    return head.status < 200;
}

// RFC 9112 §6.3. Never a guess: an origin whose framing can be read two ways can be made to answer for somebody else.
result<void> judge_framing(const head_fields& own, method answers, bool foreign_codings, response_head& out) {
    const bool coded = own.transfer_encodings != 0;
    const bool readable = own.chunked || (foreign_codings && own.foreign_coding);
    if (own.bad_length ||
        (coded && (own.transfer_encodings > 1 || !readable || own.content_length || out.protocol == version::http10))) {
        return fail(errc::upstream_bad_response);
    }
    const std::uint64_t length = own.content_length.value_or(0);
    if (is_interim(out) || out.status == 204) {
        // RFC 9110 §8.6, RFC 9112 §6.1: neither field may be there. Behind an interim response the final one follows,
        // so there nothing may be unclear; behind a 204 the connection is given up.
        if (is_interim(out) && (coded || length != 0)) return fail(errc::upstream_bad_response);
        if (coded || length != 0) out.keep_alive = false;
        return {};
    }
    if (own.content_length) out.declared_length = static_cast<std::int64_t>(length);
    if (out.status == 304 || answers == method::head) {
        // Legal, but some origins send the last chunk along: what would be read as the next response.
        if (coded) out.keep_alive = false;
    } else if (own.chunked) {
        out.body = framing::chunked();
    } else if (own.content_length) {
        out.body = framing::of_length(length);
    } else {
        out.body = framing::until_close();
        out.keep_alive = false;
    }
    return {};
}

}  // namespace

result<std::size_t> parse_response(std::string_view in, const head_limits& limits, method answers, response_head& out) {
    constexpr std::string_view start = "HTTP/1.";
    if (!start.starts_with(in.substr(0, start.size()))) return fail(errc::upstream_bad_response);

    const raw_head raw = scan_head(in, limits);
    switch (raw.found) {
        case head_scan::malformed: return fail(errc::upstream_bad_response);
        case head_scan::too_large: return fail(errc::upstream_head_too_large);
        case head_scan::incomplete: return 0;
        case head_scan::complete: break;
    }

    out.clear();
    response_reader reader(out);
    reader.header_limit(static_cast<std::uint32_t>(raw.text.size()));
    reader.body_limit(boost::none);
    beast::error_code ec;
    reader.put(boost::asio::const_buffer(raw.text.data(), raw.text.size()), ec);
    const head_fields& own = reader.own();
    if (ec || out.status < 100 || out.status > 599 || own.too_many_options()) return fail(errc::upstream_bad_response);

    out.keep_alive = !own.close && (out.protocol == version::http11 || own.keep_alive);
    own.erase_named(out.header);
    if (out.status == 101) out.upgrade.assign(own.usable_upgrade());
    if (const auto ok = judge_framing(own, answers, limits.foreign_codings, out); !ok)
        return std::unexpected(ok.error());
    return raw.text.size();
}

}  // namespace etagere::http::h1
