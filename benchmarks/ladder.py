"""Judges the networks in the box against the ladder and writes the results for the documentation.

    python benchmarks/ladder.py --games chouine --docs docs/envs/baselines

prints a table for every game and writes it to a page, which ``docs/generate.py`` puts into the page of the game.

Search takes hours over many deals, so games are kept as they are played, 100 deals a file; a run that was stopped, or
one that asks for more deals, plays only those that are missing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import report
import tyro
from rich.console import Console
from speed import circumstances

import cardgym
from cardgym.baselines.agents import Agent, load_agent
from cardgym.baselines.evaluate import (
    FIRST_DEAL,
    Games,
    Result,
    play_duplicate,
    results_table,
    summarise,
    write_json,
)
from cardgym.files import write_text
from cardgym.game import Game
from cardgym.progress import Bar, shifted

CHUNK = 100
HEADS = ("`box` against", "deals", "wins, % of decided", "score", "margin")


@dataclass(frozen=True)
class Settings:
    """What to play and where to write it."""

    games: tuple[str, ...] = ()
    """names of games; all if empty"""
    rungs: tuple[str, ...] = (
        "random=10000", "rule=10000", "pimc-64=10000", "ismcts-1000=1000", "pimc-256-rule=1000",
    )  # fmt: skip
    """opponents, each with the number of duplicate deals"""
    threads: int = 1
    """threads of search agents"""
    out: Path = Path("runs/ladder")
    """folder for <game>.json, and for the games"""
    docs: Path | None = None
    """folder for <game>.md"""


def climb(game: Game, settings: Settings, console: Console) -> list[Result]:
    """The network of a game against every rung."""
    box, options = load_agent("box", game), game.options()
    results = []
    for name, _, wanted in (rung.rpartition("=") for rung in settings.rungs):
        rung, deals = load_agent(name, game, settings.threads), int(wanted)
        with Bar(f"{game.title}: {name}", deals * game.teams_of(options), console) as bar:
            played = games_between(game, box, rung, deals, settings.out / game.name / name, bar.update)
        results.append(summarise(played, box.name, rung.name, FIRST_DEAL, FIRST_DEAL))
    return results


def games_between(
    game: Game, box: Agent, rung: Agent, deals: int, folder: Path, progress: Callable[[int], None]
) -> Games:
    """Duplicate deals of two agents, those in the folder as they are there; the others are played and kept.

    Args:
        game: the game, played with its default options.
        box: the network, whose weights the kept games must belong to.
        rung: its opponent.
        deals: how many.
        folder: of the kept games.
        progress: called with the number of games finished so far.
    """
    parts, mark, teams = [], fingerprint(box), game.teams_of(game.options())
    for first in range(0, deals, CHUNK):
        count, seed = min(CHUNK, deals - first), FIRST_DEAL + first
        part = "" if count == CHUNK else f"+{count}"
        path = folder / f"{first:05}{part}-{mark}.json"
        if not path.is_file():
            done = shifted(progress, first * teams)
            some = play_duplicate(game, game.options(), box, rung, range(seed, seed + count), seed, progress=done)
            write_json(path, {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(some).items()}, None)
        parts.append(read(path))
        progress((first + count) * teams)
    return Games.joined(parts)


def fingerprint(box: Agent) -> str:
    """Of the weights of a network and of the version of the games that it plays."""
    network: Any = box
    digest = hashlib.sha256(cardgym.__version__.encode())
    for weights in network.network.state_dict().values():
        digest.update(weights.numpy().tobytes())
    return digest.hexdigest()[:12]


def read(path: Path) -> Games:
    """The games of a file."""
    kept: dict[str, Any] = json.loads(path.read_text())
    arrays = {f.name for f in dataclasses.fields(Games) if f.default_factory is dataclasses.MISSING}
    values: dict[str, Any] = {k: np.array(v) if k in arrays else v for k, v in kept.items()}
    return Games(**values)


def page(game: Game, results: list[Result]) -> str:
    """The results in Markdown."""
    about = circumstances()
    rows = [
        (
            f"`{r.against}`",
            f"{r.deals:,}".replace(",", " "),
            f"{100 * r.win_rate:.1f} ± {100 * r.win_rate_half:.1f}",
            f"{r.score:.2f} ± {r.score_half:.2f}",
            f"{r.margin:+.2f} ± {r.margin_half:.2f}",
        )
        for r in results
    ]
    versions = ", ".join(f"{name} {about['versions'][name]}" for name in ("cardgym", "torch"))
    first = f"{FIRST_DEAL:_}".replace("_", " ")
    rungs = " ".join(f"{r.against}={r.deals}" for r in results)
    again = f"python benchmarks/ladder.py --games {game.name} --rungs {rungs}"
    lines = [
        f'The trained network that comes with cardgym, `load_agent("box", game)`, duplicate deals from {first} on,',
        "all seats in turn, greedy play; ± are 95 % intervals, the deal being the unit. Search agents have their usual",
        "settings; the page about evaluation says what the columns mean.",
        "",
        *report.markdown_table(HEADS, rows),
        "",
        f"{about['date']}, {versions}; `{again}` prints it again.",
    ]
    return "\n".join(lines) + "\n"


def main(settings: Settings) -> None:
    """Plays, prints and writes."""
    console = Console()
    for name in settings.games or cardgym.game_names():
        game = cardgym.load_game(name)
        results = climb(game, settings, console)
        console.print(results_table(results, f"{game.title}, duplicate deals from seed {FIRST_DEAL}, greedy play"))
        write_json(settings.out / f"{name}.json", [dataclasses.asdict(r) for r in results])
        if settings.docs is not None:
            write_text(settings.docs / f"{name}.md", page(game, results))


if __name__ == "__main__":
    main(tyro.cli(Settings))
