"""What is asked of the servers. The targets are those of tools/documents.hpp."""

import dataclasses

ETAG = '"bench-v1"'


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    title: str
    target: str
    body: int
    status: int = 200
    fields: tuple = ()
    keys: int = 1
    order: str = "sequential"
    close: bool = False
    reaches: str = "never"      # the origin: never | always | conditionally (asked If-None-Match, says 304)
    connections: int = 64
    rate: int = 0               # requests a second; 0: as many as can be

    def load_arguments(self):
        """For bench_load, to be measured."""
        arguments = ["--target", self.target, "--status", self.status, "--body", self.body, "--connections",
                     self.connections, "--keys", self.keys, "--order", self.order]
        for field in self.fields:
            arguments += ["--field", field]
        if self.close:
            arguments += ["--close"]
        if self.rate:
            arguments += ["--rate", self.rate]
        return arguments

    def prime_arguments(self):
        """For bench_load: each key once and unconditionally, so that everything is stored."""
        arguments = ["--target", self.target, "--connections", min(16, self.keys), "--keys", self.keys, "--requests",
                     self.keys]
        for field in self.fields:
            if not field.startswith("If-None-Match"):
                arguments += ["--field", field]
        return arguments


CONDITION = (f"If-None-Match: {ETAG}",)

ALL = {w.name: w for w in (
    Workload("hit-1k", "hit 200, 1 KB", "/c/1024", 1024),
    Workload("hit-10k", "hit 200, 10 KB", "/c/10240", 10240),
    Workload("hit-100k", "hit 200, 100 KB", "/c/102400", 102400),
    Workload("not-modified", "If-None-Match → 304", "/c/1024", 0, status=304, fields=CONDITION),
    Workload("keys-uniform", "10,000 URLs of 2 KB, uniform", "/c/2048/{k}", 2048, keys=10000, order="uniform"),
    Workload("keys-zipf", "10,000 URLs of 2 KB, Zipf(1.0)", "/c/2048/{k}", 2048, keys=10000, order="zipf:1.0"),
    Workload("pass", "uncacheable pass-through, 1 KB", "/n/1024", 1024, reaches="always"),
    Workload("close", "connection per request, 1 KB", "/c/1024", 1024, close=True),
    # Many URLs, because requests for one at one time would be one conditional request to the origin.
    Workload("revalidate", "revalidation: 304 from the origin, stored 200 out, 1 KB", "/v/1024/{k}", 1024, keys=10000,
             order="uniform", reaches="conditionally"),
    Workload("memcached-10k", "hit out of memcached, 10 KB", "/c/10240", 10240),
    Workload("memcached-304", "304 out of memcached", "/c/10240", 0, status=304, fields=CONDITION),
    Workload("stored-small", "1,000 stored keys, 200 bytes", "/c/200/{k}", 200, keys=1000, order="uniform"),
    Workload("stored-large", "1,000,000 stored keys, 200 bytes", "/c/200/{k}", 200, keys=1000000, order="uniform"),
    Workload("variants-1", "one variant of one URL", "/y/1024", 1024, fields=("X-Variant: {k}",)),
    Workload("variants-20", "20 variants of one URL", "/y/1024", 1024, fields=("X-Variant: {k}",), keys=20,
             order="uniform"),
    Workload("paced", "hit 200, 1 KB, 2,000 a second", "/c/1024", 1024, connections=8, rate=2000),
)}


def scaled(workload, keys):
    """The same with fewer keys, for short runs; its title says so."""
    title = workload.title.replace(f"{workload.keys:,}", f"{keys:,}")
    return dataclasses.replace(workload, keys=keys, title=title)
