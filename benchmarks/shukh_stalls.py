"""How often parties of Shukh end by the house rule against endless play, by pack, number of players and policy.

    python benchmarks/shukh_stalls.py --docs docs/envs/rules/shukh.md

plays parties from fixed seeds, in which all seats follow the same policy, and writes the table between its marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import report
import tyro
from rich.progress import track

import cardgym
from cardgym.baselines.agents import Agent, Decisions, load_agent
from cardgym.batch import Batch

BEGIN, END = "<!-- stalls: written by benchmarks/shukh_stalls.py -->", "<!-- end of stalls -->"
PAIRS = [(36, n) for n in range(2, 7)] + [(52, n) for n in range(2, 9)]
POLICIES = ("random", "rule")


@dataclass(frozen=True)
class Settings:
    """What to play and where to write it."""

    parties: int = 10_000
    """Parties of each kind."""
    seed: int = 0
    """Seed of the first party."""
    docs: Path | None = None
    """Page to put the table into, between its marks."""


def play(deck: int, players: int, agent: Agent, parties: int, seed: int) -> np.ndarray:
    """The final states of parties in which one agent plays all seats."""
    game = cardgym.load_game("shukh")
    batch = Batch(game, game.options.of(deck=deck, players=players), parties)
    batch.reset(range(seed, seed + parties))
    generator = np.random.default_rng(seed)
    rows = np.arange(parties)
    while len(rows):
        batch.step(agent.act(Decisions(batch, rows), generator), rows)
        rows = rows[~batch.over[rows]]
    return batch.states


def line(deck: int, players: int, settings: Settings) -> list[str]:
    """One row of the table."""
    cells = [str(deck), str(players), str(deck * players * players)]
    for name in POLICIES:
        agent = load_agent(name, cardgym.load_game("shukh"))
        states = play(deck, players, agent, settings.parties, settings.seed)
        cells += [f"{100 * states['stalled'].mean():.2f} %", f"{np.median(states['moves']):.0f}"]
    return cells


def table(settings: Settings) -> str:
    """The table in Markdown."""
    heads = ["cards", "players", "limit"]
    for name in POLICIES:
        heads += [f"{name}: stalled", f"{name}: median decisions"]
    rows = [line(deck, players, settings) for deck, players in track(PAIRS, "parties")]
    return "\n".join(report.markdown_table(heads, rows))


def main(settings: Settings) -> None:
    """Measures, prints and, if asked, writes the table."""
    made = f"{table(settings)}\n\n{settings.parties} parties of each kind, from seed {settings.seed}."
    print(made)
    if settings.docs is not None:
        report.write_between(settings.docs, BEGIN, END, made)


if __name__ == "__main__":
    main(tyro.cli(Settings))
