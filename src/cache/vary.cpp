#include "vary.hpp"

#include "etagere/cache/compression.hpp"
#include "etagere/cache/decisions.hpp"
#include "etagere/http/lists.hpp"
#include "etagere/http/preference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

namespace etagere::cache {
namespace {

using http::field_id;

char to_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

int compare_ignoring_case(std::string_view a, std::string_view b) noexcept {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const char x = to_lower(a[i]);
        const char y = to_lower(b[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    if (a.size() == b.size()) return 0;
    return a.size() < b.size() ? -1 : 1;
}

/// The lines of one field of a request, whether or not its name is one that has an id.
template <class F> void for_each_line(const http::fields& in, std::string_view name, F&& each) {
    const field_id id = http::find_field_id(name);
    if (id != field_id::other && !in.has(id)) return;
    for (const http::fields::entry f : in) {
        if (f.id == id && (id != field_id::other || http::iequals(f.name, name))) each(f.value);
    }
}

// ---------------------------------------------------------------- preferences: Accept-Encoding, Accept-Language

using http::preference;

// In one spelling; 1 is not written.
void append_weight(std::pmr::string& out, unsigned weight) {
    if (weight == 1000) return;
    out += ";q=0";
    if (weight == 0) return;
    out += '.';
    for (unsigned rest = weight, unit = 100; rest > 0; rest %= unit, unit /= 10) {
        out += static_cast<char>('0' + rest / unit);
    }
}

void append_preference(std::pmr::string& out, const preference& p) {
    for (const char c : p.name) out += to_lower(c);
    append_weight(out, p.weight);
}

// RFC 9110 §12.5.3, §12.5.4: names are case-insensitive and members of one weight have no order. False, and nothing is
// appended, where a member does not parse, a name comes twice or there are too many: then the text itself is compared.
// The result is itself a value of that meaning, so the two ways cannot meet in one text with two meanings.
bool append_preferences(std::pmr::string& out, const http::fields& request, std::string_view name) {
    std::array<preference, 32> members;
    std::size_t count = 0;
    bool ok = true;
    for_each_line(request, name, [&](std::string_view line) {
        while (const auto text = http::next_member(line)) {
            const auto p = http::parse_preference(*text);
            ok = ok && p && count < members.size() &&
                 std::none_of(
                     members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const preference& other) { return http::iequals(other.name, p->name); });
            if (!ok) return;
            members[count++] = *p;
        }
    });
    if (!ok) return false;
    const auto end = members.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(members.begin(), end, [](const preference& a, const preference& b) {
        if (a.weight != b.weight) return a.weight > b.weight;
        return compare_ignoring_case(a.name, b.name) < 0;
    });
    for (auto p = members.begin(); p != end; ++p) {
        if (p != members.begin()) out += ',';
        append_preference(out, *p);
    }
    return true;
}

// ---------------------------------------------------------------- preferences: Accept

// Cuts the parameter at the front of `rest` off: up to a ';' outside quoted strings.
std::string_view next_part(std::string_view& rest) noexcept {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < rest.size() && (quoted || rest[end] != ';'); ++end) {
        if (rest[end] == '"') quoted = !quoted;
        if (quoted && rest[end] == '\\' && end + 1 < rest.size()) ++end;
    }
    const std::string_view part = http::trim(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

// RFC 9110 §5.6.4
bool is_quoted_string(std::string_view text) noexcept {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    text = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') return false;
        if (text[i] != '\\') continue;
        ++i;
        if (i == text.size()) return false;
    }
    return true;
}

struct media_range {
    std::string_view text;  // as in the request, without the weight
    unsigned weight = 1000;
};

// media-range [ weight ]. nullopt also for what followed a weight in RFC 7231 (accept-ext): nobody agrees on it.
std::optional<media_range> parse_media_range(std::string_view member) noexcept {
    std::string_view rest = member;
    const std::string_view range = next_part(rest);
    const auto slash = range.find('/');
    if (slash == std::string_view::npos || !http::is_token(range.substr(0, slash)) ||
        !http::is_token(range.substr(slash + 1))) {
        return std::nullopt;
    }
    media_range found{.text = member};
    if (member.ends_with(';')) return std::nullopt;
    while (!rest.empty()) {
        const std::size_t left = rest.size() + 1;  // with the ';' before it
        const std::string_view parameter = next_part(rest);
        const auto equals = parameter.find('=');
        if (equals == std::string_view::npos || !http::is_token(parameter.substr(0, equals))) return std::nullopt;
        const std::string_view value = parameter.substr(equals + 1);
        if (!http::iequals(parameter.substr(0, equals), "q")) {
            if (!http::is_token(value) && !is_quoted_string(value)) return std::nullopt;
            continue;
        }
        const auto weight = http::parse_weight(value);
        if (!weight || !rest.empty()) return std::nullopt;
        found.weight = *weight;
        found.text = http::trim(member.substr(0, member.size() - left));
    }
    return found;
}

// Case is taken from type, subtype and names, white space from around ';'. Values stay: a parameter may mind its case,
// and "x" and its quoted form are one only to those who parse both.
void append_media_range(std::pmr::string& out, std::string_view range) {
    const auto in_lower_case = [&out](std::string_view text) {
        for (const char c : text) out += to_lower(c);
    };
    in_lower_case(next_part(range));
    while (!range.empty()) {
        const std::string_view parameter = next_part(range);
        const auto equals = parameter.find('=');
        out += ';';
        in_lower_case(parameter.substr(0, equals));
        out += parameter.substr(equals);
    }
}

// RFC 9110 §12.5.1: precedence comes from the weight, then from how specific a range is; nothing comes from the order.
// But origins do go by it where weights are equal (Rails takes the first one), so only members of different weight are
// sorted. As above: false, and nothing is appended, where anything is not certain.
bool append_media_ranges(std::pmr::string& out, const http::fields& request) {
    std::array<media_range, 32> members;
    std::size_t count = 0;
    bool ok = true;
    for_each_line(request, "accept", [&](std::string_view line) {
        while (const auto text = http::next_member(line)) {
            const auto range = parse_media_range(*text);
            ok = ok && range && count < members.size();
            if (!ok) return;
            auto* const at =
                std::upper_bound(members.begin(), members.begin() + count, *range,
                                 [](const media_range& a, const media_range& b) { return a.weight > b.weight; });
            std::move_backward(at, members.begin() + count, members.begin() + count + 1);
            *at = *range;
            ++count;
        }
    });
    const std::size_t start = out.size();
    std::array<std::pair<std::size_t, std::size_t>, 32> written;
    for (std::size_t i = 0; ok && i < count; ++i) {
        if (i > 0) out += ',';
        const std::size_t from = out.size();
        append_media_range(out, members[i].text);
        written[i] = {from, out.size() - from};
        const std::string_view all(out);
        for (std::size_t k = 0; k < i; ++k) {  // which of two weights counts?
            ok = ok && all.substr(written[k].first, written[k].second) != all.substr(from);
        }
        append_weight(out, members[i].weight);
    }
    if (!ok) out.resize(start);
    return ok;
}

// ---------------------------------------------------------------- everything else

// Fields whose commas separate nothing: white space counts there. Unknown fields are taken for lists, as RFC 9110 §5.3
// lets every recipient combine their lines.
bool is_no_list(field_id id) noexcept {
    return id == field_id::cookie || id == field_id::authorization || id == field_id::user_agent ||
           id == field_id::origin;
}

void append_members(std::pmr::string& out, const http::fields& request, std::string_view name) {
    const bool whole = is_no_list(http::find_field_id(name));
    const std::size_t start = out.size();
    for_each_line(request, name, [&](std::string_view line) {
        if (whole) {
            if (out.size() != start) out += ", ";
            out += line;
            return;
        }
        while (const auto member = http::next_member(line)) {
            if (out.size() != start) out += ',';
            out += *member;
        }
    });
}

// Where the route wants values of one meaning to be one. False, and nothing is appended: the text is compared.
bool append_same_meaning(std::pmr::string& out, const http::fields& request, std::string_view name,
                         const policy& rules) {
    switch (http::find_field_id(name)) {
        case field_id::accept: return rules.normalize_accept && append_media_ranges(out, request);
        case field_id::accept_encoding:
            return rules.normalize_accept_encoding && append_preferences(out, request, name);
        case field_id::accept_language:
            return rules.normalize_accept_language && append_preferences(out, request, name);
        default: return false;
    }
}

// What gives access must not lie readable in a store that others can read, nor in a dump of it. By the words of the
// name, for every API has its own ("X-Api-Key", "X-Shop-Access-Token"): one too many costs a digest, nothing else.
bool is_credential(std::string_view name, const policy& rules) noexcept {
    const field_id id = http::find_field_id(name);
    if (id == field_id::cookie || id == field_id::authorization || id == field_id::proxy_authorization) return true;
    if (std::ranges::any_of(rules.per_credential, [&](std::string_view n) { return http::iequals(n, name); })) {
        return true;
    }
    if (id != field_id::other) return false;
    constexpr std::array<std::string_view, 14> words{
        "auth",     "authentication", "authorization", "apikey",    "cookie",    "jwt",   "key",
        "password", "secret",         "session",       "sessionid", "signature", "token", "user"};
    while (!name.empty()) {
        const auto end = name.find_first_of("-_");
        const std::string_view word = name.substr(0, end);
        if (std::ranges::any_of(words, [word](std::string_view w) { return http::iequals(w, word); })) return true;
        name.remove_prefix(end == std::string_view::npos ? name.size() : end + 1);
    }
    return false;
}

bool has_field(const http::fields& request, std::string_view name) noexcept {
    bool found = false;
    for_each_line(request, name, [&](std::string_view) { found = true; });
    return found;
}

}  // namespace

bool varies_on_everything(const http::fields& response) noexcept {
    // RFC 9110 §12.5.5. A '*' within a name is cautiously taken for the whole; "foo bar" names nothing that could
    // match. The origin sees these fields as we write them, one value for each client: the client's own ones say
    // nothing.
    constexpr std::array per_client{field_id::forwarded, field_id::x_forwarded_for, field_id::x_real_ip,
                                    field_id::x_request_id};
    return !http::for_each_member(response, field_id::vary, [&](std::string_view member) {
        return http::is_token(member) && !member.contains('*') &&
               std::ranges::find(per_client, http::find_field_id(member)) == per_client.end();
    });
}

bool varies_on(const http::fields& response, std::string_view name) noexcept {
    return !http::for_each_member(response, field_id::vary,
                                  [name](std::string_view member) { return !http::iequals(member, name); });
}

bool append_selecting_value(std::pmr::string& out, const http::fields& request, std::string_view name,
                            const policy& rules, credential_digest digest) {
    if (!has_field(request, name)) return false;
    if (is_credential(name, rules)) {
        std::pmr::string secret(out.get_allocator());
        append_members(secret, request, name);
        out += digest(secret);
        return true;
    }
    if (!append_same_meaning(out, request, name, rules)) append_members(out, request, name);
    return true;
}

std::vector<selector> selecting_fields(const http::fields& response, const http::fields& request, const policy& rules,
                                       credential_digest digest) {
    std::vector<selector> selecting;
    http::for_each_member(response, field_id::vary, [&](std::string_view member) {
        std::string name(member);
        std::ranges::transform(name, name.begin(), to_lower);
        selecting.push_back({.name = std::move(name), .value = std::nullopt});
        return true;
    });
    // An origin that compresses for whoever asks, and forgets to say so (bug case B46): its coded bytes are only for
    // those who ask alike.
    if (response.has(field_id::content_encoding)) {
        selecting.push_back({.name = "accept-encoding", .value = std::nullopt});
    } else if (codes_answers(rules)) {
        // It was asked for identity, whoever the client was (cache/compression.hpp): these bytes are for all of them.
        std::erase_if(selecting, [](const selector& s) { return s.name == "accept-encoding"; });
    }
    std::ranges::sort(selecting, {}, &selector::name);
    const auto twice = std::ranges::unique(selecting, {}, &selector::name);
    selecting.erase(twice.begin(), twice.end());
    for (selector& s : selecting) {
        std::pmr::string value;
        if (append_selecting_value(value, request, s.name, rules, digest)) s.value.emplace(value);
    }
    return selecting;
}

// ---------------------------------------------------------------- choosing a variant

namespace {

/// What the request has for the selecting fields seen so far: variants of one key mostly name the same ones. On the
/// stack up to its size, so that choosing among ordinary variants allocates nothing.
class request_values {
public:
    request_values(const http::fields& request, const policy& rules, credential_digest digest) noexcept
        : request_(request), rules_(rules), digest_(digest) {}

    bool match(const stored_response& candidate) {
        if (values_.empty()) values_.reserve(candidate.selecting.size());
        return std::ranges::all_of(candidate.selecting, [this](const selection::entry& s) {
            const value& v = find(s.name);
            return v.text.has_value() == s.value.has_value() && (!v.text || std::string_view(*v.text) == *s.value);
        });
    }

private:
    struct value {
        std::string_view name;
        std::optional<std::pmr::string> text;
    };

    const value& find(std::string_view name) {
        const auto known = std::ranges::find(values_, name, &value::name);
        if (known != values_.end()) return *known;
        value& made = values_.emplace_back(name, std::nullopt);
        std::pmr::string text(&memory_);
        if (append_selecting_value(text, request_, name, rules_, digest_)) made.text.emplace(std::move(text));
        return made;
    }

    const http::fields& request_;
    const policy& rules_;
    credential_digest digest_;
    std::array<std::byte, 2048> stack_;  // storage of memory_
    std::pmr::monotonic_buffer_resource memory_{stack_.data(), stack_.size()};
    std::pmr::vector<value> values_{&memory_};
};

// RFC 9111 §4: "the most recent one, as determined by the Date header field".
bool is_newer(const stored_response& a, const stored_response& b) noexcept {
    if (a.date != b.date) return a.date > b.date;
    return a.response_time > b.response_time;
}

}  // namespace

int select_variant(std::span<const stored_response* const> variants, const http::request_head& request,
                   const policy& rules, credential_digest digest) {
    if (variants.size() == 1 && variants[0]->selecting.empty()) return 0;
    request_values values(request.header, rules, digest);
    int best = -1;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const stored_response& candidate = *variants[i];
        if (!values.match(candidate)) continue;
        if (best < 0 || is_newer(candidate, *variants[static_cast<std::size_t>(best)])) best = static_cast<int>(i);
    }
    return best;
}

}  // namespace etagere::cache
