"""How often each offence of Shukh at the table is committed and punished when seats play at random.

    python benchmarks/shukh_table_offences.py

plays parties of one random seat among rule bots, and of random seats alone, from fixed seeds, and writes the chart of
the documentation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import tyro

import cardgym
from cardgym.baselines.agents import CarelessAgent, RuleAgent, act_by_assignment
from cardgym.batch import Batch
from cardgym.files import written_aside
from cardgym.games.shukh_table_state import (
    ACCUSE,
    ASK_SIX,
    CALLING,
    PASS,
    REACTING,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

IDS = ("Sh-1", "Sh-2", "Sh-3", "Sh-4a", "Sh-4b", "Sh-5", "Sh-6", "Sh-7", "Sh-8", "Sh-9", "Sh-10", "Sh-11", "Sh-12")
OFFENCES = dict(
    enumerate(("Sh-1", "Sh-2", "Sh-3", "Sh-4a", "Sh-4b", "Sh-5", "Sh-6", "Sh-7", "Sh-9", "Sh-10", "Sh-12"), start=1)
)
"""What the codes in the state mean."""


@dataclass(frozen=True)
class Settings:
    """What to play and where to write it."""

    parties: int = 2000
    """Parties of four players."""
    seed: int = 0
    """Seed of the first party."""
    out: Path = Path(__file__).parent.parent / "docs" / "envs" / "shukh_table_offences.png"
    """File of the chart."""


def play(settings: Settings, random_seats: int) -> tuple[Counter[str], Counter[str]]:
    """How often each offence was committed and punished; the random seats change from party to party."""
    game = cardgym.load_game("shukh_table")
    n = settings.parties
    batch = Batch(game, game.options(), n)
    batch.reset(range(settings.seed, settings.seed + n))
    generator, agents = np.random.default_rng(settings.seed), (RuleAgent(game), CarelessAgent())
    done: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    rows = np.arange(n)
    while len(rows):
        before = batch.states[rows].copy()
        assigned = ((batch.players[rows] + rows) % batch.seats < random_seats).astype(int)
        actions = act_by_assignment(batch, rows, agents, assigned, generator)
        batch.step(actions, rows)
        count(before, actions, batch.states[rows], done, caught)
        rows = rows[~batch.over[rows]]
    return done, caught


def count(before: np.ndarray, actions: np.ndarray, after: np.ndarray, done: Counter[str], caught: Counter[str]) -> None:
    """Adds what one decision in each of many parties was."""
    opened = (after["act"] > 0) & ((before["act"] == 0) | (before["stage"] != REACTING)) & (actions != PASS)
    for code, name in OFFENCES.items():
        fresh = opened & (after["offence"] == code) & (before["act"] == 0)
        done[name] += int(fresh.sum())
        accused = (before["stage"] == REACTING) & (actions == ACCUSE) & (before["offence"] == code)
        caught[name] += int(accused.sum())
    false = (before["stage"] == REACTING) & (actions == ACCUSE) & (before["offence"] == 0)
    done["Sh-8"] += int(false.sum())
    caught["Sh-8"] += int(false.sum())
    done["Sh-11"] += int(((before["stage"] == CALLING) & (actions == PASS)).sum())
    questions = (before["stage"] == REACTING) & (actions > ASK_SIX)
    caught["Sh-11"] += int(questions.sum())
    asked = int(((before["stage"] == REACTING) & (actions == ASK_SIX)).sum())
    done["Sh-12"] += asked
    caught["Sh-12"] += asked


def chart(panels: dict[str, tuple[Counter[str], Counter[str]]], parties: int, path: Path) -> None:
    """Two bars for each offence, per party, a panel for each kind of party, as PNG."""
    figure, rows = plt.subplots(len(panels), figsize=(11, 7.5), dpi=110, layout="constrained")
    places = np.arange(len(IDS))
    for axes, (title, counts) in zip(rows, panels.items(), strict=True):
        for shift, found, label in zip((-0.2, 0.2), counts, ("committed", "punished"), strict=True):
            numbers = np.array([found[i] for i in IDS]) / parties
            bars = axes.bar(places + shift, numbers, 0.4, label=label)
            axes.bar_label(bars, [f"{x:.2f}" if x < 10 else f"{x:.0f}" for x in numbers], fontsize=7, padding=1)
        axes.set_xticks(places, IDS)
        axes.set(ylabel="times in a party", title=f"{title}, {parties} parties of four")
        axes.margins(y=0.1)
        axes.legend(frameon=False)
        axes.grid(axis="y", alpha=0.25)
    with written_aside(path) as aside:
        figure.savefig(aside)
    plt.close(figure)


def main(settings: Settings) -> None:
    """Plays, prints, draws."""
    panels = {}
    for title, random_seats in (("One random seat among three rule bots", 1), ("Random seats alone", 4)):
        done, caught = panels[title] = play(settings, random_seats)
        for name in IDS:
            print(f"{title}: {name}: committed {done[name]}, punished {caught[name]}")
    chart(panels, settings.parties, settings.out)


if __name__ == "__main__":
    main(tyro.cli(Settings))
