// An account for people: a few lines, the answer to "why?" in the middle of them.
#include "etagere/observe/text.hpp"

#include "explain_parts.hpp"

#include <algorithm>

namespace etagere::exchange {

namespace {

class page {
public:
    explicit page(bool colour) : colour_(colour) {}

    /// "  label      text": texts under one label are its further lines.
    void line(std::string_view label, std::string_view text) {
        constexpr std::size_t width = 11;
        out_ += "  ";
        const std::string_view shown = label == last_ ? std::string_view{} : label;
        last_ = label;
        paint("\x1b[2m", shown);
        out_.append(width > shown.size() ? width - shown.size() : 1, ' ');
        out_ += text;
        out_ += '\n';
    }
    void title(std::string_view text) {
        paint("\x1b[1m", text);
        out_ += '\n';
    }
    /// A reason in the colour of its class.
    std::string reason_text(reason why) const {
        const reason_info& i = info(why);
        const std::string_view sequence = i.cache_class == "hit"       ? "\x1b[32m"
                                          : i.cache_class == "refused" ? "\x1b[31m"
                                                                       : "\x1b[33m";
        std::string out = colour_ ? std::string(sequence) + std::string(i.name) + "\x1b[0m" : std::string(i.name);
        if (!i.section.empty()) out.append(" (").append(i.section).append(")");
        return out;
    }
    std::string take() { return std::move(out_); }

private:
    void paint(std::string_view sequence, std::string_view text) {
        if (text.empty()) return;
        if (colour_) out_ += sequence;
        out_ += text;
        if (colour_) out_ += "\x1b[0m";
    }

    std::string out_;
    std::string last_;
    bool colour_;
};

/// What comes from outside must not steer the terminal.
std::string safe(std::string_view text) {
    std::string out;
    // Quotes and backslashes are escaped in log lines only: nobody could paste a command with them.
    while (!text.empty()) {
        const std::size_t plain = std::min(text.find_first_of("\"\\"), text.size());
        observe::append_plain_escaped(out, text.substr(0, plain), false);
        text.remove_prefix(plain);
        if (text.empty()) break;
        out += text.front();
        text.remove_prefix(1);
    }
    return out;
}

void add_routes(page& to, const account& a, detail what) {
    if (a.route == nullptr) {
        if (!a.refused) to.line("route", "none matches");
    } else {
        std::string text = a.route->name + " → upstream " + a.upstream;
        if (!a.store_name.empty()) text += ", store " + a.store_name;
        to.line("route", text);
    }
    if (what != detail::route && a.route != nullptr) return;
    for (const routing::considered& c : a.routes) {
        const bool chosen = c.is == routing::verdict::chosen;
        to.line("", (chosen ? "* " : "- ") + c.name + ": " + safe(c.because));
    }
}

void add_key(page& to, const account& a) {
    for (const cache::key_part& p : a.parts) {
        if (p.what == "schema") continue;
        std::string text = p.what;
        if (!p.name.empty()) text += " " + p.name;
        if (p.values.empty()) text += ": (absent)";
        for (const std::string& v : p.values) text += ": " + safe(v);
        to.line("key", text);
    }
}

std::string variant_text(const account& a, const store::object& o, bool selected) {
    const cache::stored_response& r = o.response;
    const cache::freshness f = cache::freshness_of(r, a.route->policy, a.now);
    std::string text = (selected ? "* " : "- ") + std::to_string(r.status) + ", age " + cache::duration_text(f.age) +
                       " of " + cache::duration_text(f.fresh_for.value) + " (" + cache::words(f.fresh_for, r) + ")";
    for (const cache::selection::entry& s : r.selecting)
        text.append("; ").append(s.name).append(": ").append(safe(shown_selector(s)));
    if (!r.etag().empty()) text += "; ETag " + safe(r.etag()) + (r.own_etag ? " (ours)" : "");
    return text;
}

void add_stored(page& to, const account& a) {
    if (a.store_failed) to.line("stored", "the store did not answer: " + std::string(error_name(a.store_failed)));
    if (!a.query_rule.empty()) to.line("stored", "for equal queries by No-Vary-Search: " + safe(a.query_rule));
    if (!a.found.set) {
        if (!a.store_failed) to.line("stored", "nothing");
        return;
    }
    const std::size_t count = a.found.set.size();
    to.line("stored", "in " + std::string(store::name(a.found.from)) + ", " + std::to_string(count) +
                          (count == 1 ? " variant" : " variants"));
    for (std::size_t i = 0; i < count; ++i) {
        const bool selected = a.what && a.what->at == static_cast<int>(i);
        to.line("", variant_text(a, *a.found.set[i], selected));
    }
}

std::string action_text(const cache::explanation& e) {
    switch (e.what) {
        case cache::course::serve: return "answer " + std::to_string(e.status) + " without the origin";
        case cache::course::serve_stale:
            return "answer " + std::to_string(e.status) + " with the stale response, and refresh it in the background";
        case cache::course::validate: return "ask the origin whether the stored response is still good";
        case cache::course::fetch: return "ask the origin for the whole answer";
        case cache::course::pass: return "pass the request to the origin, past the cache";
        case cache::course::refuse: break;
    }
    return "refuse with " + std::to_string(e.status);
}

void add_decision(page& to, const account& a, const cache::explanation& e) {
    to.line("decision", action_text(e));
    to.line("because", to.reason_text(e.why));
    if (a.refused) to.line("", std::string(error_name(a.refused)));
    for (const http::fields::entry f : e.conditions) to.line("asks with", safe(f.name) + ": " + safe(f.value));
    for (const cache::outlook& o : e.then) {
        to.line("then", "when " + std::string(cache::words(o.when)) + ": " + to.reason_text(o.why));
    }
    if (a.known.not_kept != reason::none) {
        to.line("remembered", "the last answer was not kept: " + to.reason_text(a.known.not_kept) + ", for another " +
                                  cache::duration_text(std::chrono::ceil<seconds>(a.known.remembered_for)));
    }
}

std::string phase_text(const cache::phase& p, bool last) {
    std::string out = p.after.count() == 0 ? "now" : "after " + cache::duration_text(p.after);
    if (last) return out + ": forgotten";
    return out + ": " + std::string(name(p.what)) + " (" + std::string(etagere::name(p.why)) + ")";
}

void add_phases(page& to, const std::vector<cache::phase>& phases) {
    for (const cache::phase& p : phases) to.line("from now", phase_text(p, &p == &phases.back()));
}

void add_given(page& to, const account& a, const given_answer& given) {
    const cache::fate& fate = given.fate;
    if (!fate.kept) {
        to.line("answer", std::to_string(given.head.status) + " would not be kept");
        to.line("because", to.reason_text(fate.may.why));
        return;
    }
    const cache::freshness f = cache::freshness_of(*fate.kept, a.route->policy, a.now);
    to.line("answer", std::to_string(given.head.status) + " would be kept, fresh for " +
                          cache::duration_text(f.fresh_for.value) + ": " + cache::words(f.fresh_for, *fate.kept));
    if (!fate.may.shareable) to.line("", "not shared with requests that wait for the same");
    if (fate.own_etag) to.line("", "with an ETag of étagère's own");
    add_phases(to, fate.phases);
}

}  // namespace

std::string as_text(const account& a, detail what, bool colour) {
    page to(colour);
    to.title(safe(a.refused ? a.about.method : a.request.method_name) + " " + safe(url_of(a)));
    add_routes(to, a, what);
    if (what == detail::route) {
        add_key(to, a);
        if (a.route != nullptr) {
            for (const cache::rule& r : cache::describe(a.route->policy))
                to.line("policy", r.name + ": " + safe(r.text));
        }
    }
    if (a.looked) add_stored(to, a);
    if (a.what && what != detail::entry) add_decision(to, a, *a.what);
    if (a.given) add_given(to, a, *a.given);
    if (a.what && a.what->at >= 0 && what == detail::all) {
        const store::object& o = *a.found.set[static_cast<std::size_t>(a.what->at)];
        add_phases(to, cache::phases_of(o.response, a.request, a.route->policy, a.now));
    }
    if (const std::string_view remedy = info(told_reason(a)).remedy; !remedy.empty()) to.line("change", remedy);
    if (const std::string curl = as_curl(a); what == detail::all && !curl.empty()) to.line("try", safe(curl));
    return to.take();
}

}  // namespace etagere::exchange
