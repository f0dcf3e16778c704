"""Arithmetic: samples to cells, cells to ratios, ratios to verdicts. Nothing here knows of processes or files."""

import dataclasses
import statistics

METRICS = ("cpu_us", "rps", "p50_us", "p99_us", "rss", "pss")


def median(values):
    return statistics.median(values)


def cells_of(samples):
    """{(workload, server): cell}. A cell has the medians of its samples: of the quiet ones where there are any, for
    what others did to the machine meanwhile says nothing about the server. Errors are never left out."""
    grouped = {}
    for sample in samples:
        grouped.setdefault((sample["workload"], sample["server"]), []).append(sample)
    cells = {}
    for place, group in grouped.items():
        quiet = [s for s in group if not s["noise"]]
        used = quiet or group
        cells[place] = {
            "workload": place[0], "server": place[1],
            **{m: median([s[m] for s in used]) for m in METRICS},
            "cpu_us_least": min(s["cpu_us"] for s in used),
            "samples": len(group), "quiet": len(quiet),
            "errors": sorted({error for s in group for error in s["errors"]}),
        }
    return cells


def errors_of(workload, answers, reached):
    """What is wrong with a run: `answers` as bench_load tells, `reached` as the origin does; none of the limit."""
    errors = []
    requests = answers["requests"]
    if requests == 0:
        return ["no answer at all"]
    for what in ("wrong_status", "wrong_length", "errors"):
        if answers[what]:
            errors.append(f"{answers[what]} × {what.replace('_', ' ')}")
    if reached is None:
        return errors
    # The requests under way at the end reach the origin uncounted; no two requests may be joined where all are wanted,
    # but for a few revalidations of one URL at one time.
    if workload.reaches == "never" and reached["requests"] > 0:
        errors.append(f"{reached['requests']} hits reached the origin")
    if workload.reaches == "always" and reached["requests"] < requests:
        errors.append(f"only {reached['requests']} of {requests} reached the origin")
    if workload.reaches == "conditionally" and reached["not_modified"] < 0.95 * requests:
        errors.append(f"the origin said 304 to only {reached['not_modified']} of {requests}")
    return errors


@dataclasses.dataclass(frozen=True)
class Goal:
    """`left` over the best of `right` in `metric` is at most `at_most`. Sides are (workload, server)."""
    part: str           # of the goals
    text: str
    left: tuple
    right: tuple
    at_most: float
    metric: str = "cpu_us"
    aim: float | None = None


@dataclasses.dataclass(frozen=True)
class Figure:
    """A measured number that is no cell: bytes, or a ratio of its own."""
    part: str
    text: str
    value: float
    unit: str
    at_most: float | None = None


def ratio(left, right):
    return left / right if right else float("inf")


def judge_goal(goal, cells):
    """{value, met, …}, or None where a side was not measured."""
    right = [cells[place] for place in goal.right if place in cells]
    if goal.left not in cells or not right:
        return None
    best = min(right, key=lambda cell: cell[goal.metric])
    value = ratio(cells[goal.left][goal.metric], best[goal.metric])
    sound = not any(cell["errors"] for cell in (cells[goal.left], best))
    return {"part": goal.part, "text": goal.text, "value": value, "unit": "×", "at_most": goal.at_most,
            "aim": goal.aim, "against": best["server"] if len(right) > 1 else "", "sound": sound,
            "met": sound and value <= goal.at_most}


def judge_figure(figure):
    met = None if figure.at_most is None else figure.value <= figure.at_most
    return {**dataclasses.asdict(figure), "aim": None, "against": "", "sound": True, "met": met}


def verdict(judgement):
    if not judgement["sound"]:
        return "invalid"
    if judgement["met"] is None:
        return "–"
    if not judgement["met"]:
        return "not met"
    if judgement["aim"] is not None and judgement["value"] <= judgement["aim"]:
        return "met, aim too"
    return "met"
