"""Measures speed, start-up and memory of cardgym, beside OpenSpiel where it is installed.

    python benchmarks/speed.py --out runs/bench

All lines of the speed table are measured in turn, again and again; medians of these repeats are shown, and ratios are
medians of ratios within one repeat, so that a busy moment of the machine disturbs them little.
"""

from __future__ import annotations

import datetime
import gc
import importlib.metadata
import os
import platform
import statistics
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import processes
import report
import tyro
from contenders import Contender, Timing, contenders
from peers import missing, peers
from rich.console import Console
from rich.progress import track

import cardgym

PACKAGES = (
    "cardgym", "numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch", "open-spiel",
    "rlcard", "pgx", "jax",
)  # fmt: skip
BEGIN, END = "<!-- figures: written by benchmarks/speed.py -->", "<!-- end of figures -->"


def main_ids() -> tuple[str, ...]:
    """The first registered id of every game."""
    return tuple(dict.fromkeys(cardgym.ids_of(presets["game"])[0] for presets in cardgym.IDS.values()))


@dataclass(frozen=True)
class Settings:
    """What to measure and where to write it."""

    envs: tuple[str, ...] = field(default_factory=main_ids)
    """Environment ids; by default the first of every game."""
    seconds: float = 0.3
    """About how long one line is measured in one repeat."""
    repeats: int = 9
    """How often every line is measured."""
    threads: int = 2
    """Measure vector environments with one thread and with this many."""
    sizes: tuple[int, ...] = (64, 1024, 8192, 65536)
    """Numbers of games of the vector environments."""
    peer: bool = True
    """Measure other libraries too, where they are installed."""
    out: Path | None = None
    """Folder for speed.json."""
    docs: Path | None = None
    """Page to put the tables into, between its marks; the chart goes to pictures/speed.png beside it."""


def steps_for(contender: Contender, seconds: float) -> int:
    """How many steps last about so long, seen twice: what comes first warms up, compiles and imports."""
    contender.run(2)
    steps = 1
    while True:
        spent = [t.stepping + (t.choosing or 0.0) for t in (contender.run(steps), contender.run(steps))]
        if spent[1] > seconds / 4:
            return max(1, round(steps * seconds / spent[1]))
        steps *= 2


def measure(lines: list[Contender], settings: Settings, console: Console) -> list[dict[str, Any]]:
    """Every line of the speed table, measured in turn."""
    steps = [steps_for(c, settings.seconds) for c in track(lines, "warming up", console=console)]
    gc.collect()
    gc.freeze()  # or the collector would walk through all that the other libraries have loaded, on everybody's time
    timings: list[list[Timing]] = [[] for _ in lines]
    for _ in track(range(settings.repeats), "measuring", console=console):
        for contender, count, found in zip(lines, steps, timings, strict=True):
            found.append(contender.run(count))
    bases = {c.group: speeds(t) for c, t in zip(lines, timings, strict=True) if c.reference}
    first = next(iter(bases.values()))
    return [summary(c, t, bases.get(c.group, first)) for c, t in zip(lines, timings, strict=True)]


def speeds(timings: list[Timing]) -> list[float]:
    """Decisions per second of every repeat, without the choosing where it can be told apart."""
    return [t.decisions / t.stepping for t in timings]


def summary(contender: Contender, timings: list[Timing], base: list[float]) -> dict[str, Any]:
    """Medians of one line; ``base`` holds the speeds of the line it is compared with, repeat by repeat."""
    each = speeds(timings)
    middle = statistics.median(each)
    return {
        "group": contender.group,
        "name": contender.name,
        "stepping": None if timings[0].choosing is None else middle,
        "total": statistics.median(t.decisions / (t.stepping + (t.choosing or 0.0)) for t in timings),
        "ratio": statistics.median(s / b for s, b in zip(each, base, strict=True)),
        "spread": statistics.median(abs(s - middle) for s in each) / middle,
        "speeds": each,
    }


def machine() -> str:
    """Processor, number of cores and system."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":")[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        name = names[0] if names else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def versions() -> dict[str, str]:
    """Versions of Python and of the packages measured."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def circumstances() -> dict[str, Any]:
    """What figures depend on: ``date``, ``machine``, ``versions``, ``notes``; asked for before measuring."""
    busy = os.getloadavg()[0]
    note = f"Other work was going on at the start of this run (load {busy:.1f}): absolute figures are too low."
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "notes": [note] if busy > 0.5 else [],
    }


def main(settings: Settings) -> None:
    """Measures, prints, writes."""
    console = Console()
    about = circumstances()
    about["notes"] += missing()
    largest = max(settings.sizes)
    start_up = {e: processes.start_up(e, 5) for e in track(settings.envs, "starting up", console=console)}
    memory = {e: processes.memory(e, largest) | {"games": largest} for e in settings.envs}
    lines = [c for env_id in settings.envs for c in contenders(env_id, settings.threads, settings.sizes)]
    lines += peers() if settings.peer else ()
    results = {
        **about,
        "start_up": start_up,
        "memory": memory,
        "speed": measure(lines, settings, console),
    }
    tables = report.speed_tables(results)
    report.show(results, tables, console)
    if settings.out is not None:
        settings.out.mkdir(parents=True, exist_ok=True)
        report.write_json(results, settings.out / "speed.json")
    if settings.docs is not None:
        report.write_chart(results, settings.docs.parent / "pictures" / "speed.png")
        report.write_between(settings.docs, BEGIN, END, report.markdown(results, tables))


if __name__ == "__main__":
    main(tyro.cli(Settings))
