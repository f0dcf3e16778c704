"""Measuring: one run of the load generator against one server, on CPUs of their own, while nobody else works."""

import json
import os
import subprocess
import sys
import time

import figures
import machine
import servers

FOREIGN = 0.15          # of a CPU: more, and the sample is taken again
ATTEMPTS = 4


def say(text):
    print(text, file=sys.stderr, flush=True)


class Bench:
    """The origin and the servers that run. Use as a context: everything started is ended with it."""

    def __init__(self, *, scratch, tools, etagere, seconds, attempts=ATTEMPTS):
        self.scratch, self.tools, self.etagere = scratch, tools, etagere
        self.seconds, self.attempts = seconds, attempts
        self.server_cpu, self.client_cpu = machine.pair_of_cpus()
        self.running, self.samples, self.primed = {}, [], set()

    def __enter__(self):
        self.affinity = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {self.client_cpu})      # what the harness itself does is the client's business
        self.origin_process, self.origin = machine.tool(os.path.join(self.tools, "bench_origin"),
                                                        cpus={self.client_cpu},
                                                        log=os.path.join(self.scratch, "origin.log"))
        return self

    def __exit__(self, *_):
        try:
            self.stop_all()
        finally:
            self.origin_process.stop()
            os.sched_setaffinity(0, self.affinity)

    # Servers

    def start(self, kind):
        """Starts a server unless it runs; returns (site, port)."""
        if kind.name in self.running:
            return self.running[kind.name]
        cpus = {self.server_cpu, self.client_cpu} if kind.both_cpus else {self.server_cpu}
        site = servers.Site(directory=os.path.join(self.scratch, f"{kind.name}-{len(os.listdir(self.scratch))}"),
                            cpus=cpus, origin=self.origin, tools=self.tools, etagere=self.etagere)
        try:
            port = kind.start(site)
            target = "/n/1024" if kind.name == "relay" else "/c/10240"
            servers.wait_until_ready(site, port, target)
        except BaseException:
            site.stop()
            raise
        self.running[kind.name] = site, port
        return site, port

    def stop(self, name):
        site, _ = self.running.pop(name)
        self.primed = {place for place in self.primed if place[1] != name}
        site.stop()

    def stop_all(self):
        for name in list(self.running):
            self.stop(name)

    def reached(self):
        return json.loads(servers.get(self.origin, "/_count")[2])

    # The load generator

    def load(self, port, arguments, *, cpus=None):
        """Runs bench_load to its end: (what it says, CPU seconds that it took)."""
        before = os.times()
        done = subprocess.run([os.path.join(self.tools, "bench_load"), "--port", str(port), *map(str, arguments)],
                              stdout=subprocess.PIPE, check=True, timeout=3600,
                              preexec_fn=lambda: os.sched_setaffinity(0, cpus or {self.client_cpu}))
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return json.loads(done.stdout), used

    def prime(self, workload, kind):
        """Brings everything that will be asked into the cache: until nothing of it reaches the origin any more, for a
        store may take what it is given a little later."""
        place = (workload.name, kind.name)
        if place in self.primed:
            return
        _, port = self.start(kind)
        for _ in range(5):
            before = self.reached()["requests"]
            answers, _ = self.load(port, workload.prime_arguments())
            if answers["errors"] or answers["wrong_status"]:
                raise machine.Failure(f"{kind.name} does not answer {workload.target} as it should: {answers}")
            if workload.reaches != "never" or self.reached()["requests"] == before:
                break
        self.primed.add(place)

    # One sample

    def measure_quietly(self, workload, kind):
        """Again while others use the machine, a few times; the last sample then says so."""
        for attempt in range(1, self.attempts + 1):
            sample = self.measure_once(workload, kind)
            if not sample["noise"]:
                break
        return {**sample, "attempts": attempt}

    def measure(self, workload, kind, round_number):
        sample = {**self.measure_quietly(workload, kind), "round": round_number}
        self.samples.append(sample)
        say(f"  {workload.name:14} {kind.name:18} {sample['cpu_us']:8.2f} µs  {sample['rps']:8.0f}/s  "
            f"p99 {sample['p99_us']:7.0f} µs  {' '.join(sample['errors'])} {sample['noise']}")
        return sample

    def measure_once(self, workload, kind):
        site, port = self.start(kind)
        cpus = {self.server_cpu, self.client_cpu} if kind.both_cpus else None
        own = [os.getpid()]
        origin = self.origin_process.pids()
        counted = self.reached()
        server_before, origin_before = machine.cpu_seconds(site.pids()), machine.cpu_seconds(origin)
        own_before, (busy_before, steal_before) = machine.cpu_seconds(own), machine.busy_seconds()
        began = time.monotonic()
        answers, client = self.load(port, [*workload.load_arguments(), "--seconds", self.seconds], cpus=cpus)
        wall = time.monotonic() - began
        busy, steal = machine.busy_seconds()
        server = machine.cpu_seconds(site.pids()) - server_before
        known = (server + client + machine.cpu_seconds(origin) - origin_before + machine.cpu_seconds(own) - own_before)
        foreign = max(0.0, busy - busy_before - known) / wall
        stolen = (steal - steal_before) / wall
        resident, proportional = machine.memory_bytes(site.pids())
        now = self.reached()
        forwards = workload.name in ("pass",) or not kind.name.startswith("limit")
        reached = {name: now[name] - counted[name] for name in now} if forwards else None
        if site.access_log and os.path.exists(site.access_log):
            os.truncate(site.access_log, 0)     # étagère appends: the next line is again the first
        return {
            "workload": workload.name, "server": kind.name,
            "cpu_us": server * 1e6 / max(1, answers["requests"]), "rps": answers["requests"] / answers["seconds"],
            "p50_us": answers["p50_us"], "p99_us": answers["p99_us"], "requests": answers["requests"],
            "rss": resident, "pss": proportional, "server_share": server / wall, "client_share": client / wall,
            "foreign": foreign, "stolen": stolen,
            "noise": f"others took {foreign + stolen:.0%} of a CPU" if foreign + stolen > FOREIGN else "",
            "errors": figures.errors_of(workload, answers, reached),
        }

    def run(self, series, rounds):
        """Every cell of a series in turns, so that whatever happens to the machine happens to all of them."""
        say(f"{series.name}: {series.title}")
        for workload, kind in series.cells:
            self.prime(workload, kind)
        for number in range(rounds):
            turn = number % len(series.cells)
            for workload, kind in (*series.cells[turn:], *series.cells[:turn]):
                if number == 0 or not kind.slow:
                    self.measure(workload, kind, number)
