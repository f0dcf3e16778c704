"""Which cells are measured together, and which ratios are wanted of them."""

import dataclasses

import servers
import workloads
from figures import Goal


@dataclasses.dataclass(frozen=True)
class Series:
    name: str
    title: str
    group: str          # servers of one group run at the same time
    cells: tuple        # of (workload, kind)
    more_rounds: int = 1


SERVED = ("hit-1k", "hit-10k", "hit-100k", "not-modified", "keys-uniform", "keys-zipf", "pass", "close", "revalidate")
MEMCACHED = ("memcached-10k", "memcached-304")


def of_all_servers(group, name, chosen):
    workload = workloads.ALL[name]
    cells = tuple((workload, kind) for kind in servers.ALL.values()
                  if name in kind.workloads and (not chosen or kind.name in chosen))
    return Series(name, workload.title, group, cells)


def against_itself(name, title, *cells, more_rounds=1):
    return Series(name, title, name, tuple((w, servers.ALL[kind]) for w, kind in cells), more_rounds)


def series(chosen_servers, stored_keys):
    """All of them, in order. Growth and switches are étagère against itself."""
    w = workloads.ALL
    large = workloads.scaled(w["stored-large"], stored_keys)
    every = [of_all_servers("served", name, chosen_servers) for name in SERVED]
    every += [of_all_servers("memcached", name, chosen_servers) for name in MEMCACHED]
    every += [
        against_itself("stored", f"{large.title} against 1,000", (w["stored-small"], "etagere"),
                       (large, "etagere-large")),
        against_itself("routes", "1,000 routes against one", (w["hit-1k"], "etagere"), (w["hit-1k"], "etagere-routes")),
        against_itself("workers", "two workers against one", (w["hit-1k"], "etagere-one"),
                       (w["hit-1k"], "etagere-two")),
        against_itself("variants", "20 variants of one URL against one", (w["variants-1"], "etagere"),
                       (w["variants-20"], "etagere")),
        against_itself("switches", "collapsing, metrics and log off", (w["hit-1k"], "etagere"),
                       (w["hit-1k"], "etagere-alone"), (w["hit-1k"], "etagere-nometrics"),
                       (w["hit-1k"], "etagere-nolog"), more_rounds=2),
    ]
    return [s for s in every if s.cells]


NGINX = ("nginx", "nginx-copy")
LIMIT = ("limit", "limit-sendfile")


def goals(stored_keys):
    """Those of issue 4 that are ratios of cells."""
    def against(part, text, workload, who, at_most, *, aim=None, metric="cpu_us", ours="etagere", over=None):
        who = (who,) if isinstance(who, str) else who
        return Goal(part, text, (workload, ours), tuple((over or workload, name) for name in who), at_most, metric, aim)

    out = []
    for name, text in (("hit-1k", "hit 1 KB"), ("hit-10k", "hit 10 KB"), ("not-modified", "304")):
        out.append(against("1", f"{text}: HAProxy", name, "haproxy", 0.85, aim=0.75))
        out.append(against("1", f"{text}: limit", name, LIMIT, 1.3))
    out += [
        against("1", "hit 100 KB: nginx", "hit-100k", NGINX, 1.0),
        against("1", "10,000 URLs, uniform: nginx, HAProxy", "keys-uniform", (*NGINX, "haproxy"), 0.6),
        against("1", "10,000 URLs, Zipf: nginx, HAProxy", "keys-zipf", (*NGINX, "haproxy"), 0.7),
        against("2", "pass-through: HAProxy", "pass", "haproxy", 0.9),
        against("2", "memcached hit 10 KB: nginx's module", "memcached-10k", "nginx-memcached", 0.6, aim=0.5,
                ours="etagere-memcached"),
        against("2", "304 out of memcached: nginx's module, 200 of 10 KB", "memcached-304", "nginx-memcached", 0.45,
                ours="etagere-memcached", over="memcached-10k"),
        against("2", "connection per request: HAProxy", "close", "haproxy", 1.0),
        against("2", "revalidation: our pass-through", "revalidate", "etagere", 1.15, over="pass"),
    ]
    for name in SERVED:
        if name in servers.ALL["haproxy"].workloads:
            title = workloads.ALL[name].title
            out.append(against("3", f"p50, {title}: HAProxy", name, "haproxy", 1.0, metric="p50_us"))
            out.append(against("3", f"p99, {title}: HAProxy", name, "haproxy", 0.8, metric="p99_us"))
    for name in (*servers.HITS, "close"):
        title = workloads.ALL[name].title
        out.append(against("3", f"{title}: Rack::Cache, 40 × the requests", name, "rack-cache", 1 / 40))
    out.append(against("3", "memcached hit 10 KB: Rack::Cache", "memcached-10k", "rack-cache", 1 / 40,
                       ours="etagere-memcached"))
    out += [
        against("4", f"{stored_keys:,} keys: 1,000", "stored-large", "etagere", 1.3, ours="etagere-large",
                over="stored-small"),
        against("4", "1,000 routes: one", "hit-1k", "etagere", 1.1, ours="etagere-routes"),
        against("4", "two workers: one", "hit-1k", "etagere-one", 1.1, ours="etagere-two"),
        against("4", "20 variants: one", "variants-20", "etagere", 1.2, over="variants-1"),
        against("6", "collapsing: without", "hit-1k", "etagere-alone", 1.05),
        against("6", "metrics: without", "hit-1k", "etagere-nometrics", 1.05),
        against("6", "log: without", "hit-1k", "etagere-nolog", 1.05),
    ]
    return out
