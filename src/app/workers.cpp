#include "workers.hpp"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <sstream>

namespace etagere::app {

unsigned cpus_of_quota(const std::string& cpu_max) noexcept {
    std::istringstream in(cpu_max);
    long long quota = 0;
    long long period = 0;
    if (!(in >> quota >> period) || quota <= 0 || period <= 0) return 0;
    return static_cast<unsigned>(std::clamp((quota + period - 1) / period, 1LL, 1024LL));
}

namespace {

std::string read_line(const char* path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

}  // namespace

unsigned default_workers() {
    unsigned cpus = 1;
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) == 0) cpus = static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    unsigned quota = cpus_of_quota(read_line("/sys/fs/cgroup/cpu.max"));
    if (quota == 0) {  // cgroup v1
        quota = cpus_of_quota(read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " +
                              read_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
    }
    return quota == 0 ? cpus : std::min(cpus, quota);
}

}  // namespace etagere::app
