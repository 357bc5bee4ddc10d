"""How the figures are shown: on the terminal, as JSON, as a bar chart, and as the table of a documentation page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import cardgym
from cardgym.files import write_text, written_aside

CHARTED = ("compiled batch", "single env, gymnasium.make")
"""What the chart shows of our own lines."""

Titled = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, heads and rows of a table."""

SPEED = ("", "decisions/s", "with random choice", "against the batch", "spread")
START = (
    "", "import needs", "import cardgym",
    "first game, warm", "first step, warm", "first game, cold", "first step, cold",
)  # fmt: skip
MEMORY = ("", "state", "buffers", "process, 1 game", "process, many games")


def rate(value: float | None) -> str:
    """A number of decisions per second in three digits, such as ``5.12 M``."""
    if value is None:
        return "-"
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:#.3g}".rstrip(".") + unit
    return f"{value:.0f}"


def ratio(value: float) -> str:
    """A factor in three digits."""
    return f"{value:.3g}×"


def speed_rows(results: dict[str, Any], group: str) -> list[tuple[str, ...]]:
    """The table of one group."""
    return [
        (
            r["name"],
            rate(r["stepping"]),
            rate(r["total"]),
            ratio(r["ratio"]),
            f"±{100 * r['spread']:.0f} %",
        )
        for r in results["speed"]
        if r["group"] == group
    ]


def start_rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """The table of start-up times."""
    return [
        (env_id, *(f"{s[k]:.2f} s" for k in ("needs", "import", "ready", "step", "cold_ready", "cold_step")))
        for env_id, s in results["start_up"].items()
    ]


def memory_rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """The table of memory."""
    return [
        (
            env_id,
            f"{m['state']:.0f} B/game",
            f"{m['buffers']:.0f} B/game",
            f"{m['rss_one']:.0f} MiB",
            f"{m['rss_many']:.0f} MiB ({m['games']:,} games)",
        )
        for env_id, m in results["memory"].items()
    ]


def speed_tables(results: dict[str, Any]) -> list[Titled]:
    """The tables of ``benchmarks/speed.py``."""
    groups = list(dict.fromkeys(r["group"] for r in results["speed"]))
    return [
        *((group, SPEED, speed_rows(results, group)) for group in groups),
        ("Start-up", START, start_rows(results)),
        ("Memory", MEMORY, memory_rows(results)),
    ]


def show(results: dict[str, Any], tables: Sequence[Titled], console: Console) -> None:
    """Prints tables and the notes of the results."""
    for title, heads, rows in tables:
        table = Table(title=title, title_justify="left")
        for i, head in enumerate(heads):
            table.add_column(head, justify="right" if i else "left", no_wrap=not i)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for note in results["notes"]:
        console.print(note)


def markdown(results: dict[str, Any], tables: Sequence[Titled]) -> str:
    """Tables as Markdown, with the day, the machine and the versions that they come from."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = [f"{results['date']}, {results['machine']}. {versions}.", *results["notes"], ""]
    for title, heads, rows in tables:
        lines += [f"### {title}", "", *markdown_table(heads, rows), ""]
    return "\n".join(lines)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown; all columns but the first are set to the right."""
    cells = [" | ".join(line) for line in (heads, *rows)]
    head, *body = (f"| {line} |" for line in cells)
    return [head, "|---" + "|---:" * (len(heads) - 1) + "|", *body]


def write_between(page: Path, begin: str, end: str, made: str) -> None:
    """Puts a text between two marks of a page.

    Raises:
        ValueError: the page lacks the marks.
    """
    text = page.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{page} needs the lines {begin!r} and {end!r}, once each")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    write_text(page, f"{before}{begin}\n\n{made}\n{end}{after}")


def write_json(results: dict[str, Any], file: Path) -> None:
    """All figures, of every repeat."""
    write_text(file, json.dumps(results, indent=1) + "\n")


def write_chart(results: dict[str, Any], file: Path) -> None:
    """Bars on a logarithmic scale: our batches and single environments, and all lines of other libraries."""
    from matplotlib.figure import Figure

    rows = [r for r in results["speed"] if r["group"] not in cardgym.IDS or r["name"].startswith(CHARTED)][::-1]
    groups = list(dict.fromkeys(r["group"] for r in rows[::-1]))
    figure = Figure(figsize=(10, 1.2 + 0.32 * len(rows)), layout="constrained")
    axes = figure.subplots()
    values = [r["stepping"] or r["total"] for r in rows]
    bars = axes.barh(range(len(rows)), values, color=[f"C{groups.index(r['group'])}" for r in rows])
    axes.bar_label(bars, [rate(v) for v in values], padding=3)
    axes.set_yticks(range(len(rows)), [f"{r['name']} ({r['group']})" for r in rows])
    axes.set_xscale("log")
    axes.set_xlabel("decisions per second, observation and mask produced")
    axes.set_title(results["machine"])
    axes.margins(x=0.2, y=0.01)
    with written_aside(file) as aside:
        figure.savefig(aside, dpi=120)
