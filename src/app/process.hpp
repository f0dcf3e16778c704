// The running process: worker threads, listeners, reload and drain. The main thread is the control thread: it serves
// the admin listeners and the signals, and never a proxied request, so that both answer while the workers are busy.
#pragma once

#include "etagere/admin/admin.hpp"
#include "etagere/app/config.hpp"
#include "etagere/exchange/proxy.hpp"
#include "etagere/net/listener.hpp"
#include "etagere/observe/access_log.hpp"
#include "etagere/observe/log_writer.hpp"
#include "etagere/observe/metrics.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace etagere::app {

enum exit_code : int {  // NOLINT(performance-enum-size): what exit() takes
    exit_clean = 0,
    exit_failed = 1,
    exit_usage = 2,
    exit_config = 3,
    exit_unreachable = 4,
    exit_cut = 5,
    exit_internal = 70,
};

/// One worker thread and everything that lives on it.
class worker_thread;

class process {
public:
    /// `load` reads the configuration file again, for reloads.
    process(settings::settings first, std::function<config_result()> load);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    /// Binds, serves until a signal ends it, drains. Returns an exit_code.
    int run();

private:
    struct listening {
        settings::listener settings;
        std::shared_ptr<std::atomic<std::uint32_t>> open;  // connections, all workers
        std::uint16_t port = 0;                            // bound one, where it is no Unix socket
    };

    result<void> listen(const settings::settings& config);
    void close_unlisted(const settings::settings& config);
    void reload();
    net::task<void> drain();
    void finish(int code);
    std::uint32_t open_connections() const;
    void set_sources();
    std::string listening_at(exchange::role as) const;
    std::vector<admin::page> admin_pages();
    admin::admin_options admin_options_of(const settings::listener& l, const settings::settings& config) const;
    admin::readiness readiness() const;

    std::function<config_result()> load_;
    unsigned worker_count_;
    const bool metrics_on_;  // for as long as we run: counters that begin in the middle would tell less than none
    observe::metrics metrics_;
    observe::log_writer log_writer_;
    std::shared_ptr<observe::log_lane> app_log_lane_;
    std::unique_ptr<observe::access_log> access_log_;
    std::shared_ptr<const exchange::runtime> running_;
    exchange::collapse_table collapse_;
    std::map<std::string, listening> listening_;    // by listener name
    net::connection_registry control_connections_;  // outlives what is suspended in `control_`
    net::worker control_;
    std::map<std::string, std::unique_ptr<admin::admin_handler>> admin_handlers_;
    std::map<std::string, std::unique_ptr<net::acceptor>> admin_acceptors_;
    std::vector<std::unique_ptr<worker_thread>> workers_;
    bool ready_ = false;  // these three belong to the control thread
    bool draining_ = false;
    bool last_reload_failed_ = false;
    int exit_code_ = exit_clean;
};

}  // namespace etagere::app
