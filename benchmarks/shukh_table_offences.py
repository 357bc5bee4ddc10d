"""How often each offence of Shukh at the table is committed and punished when one seat plays at random.

    python benchmarks/shukh_table_offences.py

plays parties of one random seat among rule bots from fixed seeds, and writes the chart of the documentation.
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


def play(settings: Settings) -> tuple[Counter[str], Counter[str]]:
    """How often each offence was committed and punished; the random seat changes from party to party."""
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
        assigned = (batch.players[rows] == rows % batch.seats).astype(int)
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


def chart(done: Counter[str], caught: Counter[str], parties: int, path: Path) -> None:
    """Two bars for each offence, per party, as PNG."""
    figure, axes = plt.subplots(figsize=(9, 4.5), dpi=120, layout="constrained")
    places = np.arange(len(IDS))
    made = np.array([done[i] for i in IDS]) / parties
    met = np.array([caught[i] for i in IDS]) / parties
    for shift, numbers, label in ((-0.2, made, "committed"), (0.2, met, "punished")):
        bars = axes.bar(places + shift, numbers, 0.4, label=label)
        axes.bar_label(bars, [f"{x:.2g}" for x in numbers], fontsize=7, padding=1)
    axes.set_xticks(places, IDS)
    axes.set(ylabel="times in a party", title=f"One random seat among three rule bots, {parties} parties")
    axes.legend(frameon=False)
    axes.grid(axis="y", alpha=0.25)
    aside = path.with_name(path.stem + ".part.png")
    figure.savefig(aside)
    plt.close(figure)
    aside.replace(path)


def main(settings: Settings) -> None:
    """Plays, prints, draws."""
    done, caught = play(settings)
    for name in IDS:
        print(f"{name}: committed {done[name]}, punished {caught[name]}")
    chart(done, caught, settings.parties, settings.out)


if __name__ == "__main__":
    main(tyro.cli(Settings))
