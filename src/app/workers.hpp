// How many threads the machine really gives us.
#pragma once

#include <string>

namespace etagere::app {

/// CPUs of a cgroup quota, rounded up: "150000 100000" (cgroup v2 cpu.max) is 2. 0 where there is no quota ("max …") or
/// the text is something else.
unsigned cpus_of_quota(const std::string& cpu_max) noexcept;

/// The smaller of the CPUs this process may run on and its container's quota; at least 1. A sidecar with 1.5 CPUs on a
/// machine of 64 runs 2 workers, not 64 that throttle each other.
unsigned default_workers();

}  // namespace etagere::app
