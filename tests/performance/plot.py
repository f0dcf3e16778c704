"""The summary as bars: one panel a workload, CPU µs a request. Legible on dark and on light pages."""

from xml.sax.saxutils import escape

import report
import workloads

WIDTH, LABEL, BAR, GAP, PANEL = 860, 190, 16, 5, 34
ROOM = WIDTH - LABEL - 120     # for the longest bar; its number stands behind it
OURS, LIMIT, OTHERS = "#c2410c", "#94a3b8", "#3b82f6"


def colour(name):
    if name.startswith("etagere"):
        return OURS
    return LIMIT if name.startswith(("limit", "relay")) else OTHERS


def text(x, y, content, *, anchor="start", size=12, weight="normal"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">'
            f"{escape(content)}</text>")


def panel(y, title, bars):
    """Bars to one scale. One that is five times its neighbours (Ruby) is cut, or the others could not be told apart."""
    values = sorted(value for _, _, value in bars)
    scale = max(value for value in values if value <= 5 * values[len(values) // 2])
    out = [text(0, y + 14, title, size=14, weight="bold")]
    y += 24
    for name, label, value in bars:
        length = min(value / scale, 1.06) * ROOM
        out.append(text(LABEL - 8, y + 12, label, anchor="end"))
        out.append(f'<rect x="{LABEL}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{colour(name)}"/>')
        cut = " (cut)" if value / scale > 1.06 else ""
        out.append(text(LABEL + round(length) + 6, y + 12, report.number(value) + cut))
        y += BAR + GAP
    return out, y + PANEL - 24


def svg(results):
    cells = {(c["workload"], c["server"]): c for c in results["cells"]}
    columns = report.columns_of(cells)
    body, y = [text(0, 18, "Server CPU per request, µs; less is better", size=16, weight="bold")], 36
    for name, workload in workloads.ALL.items():
        bars = [(kind.name, kind.title, cells[name, kind.name]["cpu_us"]) for kind in columns
                if (name, kind.name) in cells and name in kind.workloads]
        if bars:
            lines, y = panel(y, workload.title, bars)
            body += lines
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" fill="#64748b">'
    return "\n".join([head, *body, "</svg>", ""])
