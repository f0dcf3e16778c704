"""What was measured, as Markdown tables."""

import figures
import servers
import workloads


def columns_of(cells):
    """Servers of the comparison that were measured, in the order of servers.py."""
    compared = {server for (workload, server) in cells}
    return [kind for kind in servers.ALL.values() if kind.name in compared and kind.workloads]


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def row(texts):
    return "| " + " | ".join(texts) + " |"


def table(head, rows):
    return "\n".join([row(head), row(["---"] + ["--:"] * (len(head) - 1)), *map(row, rows)])


def mark(cell):
    """✗: an answer was wrong; ~: others used the machine in every sample."""
    return " ✗" if cell["errors"] else "" if cell["quiet"] else " ~"


def ours(cells, name):
    """The cell of a workload that the others are compared with, if it was measured."""
    return cells.get((name, "etagere")) or cells.get((name, "etagere-memcached"))


def overview(cells, heading, show):
    """Workloads down, servers across; `show` makes the text of (cell, our cell of the row)."""
    columns = columns_of(cells)
    rows = []
    for name, workload in workloads.ALL.items():
        if any((name, kind.name) in cells and name in kind.workloads for kind in columns):
            found = [cells.get((name, kind.name)) for kind in columns]
            rows.append([workload.title] + [show(c, ours(cells, name)) if c else "" for c in found])
    return table([heading] + [kind.title for kind in columns], rows)


def summary(cells):
    return overview(cells, "CPU µs a request", lambda cell, _: number(cell["cpu_us"]) + mark(cell))


def ratios(cells):
    def show(cell, our):
        return f"{figures.ratio(our['cpu_us'], cell['cpu_us']):.2f}" if our and our is not cell else ""
    return overview(cells, "étagère's CPU over", show)


def details(cells):
    """One line a cell."""
    rows = []
    for name in workloads.ALL:
        for kind in servers.ALL.values():
            if cell := cells.get((name, kind.name)):
                rows.append([f"{name}, {kind.name}{mark(cell)}", f"{cell['cpu_us']:.2f}",
                             f"{cell['cpu_us_least']:.2f}", f"{cell['rps']:,.0f}",
                             f"{cell['p50_us']:.0f}", f"{cell['p99_us']:.0f}",
                             f"{cell['rss'] / 2**20:.1f}", f"{cell['pss'] / 2**20:.1f}",
                             f"{cell['quiet']}/{cell['samples']}"])
    head = ["workload, server", "CPU µs", "least", "requests/s", "p50 µs", "p99 µs", "RSS MiB", "PSS MiB",
            "quiet runs"]
    return table(head, rows)


def amount(judgement, key):
    value, unit = judgement[key], judgement["unit"]
    if value is None:
        return ""
    if unit == "×":
        return f"{value:.3f} ×" if value < 0.1 else f"{value:.2f} ×"
    return f"{number(value)} {unit}"


def goals(judgements):
    rows = []
    for j in judgements:
        wanted = f"≤ {amount(j, 'at_most')}" if j["at_most"] is not None else ""
        if j["aim"] is not None:
            wanted += f", aim {j['aim']} ×"
        against = f" ({j['against']})" if j["against"] else ""
        rows.append([f"{j['part']}. {j['text']}{against}", amount(j, "value"), wanted, figures.verdict(j)])
    return table(["goal", "measured", "wanted", "verdict"], rows)


def markdown(results):
    cells = {(c["workload"], c["server"]): c for c in results["cells"]}
    m, o = results["machine"], results["options"]
    parts = [f"{m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}, {m['date']}; "
             f"{o['rounds']} rounds of {o['seconds']} s, "
             f"{results['took']} s in all; {results['version']}."]
    if cells:
        parts += [summary(cells), ratios(cells), details(cells)]
    if results["goals"]:
        parts.append(goals(results["goals"]))
    wrong = [f"- {c['workload']}, {c['server']}: {error}" for c in results["cells"] for error in c["errors"]]
    if wrong:
        parts.append("Wrong:\n\n" + "\n".join(wrong))
    return "\n\n".join(parts) + "\n"
