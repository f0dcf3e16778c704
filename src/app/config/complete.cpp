// Short forms become entries of their lists, and what every configuration has is added where the file is silent.
#include "document.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace etagere::app::config {
namespace {

template <class T> bool has_name(const std::vector<T>& all, std::string_view name) {
    return std::ranges::find(all, name, &T::name) != all.end();
}

class completion {
public:
    completion(document& d, const node& root, problem_list& problems) : d_(d), root_(root), problems_(problems) {}

    void run() {
        listeners();
        short_form(d_.store, d_.value.stores, "store", "stores");
        short_form(d_.upstream, d_.value.upstreams, "upstream", "upstreams");
        if (d_.value.stores.empty() && !written("store")) {
            d_.value.stores.emplace_back().name = "default";
        }
        const member* upstreams = root_.find("upstreams");
        if (!written("upstream") && (upstreams == nullptr || upstreams->value.members.empty())) {
            missing("upstream", "upstream: http://127.0.0.1:3000");
        }
        routes();
        egress();
    }

private:
    bool written(std::string_view path) const { return locate(root_, path).whole; }

    void missing(std::string path, std::string_view example) {
        problems_.error(root_.at, std::move(path), fmt::format("is needed, as in {}", example));
    }

    void listeners() {
        auto& all = d_.value.listeners;
        if (d_.listen) {
            if (has_name(all, "ingress")) {
                problems_.error(locate(root_, "listen").at, "listen",
                                "is short for listeners.ingress, which is there too");
            } else {
                settings::listener& l = *all.emplace(all.begin());
                l.name = "ingress";
                l.at = std::move(*d_.listen);
            }
        }
        const auto serves = [](const settings::listener& l) { return l.role != settings::listener_role::admin; };
        if (!written("listen") && std::ranges::none_of(all, serves)) {
            missing("listen", "listen: \":8080\"");
        }
        if (std::ranges::all_of(all, serves)) {
            settings::listener& l = all.emplace_back();
            l.name = has_name(all, "admin") ? "admin-default" : "admin";
            l.role = settings::listener_role::admin;
            l.at.host = "127.0.0.1";
            l.at.port = 9901;
        }
    }

    template <class T>
    void short_form(std::optional<T>& one, std::vector<T>& all, std::string_view key, std::string_view list) {
        if (!one) {
            return;
        }
        if (has_name(all, "default")) {
            problems_.error(locate(root_, key).at, std::string(key),
                            fmt::format("is short for {}.default, which is there too", list));
            return;
        }
        one->name = "default";
        all.insert(all.begin(), std::move(*one));
    }

    bool listens(settings::listener_role role) const {
        return std::ranges::find(d_.value.listeners, role, &settings::listener::role) != d_.value.listeners.end();
    }

    void routes() {
        auto& s = d_.value;
        for (settings::route& r : s.routes) {
            choose_upstream(r);
        }
        const bool ingress = written("listen") || listens(settings::listener_role::ingress);
        if (written("routes") || !ingress) {
            return;
        }
        if (s.upstreams.size() > 1) {
            problems_.error(root_.at, "routes",
                            fmt::format("is needed: there are {} upstreams to choose from", s.upstreams.size()));
        } else if (s.upstreams.size() == 1) {
            settings::route& r = s.routes.emplace_back();
            r.name = "default";
            r.upstream = s.upstreams.front().name;
            r.cache = d_.defaults.cache;
            r.etag = d_.defaults.etag;
            r.compress = d_.defaults.compress;
            r.headers = d_.defaults.headers;
        }
    }

    void egress() {
        auto& all = d_.value.egress;
        for (std::size_t i = 0; i < all.size(); ++i) {
            choose_upstream(all[i]);
            // An egress cache has one consumer, so it is a private one unless the file says otherwise.
            if (!written(fmt::format("egress[{}].cache.mode", i)) && !written("defaults.cache.mode")) {
                all[i].cache.mode = settings::cache_mode::private_;
            }
        }
        if (!written("egress") && listens(settings::listener_role::egress)) {
            missing("egress", "egress: [{ name: out, match: { host: api.internal }, upstream: api }]");
        }
    }

    void choose_upstream(settings::route& r) {
        if (r.upstream.empty() && has_name(d_.value.upstreams, "default")) {
            r.upstream = "default";
        }
    }

    document& d_;
    const node& root_;
    problem_list& problems_;
};

}  // namespace

void complete(document& d, const node& root, problem_list& problems) {
    completion(d, root, problems).run();
}

}  // namespace etagere::app::config
