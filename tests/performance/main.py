"""tests/bench: étagère beside its peers. See README.md; the settings are --help."""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import experiments
import figures
import machine
import plot
import report
import series as all_series
import servers
from rounds import Bench, say

NEEDS = {"haproxy": "haproxy", "nginx": "nginx", "varnish": "varnishd", "rack": "puma"}


def read_options():
    names = [s.name for s in all_series.series((), 1000000)] + list(experiments.ALL)
    parser = argparse.ArgumentParser(prog="tests/bench", description=__doc__, epilog="series: " + " ".join(names))
    parser.add_argument("series", nargs="*", help="what to measure; default: everything")
    parser.add_argument("--servers", default="", help="only these, with commas: " + " ".join(
        kind.name for kind in servers.ALL.values() if kind.workloads))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of one measurement")
    parser.add_argument("--quick", action="store_true", help="one round, short, less to store")
    parser.add_argument("--etagere", required=True, help="the binary")
    parser.add_argument("--tools", required=True, help="the folder of bench_load, bench_origin, bench_relay")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE")
    options = parser.parse_args()
    options.servers = [name for name in options.servers.split(",") if name]
    if unknown := set(options.servers) - set(servers.ALL):
        parser.error(f"no such server: {' '.join(sorted(unknown))}")
    if unknown := set(options.series) - set(names):
        parser.error(f"no such series: {' '.join(sorted(unknown))}")
    if options.quick:
        options.rounds, options.seconds = 1, min(options.seconds, 1.0)
    options.keys = 100000 if options.quick else 1000000
    return options


def check_programs(chosen):
    """A missing peer is told before the first measurement, not after twenty minutes."""
    for one in chosen:
        for _, kind in one.cells:
            program = NEEDS.get(kind.name.split("-")[0])
            if program and not shutil.which(program):
                raise machine.Failure(f"{program} is not installed: docker/packages.sh install bench")


def version(binary):
    """As the binary says: it need not be of this checkout."""
    done = subprocess.run([binary, "version"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[0]


def measure(options, bench):
    """Fills bench.samples, and returns the Figures."""
    chosen = [s for s in all_series.series(options.servers, options.keys)
              if not options.series or s.name in options.series]
    check_programs(chosen)
    group = None
    for one in chosen:
        if one.group != group:
            bench.stop_all()
            group = one.group
        for _, kind in one.cells:
            bench.start(kind)
        bench.run(one, options.rounds * one.more_rounds)
    bench.stop_all()
    measured = []
    for name, experiment in experiments.ALL.items():
        if not options.series or name in options.series:
            say(f"{name}: {experiment.__doc__.splitlines()[0]}")
            measured += experiment(bench, options.quick)
    return measured


def results_of(options, bench, measured):
    cells = figures.cells_of(bench.samples)
    judgements = [j for goal in all_series.goals(options.keys) if (j := figures.judge_goal(goal, cells))]
    judgements += [figures.judge_figure(figure) for figure in measured]
    judgements.sort(key=lambda j: j["part"])
    return {"machine": machine.describe(), "version": version(options.etagere),
            "options": {"rounds": options.rounds, "seconds": options.seconds},
            "cells": list(cells.values()), "goals": judgements, "samples": bench.samples}


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    options = read_options()
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = tempfile.mkdtemp(prefix="etagere-bench-")
    try:
        with Bench(scratch=scratch, tools=options.tools, etagere=options.etagere, seconds=options.seconds) as bench:
            results = results_of(options, bench, measure(options, bench))
            results["took"] = round(time.monotonic() - began)
    except machine.Failure as failure:
        say(f"tests/bench: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        machine.remove(scratch)
    sys.stdout.write(report.markdown(results))
    if options.json:
        write(options.json, json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    if options.svg:
        write(options.svg, plot.svg(results))
    return 1 if any(cell["errors"] for cell in results["cells"]) else 0


if __name__ == "__main__":
    sys.exit(main())
