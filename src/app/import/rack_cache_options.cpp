#include "rack_cache_options.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/core.h>

namespace etagere::app::rack_cache {
namespace {

using ruby::kind;
using ruby::token;
using ruby::value;

constexpr std::string_view prefix = "rack-cache.";
constexpr std::size_t most_variables = 200;

class finder {
public:
    explicit finder(std::string_view source) : all_(ruby::tokens(source)), reader_(source, all_) {}

    options run() {
        while (reader_.now().what != kind::end) {
            const std::size_t before = reader_.at;
            look();
            if (reader_.at == before) reader_.next();
        }
        return std::move(out_);
    }

private:
    const token& ahead(std::size_t n) const noexcept { return all_[std::min(reader_.at + n, all_.size() - 1)]; }
    const token& back(std::size_t n) const noexcept {
        static const token none;
        return reader_.at >= n ? all_[reader_.at - n] : none;
    }
    static bool is(const token& t, kind k, std::string_view text) noexcept { return t.what == k && t.text == text; }
    static bool is_mark(const token& t, std::string_view text) noexcept { return is(t, kind::mark, text); }

    void look() {
        const token& t = reader_.now();
        if (t.what == kind::label && t.text == "rack_cache") {
            reader_.next();
            reader_.skip_lines();
            take_whole();
        } else if (t.what == kind::name && t.text == "rack_cache" && is_mark(back(1), ".")) {
            look_at_setting();
        } else if (t.what == kind::name && t.text == "Rack::Cache") {
            look_at_use();
        } else if (t.what == kind::name && t.text == "Rack::Cache::Key" && is_mark(ahead(1), ".") &&
                   is(ahead(2), kind::name, "query_string_ignore") && is_mark(ahead(3), "=")) {
            reader_.at += 4;
            const int line = t.line;
            add("query_string_ignore", reader_.read(), line);
            out_.found = true;
        } else if (t.what == kind::name && t.text == "cache_store" && is_mark(back(1), ".") && is_mark(ahead(1), "=")) {
            reader_.at += 2;
            take_cache_store();
        } else if (t.what == kind::name && is_mark(ahead(1), "=") && back(1).what != kind::mark &&
                   variables_.size() < most_variables) {
            const std::string name = t.text;
            reader_.next(), reader_.next();
            // What stands there may be a setting of ours, so it is only looked at from afar.
            const std::size_t here = reader_.at;
            variables_[name] = reader_.read();
            reader_.at = here;
        }
    }

    // config.cache_store = :mem_cache_store, "host", { namespace: … }: what `rails:/` stands for
    void take_cache_store() {
        value store;
        store.what = value::type::call;
        store.line = reader_.now().line;
        const value kind_of_store = reader_.read();
        store.text = kind_of_store.text;
        while (reader_.mark(",")) {
            reader_.next();
            reader_.skip_lines();
            if (reader_.at_key()) {
                store.pairs = reader_.read_pairs();
                break;
            }
            value v = reader_.read();
            if (v.is(value::type::hash)) {
                store.pairs = v.pairs;
            } else {
                store.items.push_back(std::move(v));
            }
        }
        out_.cache_store = std::move(store);
    }

    // config.action_dispatch.rack_cache = { … } | true | variable, and rack_cache[:verbose] = true
    void look_at_setting() {
        reader_.next();
        if (reader_.mark("=") || reader_.mark("||=")) {
            reader_.next();
            reader_.skip_lines();
            take_whole();
        } else if (reader_.mark("[") && (ahead(1).what == kind::symbol || ahead(1).what == kind::text) &&
                   is_mark(ahead(2), "]") && is_mark(ahead(3), "=")) {
            const std::string name = ahead(1).text;
            const int line = ahead(1).line;
            reader_.at += 4;
            add(name, reader_.read(), line);
            out_.found = true;
        }
    }

    void take_whole() {
        const int line = reader_.now().line;
        const value v = resolved(reader_.read());
        if (v.is(value::type::nil) || (v.is(value::type::boolean) && !v.truth())) {
            out_.notes.push_back({line, "Rack::Cache is switched off here"});
            return;
        }
        out_.found = true;
        if (v.is(value::type::hash)) {
            add_all(v.pairs);
        } else if (v.is(value::type::boolean)) {
            // What Rails puts there for `true`.
            for (const std::string_view name : {"metastore", "entitystore"}) {
                value store;
                store.what = value::type::text;
                store.text = "rails:/";
                store.source = "true";
                add(std::string(name), store, line);
            }
            value quiet;
            quiet.what = value::type::boolean;
            quiet.source = "true";
            add("verbose", quiet, line);
        } else {
            out_.notes.push_back({line, fmt::format("`{}` is more than can be read here: not translated", v.source)});
        }
        warn_of_rest();
    }

    /// A modifier behind the options, `… if ENV["CACHE"]`, or a method called on them.
    void warn_of_rest() {
        const token& t = reader_.now();
        if (is(t, kind::name, "if") || is(t, kind::name, "unless")) {
            const value condition = (reader_.next(), reader_.read());
            out_.notes.push_back(
                {t.line, fmt::format("the condition `{} {}` is not translated", t.text, condition.source)});
        }
    }

    // use Rack::Cache, … | use Rack::Cache do … end | config.middleware.insert_before 0, Rack::Cache, … | .new(app, …)
    void look_at_use() {
        const int line = reader_.now().line;
        std::size_t steps = 1;
        while (is_mark(back(steps), "(") || is_mark(back(steps), "::")) ++steps;
        const token& before = back(steps);
        constexpr std::array<std::string_view, 5> as_a_place{"insert_before", "insert_after", "insert", "swap",
                                                             "delete"};
        if (before.what == kind::name && std::ranges::find(as_a_place, before.text) != as_a_place.end()) return;
        const bool used = is(before, kind::name, "use") || (is_mark(before, ",") && put_in_on_this_line());
        reader_.next();
        if (reader_.mark(".") && is(ahead(1), kind::name, "new") && is_mark(ahead(2), "(")) {
            reader_.at += 3;
            (void)reader_.read();  // the application
        } else if (!used && !reader_.mark(",")) {
            return;
        }
        take_arguments(line);
    }

    /// Whether a middleware is put in between others here: `insert_before 0, Rack::Cache`.
    bool put_in_on_this_line() const noexcept {
        for (std::size_t n = 1; n <= reader_.at && back(n).what != kind::line; ++n) {
            if (back(n).what == kind::name && (back(n).text.starts_with("insert") || back(n).text == "swap"))
                return true;
        }
        return false;
    }

    void take_arguments(int line) {
        if (reader_.mark(",")) {
            reader_.next();
            reader_.skip_lines();
            if (reader_.at_key()) {
                add_all(reader_.read_pairs());
            } else {
                const value v = resolved(reader_.read());
                if (v.is(value::type::hash)) {
                    add_all(v.pairs);
                } else {
                    out_.notes.push_back(
                        {line, fmt::format("`{}` is more than can be read here: not translated", v.source)});
                }
            }
        }
        out_.found = true;
        reader_.skip_lines();
        if (reader_.mark(")")) reader_.next();
        warn_of_rest();
        if (reader_.is(kind::name, "do") || reader_.mark("{")) take_block();
    }

    // do |cache| set :verbose, true; set :cache_key do |request| … end; end
    void take_block() {
        const bool braces = reader_.mark("{");
        reader_.next();
        while (reader_.now().what != kind::end && !(braces ? reader_.mark("}") : reader_.is(kind::name, "end"))) {
            const std::size_t start = reader_.at;
            if (reader_.is(kind::name, "set")) take_set();
            if (reader_.at == start) reader_.next();
        }
        reader_.next();
    }

    void take_set() {
        reader_.next();
        const bool parenthesis = reader_.mark("(");
        if (parenthesis) reader_.next();
        const int line = reader_.now().line;
        if (reader_.at_key()) {
            add_all(reader_.read_pairs());
        } else if (reader_.now().what == kind::symbol || reader_.now().what == kind::text) {
            const std::string name = reader_.now().text;
            reader_.next();
            if (reader_.mark(",")) {
                reader_.next();
                reader_.skip_lines();
                add(name, reader_.read(), line);
            } else {
                value block;
                block.source = "a block";
                if (reader_.is(kind::name, "do")) skip_block();
                add(name, block, line);
            }
        }
        if (parenthesis && reader_.mark(")")) reader_.next();
    }

    void skip_block() {
        int open = 0;
        do {
            if (reader_.is(kind::name, "do")) ++open;
            if (reader_.is(kind::name, "end")) --open;
            reader_.next();
        } while (open > 0 && reader_.now().what != kind::end);
    }

    value resolved(value v) const {
        // A variable may name another one; two steps are more than anybody writes.
        for (int i = 0; i < 3 && v.is(value::type::call) && v.items.empty() && v.pairs.empty(); ++i) {
            const auto known = variables_.find(v.text);
            if (known == variables_.end()) break;
            const std::string source = v.source;
            v = known->second;
            v.source = source;
        }
        return v;
    }

    void add_all(const std::vector<ruby::named>& pairs) {
        for (const auto& [name, v] : pairs) add(name, v, v.line);
    }

    void add(std::string name, value v, int line) {
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
        std::erase_if(out_.all, [&](const option& o) { return o.name == name; });
        out_.all.push_back({std::move(name), resolved(std::move(v)), line});
    }

    std::vector<token> all_;
    ruby::reader reader_;
    std::map<std::string, value> variables_;
    options out_;
};

}  // namespace

const option* options::find(std::string_view name) const noexcept {
    const auto at = std::ranges::find(all, name, &option::name);
    return at == all.end() ? nullptr : &*at;
}

options find_options(std::string_view ruby) {
    return finder(ruby).run();
}

}  // namespace etagere::app::rack_cache
