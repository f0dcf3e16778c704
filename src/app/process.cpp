#include "process.hpp"

#include "etagere/observe/log.hpp"

#include "assemble.hpp"
#include "explain_pages.hpp"
#include "purge_page.hpp"
#include "stores.hpp"
#include "version.hpp"
#include "workers.hpp"

#include <csignal>
#include <cstdlib>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

namespace etagere::app {

namespace {

constexpr std::string_view component = "process";
constexpr milliseconds poll_every{20};   // of the drain: are the connections gone?
constexpr milliseconds cut_grace{1000};  // for cut connections to end

log::level level_of(settings::log_level l) {
    switch (l) {
        case settings::log_level::trace: return log::level::trace;
        case settings::log_level::debug: return log::level::debug;
        case settings::log_level::info: return log::level::info;
        case settings::log_level::warn: return log::level::warn;
        case settings::log_level::error: break;
    }
    return log::level::error;
}

result<std::shared_ptr<observe::log_output>> open_output(const std::string& where) {
    auto out = observe::log_output::open(where);
    if (!out) {
        log::error(component, "log_output_failed", "the access log cannot be opened",
                   {{"output", where}, {"err", out.error().message()}});
    }
    return out;
}

void log_problems(const std::vector<config_problem>& problems) {
    for (const config_problem& p : problems) {
        const bool is_error = p.level == severity::error;
        log::write(is_error ? log::level::error : log::level::warn, "config",
                   is_error ? "config_error" : "config_warning", p.message,
                   {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"path", p.path}, {"hint", p.hint}});
    }
}

}  // namespace

class worker_thread final : private exchange::observer {
public:
    worker_thread(unsigned number, std::shared_ptr<const exchange::runtime> config, exchange::collapse_table& collapse,
                  observe::metrics& metrics, bool count, observe::access_log& access)
        : on_(number),
          metrics_(metrics),
          counters_(count ? &metrics.of(number) : nullptr),
          access_(access),
          state_(on_, std::move(config), collapse, *this),
          ingress_(state_, exchange::role::ingress),
          egress_(state_, exchange::role::egress) {}

    ~worker_thread() override {
        on_.io().stop();
        if (thread_.joinable()) thread_.join();
    }
    worker_thread(const worker_thread&) = delete;
    worker_thread& operator=(const worker_thread&) = delete;

    void start() {
        thread_ = std::thread([this] { on_.io().run(); });
    }
    template <class F> void post(F f) { net::asio::post(on_.executor(), std::move(f)); }

    // On the worker's thread, by post().
    void adopt(std::shared_ptr<const exchange::runtime> next) { state_.adopt(std::move(next)); }
    void listen(const settings::listener& l, int descriptor, std::uint16_t port,
                std::shared_ptr<std::atomic<std::uint32_t>> open) {
        net::handler& behind = l.role == settings::listener_role::egress ? egress_ : ingress_;
        auto& slot = acceptors_[l.name];
        slot = std::make_unique<net::acceptor>(on_, descriptor, port, options_of(l), behind, connections_,
                                               std::move(open));
        slot->start();
    }
    void change(const settings::listener& l) {
        if (const auto it = acceptors_.find(l.name); it != acceptors_.end()) it->second->set_options(options_of(l));
    }
    void close(const std::string& listener) { acceptors_.erase(listener); }
    void drain() {
        acceptors_.clear();
        connections_.drain();
        state_.drain();
    }
    void cut() { connections_.cut(); }

private:
    net::listener_options options_of(const settings::listener& l) const {
        net::listener_options o = listener_options_of(l);
        o.label = metrics_.listener(l.name);
        return o;
    }

    void began(std::uint32_t listener) override {
        if (counters_) counters_->in_flight(listener, 1);
    }
    void observe(const observe::record& r) override {
        if (counters_) {
            counters_->in_flight(r.listener_index, -1);
            counters_->observe(r);
        }
        access_.write(on_.number(), r);
    }
    void refreshed(std::uint32_t route, refresh how) override {
        if (!counters_) return;
        switch (how) {
            case refresh::revalidated: counters_->refreshed(route, observe::refresh_result::revalidated); break;
            case refresh::changed: counters_->refreshed(route, observe::refresh_result::changed); break;
            case refresh::failed: counters_->refreshed(route, observe::refresh_result::failed); break;
        }
    }
    void audited(std::uint32_t route, audit how) override {
        if (!counters_) return;
        switch (how) {
            case audit::true_304: counters_->audited(route, observe::audit_result::true_304); break;
            case audit::wrong_304: counters_->audited(route, observe::audit_result::wrong_304); break;
            case audit::churn: counters_->audited(route, observe::audit_result::churn); break;
        }
    }

    void purged(observe::purge_kind kind, bool soft, std::size_t generations) override {
        metrics_.purged(kind, soft, generations);
    }

    net::connection_registry connections_;  // outlives what is suspended in `on_`
    net::worker on_;
    net::asio::executor_work_guard<net::io_executor> keep_running_{on_.executor()};
    observe::metrics& metrics_;
    observe::worker_counters* const counters_;  // none: metrics are off
    observe::access_log& access_;
    exchange::worker_state state_;
    exchange::proxy ingress_;
    exchange::proxy egress_;
    std::map<std::string, std::unique_ptr<net::acceptor>> acceptors_;
    std::thread thread_;
};

process::process(settings::settings first, std::function<config_result()> load)
    : load_(std::move(load)),
      worker_count_(first.workers > 0 ? first.workers : default_workers()),
      metrics_on_(first.observability.metrics.enabled),
      metrics_(worker_count_, {std::string(version), std::string(revision)}),
      control_(worker_count_) {
    app_log_lane_ = log_writer_.open_lane(std::make_shared<observe::log_output>(1));
    log::attach(app_log_lane_);
    log::set_level(level_of(first.observability.log_level));
    const settings::access_log& access = first.observability.access_log;
    const auto output = open_output(access.output);
    if (!output) {
        exit_code_ = exit_unreachable;
        return;
    }
    access_log_ = std::make_unique<observe::access_log>(log_writer_, worker_count_, access_options_of(access), *output);
    auto made = assemble(std::move(first), nullptr, metrics_);
    if (made) {
        running_ = std::move(*made);
    } else {  // the loader refuses such a file before
        log::error(component, "config_error", made.error());
        exit_code_ = exit_config;
    }
}

process::~process() {
    admin_acceptors_.clear();
    workers_.clear();
    log_writer_.flush(milliseconds{2000});
    log::attach(nullptr);
}

result<void> process::listen(const settings::settings& config) {
    struct opened {
        const settings::listener* settings;
        net::bound_listener bound;
    };
    std::vector<opened> fresh;  // all are bound before one is used: a reload is all or nothing
    for (const settings::listener& l : config.listeners) {
        const auto it = listening_.find(l.name);
        if (it != listening_.end() && it->second.settings.at == l.at && it->second.settings.role == l.role) continue;
        const bool admin = l.role == settings::listener_role::admin;
        result<net::bound_listener> bound = net::bound_listener::bind(bind_address_of(l), admin ? 1 : worker_count_);
        if (!bound) {
            const std::string where = l.at.kind == settings::transport::unix_socket
                                          ? "unix:" + l.at.path
                                          : l.at.host + ":" + std::to_string(l.at.port);
            log::error(component, "bind_failed", "cannot listen",
                       {{"listener", l.name}, {"address", where}, {"err", bound.error().message()}});
            return std::unexpected(bound.error());
        }
        fresh.push_back({&l, std::move(*bound)});
    }
    for (opened& o : fresh) {
        const settings::listener& l = *o.settings;
        auto open = std::make_shared<std::atomic<std::uint32_t>>(0);
        if (l.role == settings::listener_role::admin) {
            admin_acceptors_.erase(l.name);
            admin_handlers_[l.name] = std::make_unique<admin::admin_handler>(
                admin_options_of(l, config),
                admin::admin_functions{[this] { return readiness(); }, [this] { return metrics_.render(); },
                                       admin_pages()});
            admin_acceptors_[l.name] =
                std::make_unique<net::acceptor>(control_, o.bound.take(0), o.bound.port(), listener_options_of(l),
                                                *admin_handlers_[l.name], control_connections_, open);
            admin_acceptors_[l.name]->start();
        } else {
            for (unsigned i = 0; i < worker_count_; ++i) {
                workers_[i]->post([w = workers_[i].get(), l, fd = o.bound.take(i), port = o.bound.port(), open] {
                    w->listen(l, fd, port, open);
                });
            }
        }
        listening_[l.name] = {l, open, o.bound.port()};
        log::info(component, "listening", "listening",
                  {{"listener", l.name}, {"address", o.bound.text()}, {"port", o.bound.port()}});
    }
    return {};
}

void process::close_unlisted(const settings::settings& config) {
    for (auto it = listening_.begin(); it != listening_.end();) {
        const auto wanted = std::ranges::find(config.listeners, it->first, &settings::listener::name);
        if (wanted != config.listeners.end()) {
            if (!(it->second.settings == *wanted)) {
                it->second.settings = *wanted;
                for (const auto& w : workers_) w->post([w = w.get(), l = *wanted] { w->change(l); });
            }
            ++it;
            continue;
        }
        for (const auto& w : workers_) w->post([w = w.get(), name = it->first] { w->close(name); });
        admin_acceptors_.erase(it->first);
        log::info(component, "listener_closed", "no longer listening", {{"listener", it->first}});
        it = listening_.erase(it);
    }
}

void process::reload() {
    const auto failed = [this](std::string_view why) {
        last_reload_failed_ = true;
        metrics_.config_reloaded(false, control_.now().wall);
        log::error(component, "reload_failed", "the configuration before stays in force", {{"err", why}});
    };
    config_result next = load_();
    log_problems(next.problems);
    if (!next.ok()) return failed("the file has errors");
    if (next.value.workers != running_->config.workers) {
        log::warn(component, "reload_ignored", "the number of workers changes with a restart only");
    }
    if (next.value.observability.metrics.enabled != metrics_on_) {
        log::warn(component, "reload_ignored", "metrics are switched on and off with a restart only");
    }
    auto made = assemble(std::move(next.value), running_.get(), metrics_);
    if (!made) return failed(made.error());
    const auto output = open_output((*made)->config.observability.access_log.output);
    if (!output) return failed("cannot open the access log: " + output.error().message());
    const result<void> bound = listen((*made)->config);
    if (!bound) return failed("cannot listen: " + bound.error().message());
    running_ = std::move(*made);
    for (const auto& w : workers_) w->post([w = w.get(), config = running_] { w->adopt(config); });
    close_unlisted(running_->config);
    for (const settings::listener& l : running_->config.listeners) {
        if (const auto it = admin_handlers_.find(l.name); it != admin_handlers_.end()) {
            it->second->configure(admin_options_of(l, running_->config));
        }
    }
    log::set_level(level_of(running_->config.observability.log_level));
    access_log_->configure(access_options_of(running_->config.observability.access_log), *output);
    set_sources();
    last_reload_failed_ = false;
    metrics_.config_reloaded(true, control_.now().wall);
    log::info(component, "reloaded", "the new configuration is in force");
}

admin::admin_options process::admin_options_of(const settings::listener& l, const settings::settings& config) const {
    // Whether there are metrics was settled at the start: see metrics_on_.
    return {.metrics_path = metrics_on_ ? config.observability.metrics.path : "", .token = l.token, .hosts = {}};
}

std::string process::listening_at(exchange::role as) const {
    const auto wanted =
        as == exchange::role::egress ? settings::listener_role::egress : settings::listener_role::ingress;
    for (const settings::listener& l : running_->config.listeners) {
        const auto it = listening_.find(l.name);
        if (l.role != wanted || it == listening_.end()) continue;
        if (l.at.kind == settings::transport::unix_socket) return "unix:" + l.at.path;
        const bool any = l.at.host.empty() || l.at.host == "0.0.0.0" || l.at.host == "::";
        const bool v6 = !any && l.at.host.contains(':');
        const std::string host = any ? "127.0.0.1" : v6 ? "[" + l.at.host + "]" : l.at.host;
        return host + ":" + std::to_string(it->second.port);
    }
    return "localhost";
}

std::vector<admin::page> process::admin_pages() {
    std::vector<admin::page> all = explain_pages(
        {[this] { return running_; }, [this](exchange::role as) { return listening_at(as); }, &collapse_, &control_});
    all.push_back(purge_page([this] { return running_; }, metrics_, control_));
    return all;
}

admin::readiness process::readiness() const {
    admin::readiness r;
    r.ready = ready_;
    r.state = draining_ ? "draining" : ready_ ? "ready" : "starting";
    r.checks.push_back({"config", !last_reload_failed_,
                        last_reload_failed_ ? "the last reload failed; the configuration before is in force" : ""});
    for (std::size_t i = 0; i < running_->stores.size(); ++i) {
        std::string down;
        for (const store::server_stats& server : running_->stores[i]->stats().servers) {
            if (server.breaker == store::breaker_state::closed) continue;
            if (!down.empty()) down += ", ";
            down += server.name;
        }
        // A dead store costs hits, not readiness.
        r.checks.push_back(
            {"store " + running_->config.stores[i].name, down.empty(), down.empty() ? "" : "not answering: " + down});
    }
    return r;
}

std::uint32_t process::open_connections() const {
    std::uint32_t sum = 0;
    for (const auto& [name, l] : listening_) {
        if (l.settings.role != settings::listener_role::admin) sum += l.open->load(std::memory_order_relaxed);
    }
    return sum;
}

void process::set_sources() {
    observe::fact_sources s;
    s.connections = [counts = listening_] {
        std::vector<observe::connection_facts> out;
        for (const auto& [name, l] : counts) out.push_back({name, "http1", l.open->load(std::memory_order_relaxed)});
        return out;
    };
    s.stores = [config = running_] {
        std::vector<observe::store_facts> out;
        for (std::size_t i = 0; i < config->stores.size(); ++i) {
            out.push_back(facts_of(config->config.stores[i].name, *config->stores[i]));
        }
        return out;
    };
    s.upstreams = [config = running_] {
        std::vector<observe::upstream_facts> out;
        for (std::size_t i = 0; i < config->upstreams.size(); ++i) {
            const upstream::totals t = upstream::read_totals(*config->upstreams[i]);
            out.push_back({config->config.upstreams[i].name, t.active, t.idle, t.queued, t.queue_rejected, t.retries,
                           t.connects, t.connect_failures});
        }
        return out;
    };
    s.log_lines_dropped = [this] { return log_writer_.dropped(); };
    metrics_.read_from(std::move(s));
}

net::task<void> process::drain() {
    const settings::shutdown& how = running_->config.shutdown;
    net::steady_timer timer(control_.io());
    ready_ = false;
    log::info(component, "draining", "no longer ready; finishing what is under way",
              {{"connections", open_connections()}});
    if (how.readiness_delay.count() > 0) {
        timer.expires_after(how.readiness_delay);
        (void)co_await timer.async_wait(net::use_task);
    }
    for (const auto& w : workers_) w->post([w = w.get()] { w->drain(); });
    const steady_time end = control_.now().steady + how.drain;
    int code = exit_clean;
    while (open_connections() > 0) {
        if (control_.now().steady >= end) {
            if (code == exit_cut) break;  // even cut connections did not end within their grace
            code = exit_cut;
            log::warn(component, "drain_deadline", "connections are cut", {{"connections", open_connections()}});
            for (const auto& w : workers_) w->post([w = w.get()] { w->cut(); });
            timer.expires_after(cut_grace);
            (void)co_await timer.async_wait(net::use_task);
            continue;
        }
        timer.expires_after(poll_every);
        (void)co_await timer.async_wait(net::use_task);
    }
    finish(code);
}

void process::finish(int code) {
    exit_code_ = code;
    log::info(component, "stopped", "bye", {{"exit_code", code}});
    if (open_connections() > 0) {
        // What is still under way waits for an origin or a store and would have to be taken apart under them. Nothing
        // that it holds outlives the process: the lines are written, and that is all.
        log_writer_.flush(milliseconds{1000});
        std::_Exit(code);
    }
    control_.io().stop();
}

namespace {

/// The soft limit of 1,024 is there for programs that call select(); this one does not, and each connection is a file.
void allow_all_files() noexcept {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int process::run() {
    if (exit_code_ != exit_clean) return exit_code_;
    std::signal(SIGPIPE, SIG_IGN);
    allow_all_files();
    for (unsigned i = 0; i < worker_count_; ++i) {
        workers_.push_back(
            std::make_unique<worker_thread>(i, running_, collapse_, metrics_, metrics_on_, *access_log_));
    }
    net::asio::basic_signal_set<net::io_executor> signals(control_.executor(), SIGTERM, SIGINT, SIGHUP);
    signals.add(SIGUSR1);
    std::function<void(const error_code&, int)> on_signal = [&](const error_code& ec, int number) {
        if (ec) return;
        if (number == SIGHUP) {
            reload();
        } else if (number == SIGUSR1) {
            log_writer_.reopen();
        } else if (!draining_) {
            draining_ = true;
            net::spawn(control_.executor(), drain());
        } else {
            finish(exit_cut);  // asked twice: at once
        }
        signals.async_wait(on_signal);
    };
    signals.async_wait(on_signal);

    if (const result<void> bound = listen(running_->config); !bound) return exit_unreachable;
    set_sources();
    metrics_.config_loaded(control_.now().wall);
    for (const auto& w : workers_) w->start();
    ready_ = true;
    log::info(component, "ready", "serving", {{"workers", worker_count_}, {"version", version}});
    control_.io().run();
    return exit_code_;
}

}  // namespace etagere::app
