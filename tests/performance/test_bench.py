"""The harness itself: its arithmetic by example, its tools and its checks against étagère alone, for a moment each.

ETAGERE_BIN names étagère, BENCH_TOOLS the folder of bench_load and its like.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import experiments
import figures
import machine
import plot
import report
import series
import servers
import workloads
from rounds import Bench

HERE = pathlib.Path(__file__).parent
HIT, PASS, REVALIDATE = (workloads.ALL[name] for name in ("hit-1k", "pass", "revalidate"))


def sample(workload="hit-1k", server="etagere", cpu_us=5.0, noise="", errors=(), **more):
    return {"workload": workload, "server": server, "cpu_us": cpu_us, "rps": 1e5, "p50_us": 300.0, "p99_us": 500.0,
            "rss": 2**23, "pss": 2**22, "noise": noise, "errors": list(errors), **more}


def answers(requests=1000, **wrong):
    return {"requests": requests, "wrong_status": 0, "wrong_length": 0, "errors": 0, **wrong}


class Arithmetic(unittest.TestCase):
    def test_a_cell_has_the_medians_of_its_samples(self):
        cell = figures.cells_of([sample(cpu_us=v) for v in (9.0, 5.0, 6.0)])["hit-1k", "etagere"]
        self.assertEqual((cell["cpu_us"], cell["cpu_us_least"], cell["samples"]), (6.0, 5.0, 3))

    def test_noisy_samples_count_only_where_there_are_no_others(self):
        mixed = [sample(cpu_us=50.0, noise="others"), sample(cpu_us=5.0), sample(cpu_us=7.0)]
        cell = figures.cells_of(mixed)["hit-1k", "etagere"]
        self.assertEqual((cell["cpu_us"], cell["quiet"]), (6.0, 2))
        cell = figures.cells_of(mixed[:1])["hit-1k", "etagere"]
        self.assertEqual((cell["cpu_us"], cell["quiet"], report.mark(cell)), (50.0, 0, " ~"))

    def test_errors_are_kept_even_those_of_noisy_samples(self):
        cell = figures.cells_of([sample(), sample(noise="others", errors=["broken"])])["hit-1k", "etagere"]
        self.assertEqual((cell["errors"], report.mark(cell)), (["broken"], " ✗"))

    def test_a_goal_is_the_ratio_to_the_best_of_the_others(self):
        cells = figures.cells_of([sample(), sample(server="nginx", cpu_us=10.0), sample(server="haproxy", cpu_us=8.0)])
        others = (("hit-1k", "nginx"), ("hit-1k", "haproxy"))
        goal = figures.Goal("1", "x", ("hit-1k", "etagere"), others, 0.85, aim=0.6)
        judged = figures.judge_goal(goal, cells)
        self.assertEqual((judged["value"], judged["against"], figures.verdict(judged)), (0.625, "haproxy", "met"))

    def test_verdicts(self):
        for ours, verdict in ((5.0, "met, aim too"), (7.0, "met"), (8.5, "met"), (8.6, "not met")):
            cells = figures.cells_of([sample(cpu_us=ours), sample(server="haproxy", cpu_us=10.0)])
            goal = figures.Goal("1", "x", ("hit-1k", "etagere"), (("hit-1k", "haproxy"),), 0.85, aim=0.5)
            self.assertEqual(figures.verdict(figures.judge_goal(goal, cells)), verdict, ours)

    def test_what_was_not_measured_has_no_verdict_and_what_was_wrong_meets_nothing(self):
        goal = figures.Goal("1", "x", ("hit-1k", "etagere"), (("hit-1k", "haproxy"),), 0.85)
        self.assertIsNone(figures.judge_goal(goal, figures.cells_of([sample()])))
        cells = figures.cells_of([sample(errors=["hits reached the origin"]), sample(server="haproxy", cpu_us=10.0)])
        judged = figures.judge_goal(goal, cells)
        self.assertEqual((judged["met"], figures.verdict(judged)), (False, "invalid"))

    def test_figures(self):
        for at_most, verdict in ((4096, "met"), (4000, "not met"), (None, "–")):
            judged = figures.judge_figure(figures.Figure("5", "idle connection", 4096, "bytes", at_most))
            self.assertEqual(figures.verdict(judged), verdict)

    def test_a_hit_may_not_reach_the_origin_and_a_pass_has_to(self):
        def errors(workload, requests, reached, not_modified=0):
            return figures.errors_of(workload, answers(requests), {"requests": reached, "not_modified": not_modified})
        self.assertEqual(errors(HIT, 1000, 0), [])
        self.assertEqual(errors(HIT, 1000, 1), ["1 hits reached the origin"])
        self.assertEqual(errors(PASS, 1000, 1064), [])
        self.assertEqual(errors(PASS, 1000, 999), ["only 999 of 1000 reached the origin"])
        self.assertEqual(errors(REVALIDATE, 1000, 980, 980), [])
        self.assertEqual(errors(REVALIDATE, 1000, 1000, 10), ["the origin said 304 to only 10 of 1000"])

    def test_wrong_answers_are_errors(self):
        self.assertEqual(figures.errors_of(HIT, answers(0), None), ["no answer at all"])
        self.assertEqual(figures.errors_of(HIT, answers(wrong_status=3, errors=1), None),
                         ["3 × wrong status", "1 × errors"])

    def test_every_goal_names_cells_that_some_series_measures(self):
        measured = {(w.name, kind.name) for s in series.series((), 1000000) for w, kind in s.cells}
        for goal in series.goals(1000000):
            for place in (goal.left, *goal.right):
                if not place[1].startswith("limit"):       # sendfile is tried for large bodies only
                    self.assertIn(place, measured, goal.text)


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        samples = [sample(w, kind.name, cpu_us=3.0 + len(kind.name) * (40 if kind.slow else 1))
                   for w in series.SERVED for kind in servers.ALL.values() if w in kind.workloads]
        samples[0]["errors"] = ["1 hits reached the origin & <more>"]
        cells = figures.cells_of(samples)
        cls.results = {"machine": machine.describe(), "version": "v", "took": 9, "options": {"rounds": 1, "seconds": 1},
                       "cells": list(cells.values()), "samples": samples,
                       "goals": [j for g in series.goals(1000000) if (j := figures.judge_goal(g, cells))]}

    def test_the_plot_is_xml_with_a_bar_for_every_cell(self):
        root = xml.etree.ElementTree.fromstring(plot.svg(self.results))
        bars = root.findall("{http://www.w3.org/2000/svg}rect")
        self.assertEqual(len(bars), len(self.results["cells"]))
        self.assertTrue(all(0 < float(bar.get("width")) <= plot.WIDTH - plot.LABEL for bar in bars))

    def test_tables_have_as_many_cells_in_every_line(self):
        text = report.markdown(self.results)
        for table in text.split("\n\n"):
            if table.startswith("| "):
                self.assertEqual(len({line.count(" | ") for line in table.split("\n")}), 1, table)
        self.assertIn("hits reached the origin", text)

    def test_ratios_are_ours_over_theirs(self):
        cells = figures.cells_of([sample(), sample(server="haproxy", cpu_us=8.0), sample(server="limit", cpu_us=4.0)])
        head, _, line = report.ratios(cells).split("\n")
        self.assertEqual(head, "| étagère's CPU over | limit (epoll) | étagère | HAProxy |")
        self.assertEqual(line, "| hit 200, 1 KB | 1.25 |  | 0.62 |")


class Tools(unittest.TestCase):
    """bench_load tells what is wrong, against bench_origin."""

    def setUp(self):
        self.enterContext(bench := Bench(scratch=self.enterContext(tempfile.TemporaryDirectory()), seconds=0.3,
                                         tools=os.environ["BENCH_TOOLS"], etagere=os.environ["ETAGERE_BIN"]))
        self.bench = bench

    def load(self, *arguments):
        return self.bench.load(self.bench.origin, ["--requests", 100, "--connections", 4, *arguments])[0]

    def test_as_many_requests_as_wanted(self):
        before = self.bench.reached()["requests"]
        told = self.load("--target", "/c/100/{k}", "--keys", 7, "--body", 100)
        self.assertEqual((told["requests"], told["wrong_status"], told["wrong_length"], told["errors"]), (100, 0, 0, 0))
        self.assertEqual(self.bench.reached()["requests"] - before, 100)

    def test_statuses_and_lengths_are_checked(self):
        self.assertEqual(self.load("--target", "/nowhere")["wrong_status"], 100)
        self.assertEqual(self.load("--target", "/c/100", "--body", 99)["wrong_length"], 100)

    def test_conditions_are_answered_and_counted(self):
        before = self.bench.reached()["not_modified"]
        told = self.load("--target", "/v/100", "--field", *workloads.CONDITION, "--status", 304, "--body", 0)
        self.assertEqual((told["requests"], told["wrong_status"]), (100, 0))
        self.assertEqual(self.bench.reached()["not_modified"] - before, 100)

    def test_a_connection_for_every_request(self):
        told = self.load("--target", "/c/100", "--close")
        self.assertEqual((told["requests"], told["errors"]), (100, 0))

    def test_a_rate_is_kept(self):
        told, _ = self.bench.load(self.bench.origin, ["--target", "/c/100", "--rate", 500, "--seconds", 0.4])
        self.assertLessEqual(told["requests"], 201)
        self.assertGreater(told["requests"], 20)

    def test_a_stream_is_whole(self):
        _, head, body = servers.get(self.bench.origin, "/s/1000000")
        self.assertEqual((int(head["Content-Length"]), len(body)), (1000000, 1000000))

    def test_a_command_line_that_is_not_understood_ends_it(self):
        for arguments in (["--rate", "0"], ["--order", "random"], ["--port", "x"], ["more"]):
            done = subprocess.run([os.path.join(self.bench.tools, "bench_load"), "--port", "1", *arguments],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 2, arguments)

    def test_hits_that_are_none_are_noticed(self):
        missing = workloads.Workload("hit-1k", "", "/n/1024", 1024)
        kind = servers.ALL["etagere"]
        self.bench.prime(missing, kind)
        self.assertIn("hits reached the origin", self.bench.measure_once(missing, kind)["errors"][0])

    def test_passes_that_are_none_are_noticed(self):
        kept = workloads.Workload("pass", "", "/c/1024", 1024, reaches="always")
        kind = servers.ALL["etagere"]
        self.bench.prime(kept, kind)
        self.assertIn("reached the origin", self.bench.measure_once(kept, kind)["errors"][0])


class Experiments(unittest.TestCase):
    """What they do, for a moment; the figures are those of whatever build this is."""

    def setUp(self):
        self.bench = self.enterContext(Bench(scratch=self.enterContext(tempfile.TemporaryDirectory()), seconds=0.3,
                                             tools=os.environ["BENCH_TOOLS"], etagere=os.environ["ETAGERE_BIN"]))

    def test_memory_at_rest_and_of_idle_connections(self):
        rest, = experiments.at_rest(self.bench, True)
        self.assertGreater(rest.value, 1)
        used, unused = experiments.idle_connections(self.bench, True, count=50)
        self.assertEqual((used.at_most, unused.at_most), (4096, 4096))
        self.assertEqual(self.bench.running, {})

    def test_fields_are_counted_as_they_are_sent(self):
        fields = experiments.bytes_of_fields(self.bench.origin, "/c/200")
        with experiments.Fresh(self.bench) as etagere:
            _, head, _ = servers.get(self.bench.origin, "/c/200")
            self.assertEqual(fields, sum(len(f"{name}: {value}\r\n") for name, value in head.items()))
            etagere.load("--target", "/c/200/{k}", "--keys", 30, "--requests", 30)
            self.assertEqual(etagere.metric("etagere_store_entries"), 31)     # and the one that it was ready with
            self.assertGreater(etagere.metric("etagere_store_bytes"), 30 * (fields + 200))

    def test_wrong_answers_end_the_run(self):
        with experiments.Fresh(self.bench) as etagere, self.assertRaises(machine.Failure):
            etagere.load("--target", "/nowhere", "--requests", 1)

    def test_a_slow_reader_gets_what_it_wants_or_ends_the_run(self):
        reader = experiments.SlowReader(self.bench.origin, 200_000, 1_000_000)
        reader.start()
        reader.wait_until_it_flows()
        reader.stop()
        self.assertGreater(reader.taken, 0)
        reader = experiments.SlowReader(self.bench.origin, 1000, 1e12)
        reader.start()
        reader.join()
        with self.assertRaises(machine.Failure):
            reader.stop()


class Command(unittest.TestCase):
    """A whole run, with étagère and the limits."""

    @staticmethod
    def command(*arguments):
        return [sys.executable, HERE / "main.py", *arguments, "--servers", "etagere,limit,relay", "--seconds", "0.1",
                "--tools", os.environ["BENCH_TOOLS"], "--etagere", os.environ["ETAGERE_BIN"]]

    def test_whatever_ends_it_nothing_stays(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with tempfile.TemporaryDirectory() as folder:
                run = subprocess.Popen(self.command("hit-1k", "--rounds", "1000"), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": folder})
                with run.stderr:
                    while " hit-1k " not in run.stderr.readline():      # measuring by then
                        self.assertIsNone(run.poll())
                    started = {pid: machine.stat_of(pid)[19] for pid in machine.descendants(run.pid) if pid != run.pid}
                    run.send_signal(number)
                    run.stderr.read()
                self.assertEqual(run.wait(30), code)
                self.assertGreaterEqual(len(started), 3)
                left = [pid for pid, began in started.items() if machine.stat_of(pid)[19:20] == [began]]
                self.assertEqual((left, os.listdir(folder)), ([], []))

    def test_smoke(self):
        with tempfile.TemporaryDirectory() as folder:
            out, drawn = os.path.join(folder, "out.json"), os.path.join(folder, "out.svg")
            series_wanted = ("hit-1k", "not-modified", "keys-zipf", "pass", "close", "revalidate", "rest")
            done = subprocess.run(self.command(*series_wanted, "--rounds", "1", "--json", out, "--svg", drawn),
                                  stdout=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            with open(out, encoding="utf-8") as file:
                results = json.load(file)
            xml.etree.ElementTree.parse(drawn)
        cells = {(cell["workload"], cell["server"]): cell for cell in results["cells"]}
        self.assertEqual({w for w, server in cells if server == "etagere"},
                         {"hit-1k", "not-modified", "keys-zipf", "pass", "close", "revalidate"})
        for place, cell in cells.items():
            self.assertEqual(cell["errors"], [], place)
            self.assertGreater(cell["cpu_us"], 0, place)
            self.assertGreater(cell["rps"], 0, place)
            self.assertGreaterEqual(cell["p99_us"], cell["p50_us"], place)
        judged = {goal["text"] for goal in results["goals"]}
        self.assertIn("revalidation: our pass-through", judged)
        self.assertIn("process at rest, resident", judged)
        self.assertNotIn("pass-through: HAProxy", judged)
        self.assertIn("| hit 200, 1 KB |", done.stdout)


if __name__ == "__main__":
    unittest.main()
