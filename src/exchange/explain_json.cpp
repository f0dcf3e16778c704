#include "etagere/observe/json.hpp"

#include "explain_parts.hpp"

namespace etagere::exchange {

namespace {

using observe::json_writer;

void add_reason(json_writer& json, reason why) {
    const reason_info& i = info(why);
    json.member("reason", i.name);
    json.member("section", i.section);
    json.member("remedy", i.remedy);
}

void add_request(json_writer& json, const account& a) {
    json.begin("request");
    json.member("method", a.refused ? std::string_view(a.about.method) : a.request.method_name);
    json.member("url", url_of(a));
    json.begin_list("fields");
    for (const auto& [name, value] : a.about.fields) {
        json.begin();
        json.member("name", name);
        json.member("value", shown_value(name, value));
        json.end();
    }
    json.end_list();
    if (a.refused) json.member("refused", error_name(a.refused));
    json.end();
}

void add_routes(json_writer& json, const account& a) {
    json.key("route");
    if (a.route == nullptr) {
        json.null();
    } else {
        json.begin();
        json.member("name", a.route->name);
        json.member("upstream", a.upstream);
        if (!a.store_name.empty()) json.member("store", a.store_name);
        json.end();
    }
    json.begin_list("considered");
    for (const routing::considered& c : a.routes) {
        json.begin();
        json.member("name", c.name);
        json.member("verdict", routing::name(c.is));
        json.member("because", c.because);
        json.end();
    }
    json.end_list();
}

void add_key(json_writer& json, const account& a) {
    json.begin_list("key");
    for (const cache::key_part& p : a.parts) {
        json.begin();
        json.member("part", p.what);
        if (!p.name.empty()) json.member("name", p.name);
        json.begin_list("values");
        for (const std::string& v : p.values) json.text(v);
        json.end_list();
        json.end();
    }
    json.end_list();
    if (!a.query_rule.empty()) json.member("no_vary_search", a.query_rule);
}

void add_policy(json_writer& json, const cache::policy& rules) {
    json.begin("policy");
    for (const cache::rule& r : cache::describe(rules)) json.member(r.name, r.text);
    json.end();
}

void add_fields(json_writer& json, const http::fields& header, const cache::policy& rules) {
    json.begin("fields");
    for (const auto& [name, value] : told_fields(header, rules)) json.member(name, value);
    json.end();
}

void add_freshness(json_writer& json, const cache::stored_response& r, const cache::policy& rules, wall_time now) {
    const cache::freshness f = cache::freshness_of(r, rules, now);
    json.member("age_s", f.age.count());
    json.member("lifetime_s", f.fresh_for.value.count());
    json.member("ttl_s", f.ttl.count());
    json.member("lifetime_from", cache::words(f.fresh_for, r));
    json.member("stale_while_revalidate_s", f.while_revalidate.count());
    json.member("stale_if_error_s", f.if_error.count());
    json.member("stale_if_unreachable_s", f.if_unreachable.count());
    json.member("stale_forbidden", f.stale_forbidden);
    json.member("can_validate", f.can_validate);
    json.member("always_validate", r.always_validate);
}

void add_phases(json_writer& json, const std::vector<cache::phase>& phases) {
    json.begin_list("phases");
    for (const cache::phase& p : phases) {
        json.begin();
        json.member("after_s", p.after.count());
        json.member("action", name(p.what));
        json.member("reason", etagere::name(p.why));
        json.end();
    }
    json.end_list();
}

void add_variant(json_writer& json, const account& a, const store::object& o, bool selected) {
    const cache::stored_response& r = o.response;
    const cache::policy& rules = a.route->policy;
    json.begin();
    json.member("selected", selected);
    json.member("status", r.status);
    json.begin("selecting");
    for (const cache::selection::entry& s : r.selecting) json.member(s.name, shown_selector(s));
    json.end();
    add_freshness(json, r, rules, a.now);
    json.member("kept_for_s", std::chrono::floor<seconds>(o.keep_until - a.now).count());
    json.member("body_bytes", r.body_size);
    json.member("body_in_memory", o.body != nullptr);
    if (o.body) json.member("digest", body_digest(o));
    if (!o.rest->entity.empty()) json.member("entity", o.rest->entity);
    json.member("own_etag", r.own_etag);
    add_fields(json, r.header, rules);
    if (selected) add_phases(json, cache::phases_of(r, a.request, rules, a.now));
    json.end();
}

void add_stored(json_writer& json, const account& a) {
    json.begin("stored");
    json.member("level", store::name(a.found.from));
    if (a.store_failed) json.member("error", error_name(a.store_failed));
    json.begin_list("tags");
    for (const std::string& tag : a.route->policy.tags) json.text(tag);
    json.end_list();
    json.begin_list("variants");
    if (a.found.set) {
        for (std::size_t i = 0; i < a.found.set.size(); ++i) {
            add_variant(json, a, *a.found.set[i], a.what && a.what->at == static_cast<int>(i));
        }
    }
    json.end_list();
    json.end();
}

void add_decision(json_writer& json, const account& a, const cache::explanation& e) {
    json.begin("decision");
    json.member("class", name(e.klass));
    json.member("action", cache::name(e.what));
    add_reason(json, e.why);
    if (e.status != 0) json.member("status", e.status);
    if (e.at >= 0) {
        json.member("age_s", e.age.count());
        json.member("ttl_s", e.ttl.count());
    }
    json.begin("conditions");
    for (const http::fields::entry f : e.conditions) json.member(f.name, f.value);
    json.end();
    json.begin_list("then");
    for (const cache::outlook& o : e.then) {
        json.begin();
        json.member("when", cache::words(o.when));
        add_reason(json, o.why);
        json.end();
    }
    json.end_list();
    json.end();
    json.member("in_flight", a.known.in_flight);
    if (a.known.not_kept != reason::none) {
        json.begin("not_kept");
        add_reason(json, a.known.not_kept);
        json.member("remembered_for_ms", a.known.remembered_for.count());
        json.end();
    }
}

void add_given(json_writer& json, const account& a, const given_answer& given) {
    const cache::fate& fate = given.fate;
    json.begin("answer");
    json.member("status", given.head.status);
    json.member("kept", fate.may.store);
    json.member("shareable", fate.may.shareable);
    add_reason(json, fate.may.why);
    json.member("own_etag", fate.own_etag);
    if (fate.kept) {
        add_freshness(json, *fate.kept, a.route->policy, a.now);
        add_phases(json, fate.phases);
    }
    json.end();
}

}  // namespace

std::string as_json(const account& a, detail what) {
    std::string out;
    json_writer json(out);
    json.begin();
    add_request(json, a);
    add_routes(json, a);
    add_key(json, a);
    if (a.route != nullptr && what != detail::entry) add_policy(json, a.route->policy);
    if (a.looked) add_stored(json, a);
    if (a.what && what != detail::entry) add_decision(json, a, *a.what);
    if (a.given) add_given(json, a, *a.given);
    if (what != detail::entry) json.member("curl", as_curl(a));
    json.end();
    out += '\n';
    return out;
}

}  // namespace etagere::exchange
