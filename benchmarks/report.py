"""How the figures are shown: on the terminal, as JSON, as a bar chart, and as the table of a documentation page."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

BEGIN, END = "<!-- figures: written by benchmarks/speed.py -->", "<!-- end of figures -->"
SPEED = ("", "decisions/s", "with random choice", "against the batch", "spread")
START = ("", "import needs", "import cardgym", "first step, cold", "first step, warm")
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
        (env_id, *(f"{s[k]:.2f} s" for k in ("needs", "import", "cold", "warm")))
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


def tables(results: dict[str, Any]) -> list[tuple[str, Sequence[str], list[tuple[str, ...]]]]:
    """Title, heads and rows of every table."""
    groups = list(dict.fromkeys(r["group"] for r in results["speed"]))
    return [
        *((group, SPEED, speed_rows(results, group)) for group in groups),
        ("Start-up", START, start_rows(results)),
        ("Memory", MEMORY, memory_rows(results)),
    ]


def show(results: dict[str, Any], console: Console) -> None:
    """Prints the tables."""
    for title, heads, rows in tables(results):
        table = Table(title=title, title_justify="left")
        for i, head in enumerate(heads):
            table.add_column(head, justify="right" if i else "left", no_wrap=not i)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for note in results["notes"]:
        console.print(note)


def markdown(results: dict[str, Any]) -> str:
    """The tables as Markdown, with the machine and the versions they come from."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    lines = [f"{results['date']}, {results['machine']}. {versions}.", *results["notes"], ""]
    for title, heads, rows in tables(results):
        lines += [f"### {title}", "", "| " + " | ".join(heads) + " |", "|---" + "|---:" * (len(heads) - 1) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        lines.append("")
    return "\n".join(lines)


def write_page(results: dict[str, Any], page: Path) -> None:
    """Puts the tables between the two marks of a page.

    Raises:
        ValueError: the page lacks the marks.
    """
    write_between(page, BEGIN, END, markdown(results))


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
    _replace(page, f"{before}{begin}\n\n{made}\n{end}{after}".encode())


def write_json(results: dict[str, Any], file: Path) -> None:
    """All figures, of every repeat."""
    _replace(file, (json.dumps(results, indent=1) + "\n").encode())


def write_chart(results: dict[str, Any], file: Path) -> None:
    """A bar for every line of the speed tables, on a logarithmic scale."""
    from matplotlib.figure import Figure

    rows = results["speed"][::-1]
    groups = list(dict.fromkeys(r["group"] for r in results["speed"]))
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
    aside = file.with_name(f".{file.name}.part")
    figure.savefig(aside, format="png", dpi=120)
    os.replace(aside, file)


def _replace(file: Path, data: bytes) -> None:
    aside = file.with_name(f".{file.name}.part")
    aside.write_bytes(data)
    os.replace(aside, file)
