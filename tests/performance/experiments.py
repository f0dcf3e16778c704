"""What is no race between servers: how much memory things take, and what one client does to others. étagère alone.

An experiment is a function of (bench, quick) that returns Figures. Each starts étagère anew.
"""

import re
import resource
import socket
import statistics
import threading
import time

import machine
import servers
import workloads
from figures import Figure, ratio
from rounds import say

MIB = 2**20


class Fresh:
    """An étagère of its own for the length of a with: memory is counted from its start."""

    def __init__(self, bench, **settings):
        self.bench = bench
        self.kind = servers.Kind("etagere-fresh", "étagère", servers.etagere(**settings), ())

    def __enter__(self):
        self.site, self.port = self.bench.start(self.kind)
        return self

    def __exit__(self, *_):
        self.bench.stop(self.kind.name)

    def resident(self):
        return machine.memory_bytes(self.site.pids())[0]

    def metric(self, name):
        """Sum of the samples of one name."""
        text = servers.get(self.site.admin, "/metrics")[2].decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    def load(self, *arguments):
        """bench_load to its end; anything wrong ends the run."""
        answers, _ = self.bench.load(self.port, arguments)
        if answers["errors"] or answers["wrong_status"] or answers["wrong_length"]:
            raise machine.Failure(f"wrong answers: {answers}")
        return answers


def at_rest(bench, _quick):
    """The process before its first request."""
    with Fresh(bench) as etagere:
        return [Figure("5", "process at rest, resident", etagere.resident() / MIB, "MiB", 20)]


def open_files_for(connections):
    """The soft limit of open files may be 1,024."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise machine.Failure(f"{wanted} open files are needed; the limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def ask(connection, port, target, length):
    """One request on an open socket, its answer read to the end."""
    connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    got = b""
    while len(got.partition(b"\r\n\r\n")[2]) < length:
        more = connection.recv(65536)
        if not more:
            raise machine.Failure("a connection was closed that should have been kept")
        got += more


def idle_connections(bench, _quick, count=1000):
    """Bytes of the process for each connection that waits: after one request, and without any."""
    open_files_for(count)
    figures = []
    for text, asks in (("idle connection, after one request", True), ("idle connection, never used", False)):
        with Fresh(bench) as etagere:
            etagere.load("--target", "/c/1024", "--requests", 1000)
            before = etagere.resident()
            held = []
            try:
                for _ in range(count):
                    held.append(socket.create_connection(("127.0.0.1", etagere.port), timeout=10))
                    if asks:
                        ask(held[-1], etagere.port, "/c/1024", 1024)
                # One more request on the same worker: those before it have been accepted by then.
                etagere.load("--target", "/c/1024", "--requests", 1, "--connections", 1)
                each = (etagere.resident() - before) / count
            finally:
                for connection in held:
                    connection.close()
        figures.append(Figure("5", text, each, "bytes", 4096))
    return figures


def bytes_of_fields(port, target):
    """Of the field lines of the origin's answer, as they are sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        got = b"".join(iter(lambda: connection.recv(65536), b""))
    return len(got.partition(b"\r\n\r\n")[0].partition(b"\r\n")[2]) + 2


def stored_entries(bench, quick):
    """What an entry costs beyond its fields and its body, by the growth of the process and by étagère's own account."""
    count, body = 100_000 if quick else 1_000_000, 200
    fields = bytes_of_fields(bench.origin, f"/c/{body}/0")
    with Fresh(bench, memory="4GiB", log="off") as etagere:
        etagere.load("--target", "/c/1024", "--requests", 1000)
        before, counted = etagere.resident(), etagere.metric("etagere_store_bytes")
        etagere.load("--target", f"/c/{body}/{{k}}", "--keys", count, "--requests", count)
        entries = etagere.metric("etagere_store_entries")
        if entries < count:
            raise machine.Failure(f"{count} were to be stored, {entries:.0f} were")
        grown = (etagere.resident() - before) / count - fields - body
        accounted = (etagere.metric("etagere_store_bytes") - counted) / count - fields - body
    text = f"stored entry beyond its fields ({fields} bytes) and body, {count:,} entries"
    return [Figure("5", text, grown, "bytes", 400),
            Figure("5", "the same by etagere_store_bytes", accounted, "bytes")]


def churn(bench, quick):
    """Whether the budget holds while far more goes through the store than fits."""
    inserts, budget, slices = (400_000 if quick else 10_000_000), 256, 10
    sizes = []
    with Fresh(bench, memory=f"{budget}MiB", log="off") as etagere:
        for number in range(slices):
            part = inserts // slices
            etagere.load("--target", "/m/{k}", "--first", number * part, "--keys", part, "--requests", part)
            sizes.append(etagere.resident() / MIB)
            say(f"  {(number + 1) * part:,} inserts: {sizes[-1]:.1f} MiB resident, budget {budget} MiB")
        if etagere.metric("etagere_store_evictions_total") == 0:
            raise machine.Failure("nothing was evicted")
    full = sizes[slices // 2]
    text = f"resident over a budget of {budget} MiB, the most in {inserts:,} inserts"
    return [Figure("5", text, max(sizes) / budget, "×", 1.15),
            Figure("5", "the end of them over their middle", sizes[-1] / full, "×", 1.02)]


class SlowReader(threading.Thread):
    """Takes an answer of `size` bytes at `rate` bytes a second."""

    def __init__(self, port, size, rate):
        super().__init__(daemon=True)
        self.port, self.size, self.rate = port, size, rate
        self.ended, self.taken, self.failure = threading.Event(), 0, None
        self.began = time.monotonic()

    def run(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
                connection.sendall(f"GET /s/{self.size} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                while self.taken < self.size and not self.ended.is_set():
                    more = connection.recv(256 * 1024)
                    if not more:
                        raise OSError("the stream was cut")
                    self.taken += len(more)
                    time.sleep(max(0.0, self.began + self.taken / self.rate - time.monotonic()))
        except OSError as error:
            self.failure = error

    def wait_until_it_flows(self):
        while self.taken == 0 and self.is_alive():
            time.sleep(0.005)

    def stop(self):
        """Ends it; that it was not given what it asked for ends the run."""
        self.ended.set()
        self.join()
        if self.failure:
            raise machine.Failure(f"the slow reader: {self.failure}")
        if self.taken < 0.5 * self.rate * (time.monotonic() - self.began):
            raise machine.Failure(f"the slow reader wanted {self.rate} bytes a second and got {self.taken} in all")


def streaming(bench, quick):
    """Latency of others while one client takes 1 GiB through the same worker, slower than it could be sent."""
    workload, rounds = workloads.ALL["paced"], 3 if quick else 5
    alone, beside = [], []
    with Fresh(bench) as etagere:
        def measure():
            sample = bench.measure_quietly(workload, etagere.kind)
            if sample["errors"]:
                raise machine.Failure(f"beside a stream: {sample['errors']}")
            return sample

        bench.prime(workload, etagere.kind)
        for _ in range(rounds):
            alone.append(measure())
            reader = SlowReader(etagere.port, 2**30, 64 * MIB)
            reader.start()
            try:
                reader.wait_until_it_flows()
                beside.append(measure())
            finally:
                reader.stop()
    figures = []
    for name, at_most in (("p50", 1.5), ("p99", 2.0)):
        quiet, streamed = (statistics.median(s[f"{name}_us"] for s in samples) for samples in (alone, beside))
        say(f"  {name} alone {quiet:.0f} µs, beside the stream {streamed:.0f} µs")
        figures.append(Figure("4", f"{name} of others beside a stream of 1 GiB, over without it",
                              ratio(streamed, quiet), "×", at_most))
    return figures


ALL = {"rest": at_rest, "idle": idle_connections, "entries": stored_entries, "churn": churn, "streaming": streaming}
