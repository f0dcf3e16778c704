"""The machine as the kernel tells it: CPUs, time on them, memory, processes. Linux only, nothing but /proc."""

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1


class Failure(Exception):
    """What ends a run with a message instead of a trace."""


def pair_of_cpus():
    """(server's, client's): the first and the last that this process may use."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Failure("two CPUs are needed: one for the server, one for the client")
    return cpus[0], cpus[-1]


def free_port():
    """A port nobody has. Somebody may take it before the server does, which then says so and ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read(path):
    """A file of /proc; empty when its process has gone."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def stat_of(pid):
    """The fields of /proc/PID/stat from the state on, or none."""
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def descendants(pid):
    """`pid` and every process below it."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := stat_of(name)):
            children.setdefault(int(fields[1]), []).append(int(name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found


def cpu_seconds(pids):
    """Time on a CPU of all threads of `pids`, by the scheduler's own account: exact to the ns, unlike utime + stime."""
    total = 0
    for pid in pids:
        try:
            threads = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for thread in threads:
            if fields := read(f"/proc/{pid}/task/{thread}/schedstat").split():
                total += int(fields[0])
    return total / 1e9


def memory_bytes(pids):
    """(resident, proportional) bytes: what is shared counts in full, or by its share."""
    resident = proportional = 0
    for pid in pids:
        text = read(f"/proc/{pid}/smaps_rollup")
        for name, kilobytes in re.findall(r"^(Rss|Pss):\s+(\d+) kB$", text, re.M):
            if name == "Rss":
                resident += int(kilobytes) * 1024
            else:
                proportional += int(kilobytes) * 1024
    return resident, proportional


def busy_seconds():
    """Time that all CPUs worked since the start of the machine, and the time a hypervisor took from them."""
    user, nice, system, _, _, irq, softirq, steal = map(int, read("/proc/stat").split("\n", 1)[0].split()[1:9])
    tick = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / tick, steal / tick


def describe():
    model = re.search(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.M)
    return {"cpu": model[1] if model else "unknown", "cpus": os.cpu_count(), "kernel": os.uname().release,
            "date": time.strftime("%Y-%m-%d %H:%M:%S %z")}


class Process:
    """A program on the CPUs given, with everything that it starts. Ended by pid, and when this process dies."""

    def __init__(self, argv, cpus, log, *, env=None, stdout=None):
        self.argv, self.log_path = argv, log

        def prepare():
            os.sched_setaffinity(0, cpus)
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

        with open(log, "ab") as errors:
            # A session of its own: Ctrl-C reaches the harness alone, which then ends its processes in order.
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stdout or errors, stderr=errors,
                                            env={**os.environ, **(env or {})}, start_new_session=True,
                                            preexec_fn=prepare)

    def pids(self):
        return descendants(self.process.pid)

    def has_ended(self):
        return self.process.poll() is not None

    def tail(self):
        return read(self.log_path)[-2000:]

    def stop(self):
        """SIGTERM to the program, so that it ends its own; what is left of them after 8 s is killed."""
        family = {pid: stat_of(pid)[19:20] for pid in self.pids()}  # with start times: pids are used again
        if not self.has_ended():
            self.process.terminate()
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                pass
        for pid, started in family.items():
            if pid != self.process.pid and started and stat_of(pid)[19:20] == started:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if not self.has_ended():
            self.process.kill()
        self.process.wait()


def tool(path, *arguments, cpus, log):
    """Starts one of our own servers; returns (process, port), for they say where they listen."""
    out, into = os.pipe()
    with os.fdopen(out, "rb") as reader:
        with os.fdopen(into, "wb") as writer:
            process = Process([path, *map(str, arguments)], cpus, log, stdout=writer)
        words = reader.readline().split()
    if len(words) != 2 or words[0] != b"listening":
        process.stop()
        raise Failure(f"{path} does not start: {process.tail()}")
    return process, int(words[1])


def remove(directory):
    shutil.rmtree(directory, ignore_errors=True)
