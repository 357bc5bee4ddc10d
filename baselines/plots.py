"""Pictures of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

from cardgym.files import written_aside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cardgym.baselines.arena import CrossTable


def learning_curve(curve: Sequence[dict[str, Any]], title: str, path: Path) -> None:
    """Win rates over training with their 95 % intervals, as PNG.

    Args:
        curve: evaluations in order: ``decisions`` and ``results`` (see :class:`cardgym.baselines.evaluate.Result`).
        title: of the picture.
        path: file to write; written aside and renamed.
    """
    figure, axes = plt.subplots(figsize=(8, 4.8), dpi=120, layout="constrained")
    decisions = np.array([point["decisions"] for point in curve]) / 1e6
    rivals = [r["against"] for r in curve[0]["results"]] if curve else []
    for k, rival in enumerate(rivals):
        rate = 100 * np.array([point["results"][k]["win_rate"] for point in curve])
        half = 100 * np.array([point["results"][k]["win_rate_half"] for point in curve])
        (line,) = axes.plot(
            decisions, rate, marker="o", markersize=3.5, label=f"against {rival}: {rate[-1]:.0f} % at the end"
        )
        axes.fill_between(decisions, rate - half, rate + half, alpha=0.18, color=line.get_color(), linewidth=0)
    axes.axhline(50, color="0.5", linewidth=0.8, linestyle="--")
    axes.set(xlabel="learner decisions (millions)", ylabel="deals won (% of decided)", title=title, ylim=(0, 100))
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", frameon=False)
    _save(figure, path)


def cross_table(table: CrossTable, title: str, path: Path) -> None:
    """Who beats whom, as a heat map of win rates with intervals, margins and ratings, as PNG.

    Args:
        table: the results.
        title: of the picture.
        path: file to write; written aside and renamed.
    """
    n = len(table.agents)
    rates = np.full((n, n), np.nan)
    width = 0.075 * max(map(len, table.agents))
    figure, axes = plt.subplots(figsize=(2.6 + width + 1.15 * n, 1.6 + 0.5 * width + 0.85 * n), dpi=120)
    for i, agent in enumerate(table.agents):
        for j, against in enumerate(table.agents):
            if i == j:
                continue
            r = table.cell(agent, against)
            rates[i, j] = 100 * r.win_rate
            color = "white" if abs(r.win_rate - 0.5) > 0.27 else "black"
            axes.text(j, i - 0.12, f"{100 * r.win_rate:.1f}", ha="center", va="center", color=color, fontsize=12)
            small = f"± {100 * r.win_rate_half:.1f}\n{r.margin:+.1f} pts"
            axes.text(j, i + 0.23, small, ha="center", va="center", color=color, fontsize=7.5)
    axes.imshow(rates, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    for i, rating in enumerate(table.ratings):
        axes.text(n - 0.4, i, f"{rating.rating:+.0f} ± {rating.half:.0f}", ha="left", va="center", fontsize=10)
    axes.text(n - 0.4, -0.62, "Elo", ha="left", va="bottom", fontsize=10)
    axes.set_xticks(range(n), table.agents, rotation=30 if width > 0.8 else 0, ha="right" if width > 0.8 else "center")
    axes.set_yticks(range(n), table.agents)
    axes.set(xlabel="against", ylabel="agent")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    figure.suptitle(f"{title}\nwins, % of decided, ± 95 % interval; margin in natural points", fontsize=10)
    _save(figure, path)


def score_cards(cards: Sequence[dict[str, Any]], path: Path) -> None:
    """Win rates of one or more score cards against the ladder with their 95 % intervals, a panel a game, as PNG.

    Args:
        cards: as :func:`cardgym.baselines.scorecard.play_card` makes them.
        path: file to write; written aside and renamed.
    """
    games = list(dict.fromkeys(label for card in cards for label in card["games"]))
    rungs = list(
        dict.fromkeys(r["result"]["against"] for card in cards for g in card["games"].values() for r in g["rungs"])
    )
    step = 0.8 / len(cards)
    height = 1.5 + 0.35 * len(cards) + len(games) * (0.5 + len(rungs) * max(0.42, 0.26 * len(cards)))
    figure, all_axes = plt.subplots(
        len(games), figsize=(8, height), dpi=120, layout="constrained", squeeze=False, sharex=True
    )
    for axes, label in zip(all_axes[:, 0], games, strict=True):
        axes.axvline(50, color="0.5", linewidth=0.8, linestyle="--")
        for k, card in enumerate(cards):
            for rung in card["games"].get(label, {"rungs": []})["rungs"]:
                r = rung["result"]
                y = rungs.index(r["against"]) - 0.4 + (k + 0.5) * step
                rate, half = 100 * r["win_rate"], 100 * r["win_rate_half"]
                axes.errorbar(rate, y, xerr=half, fmt="o", markersize=5, capsize=3, color=f"C{k}")
                axes.text(103, y, f"{rate:.1f} ± {half:.1f}", va="center", fontsize=8, color=f"C{k}")
                axes.text(
                    122, y, f"{r['margin']:+.1f} ± {r['margin_half']:.1f}", va="center", fontsize=8, color=f"C{k}"
                )
        axes.set_yticks(range(len(rungs)), rungs)
        axes.set(ylim=(len(rungs) - 0.5, -0.5), xlim=(0, 100), title=label)
        axes.grid(alpha=0.25, axis="x")
    top = all_axes[0, 0]
    for x, text in ((103, "wins, %"), (122, "margin, points")):
        top.text(x, -0.55, text, va="bottom", fontsize=8)
    all_axes[-1, 0].set_xlabel("wins, % of decided, ± 95 % interval")
    marks = [Line2D([], [], color=f"C{k}", marker="o", linestyle="", label=_short(c)) for k, c in enumerate(cards)]
    figure.legend(handles=marks, loc="outside upper left", frameon=False)
    protocol = f"cardgym score card, protocol {cards[0]['protocol']}"
    figure.text(0.995, 0.002, protocol, ha="right", va="bottom", fontsize=7, color="0.4")
    _save(figure, path)


def _short(card: dict[str, Any]) -> str:
    """The agent of a card for a legend."""
    agent = card["agent"] if len(card["agent"]) <= 60 else "..." + card["agent"][-57:]
    return f"{agent} (scale {card['scale']})"


def _save(figure: Figure, path: Path) -> None:
    """Writes a figure aside, renames it into place and forgets it."""
    with written_aside(path) as aside:
        figure.savefig(aside, bbox_inches="tight")
    plt.close(figure)


def curves_over_seeds(runs: Mapping[str, Sequence[Sequence[dict[str, Any]]]], title: str, path: Path) -> None:
    """Win rates over training, one panel for each rival; mean over seeds, the band from worst to best seed.

    Args:
        runs: by label, the learning curves of some seeds (see :func:`learning_curve`), all with as many points.
        title: of the picture.
        path: PNG to write; written aside and renamed.
    """
    rivals = [r["against"] for r in next(iter(runs.values()))[0][0]["results"]]
    figure, panels = plt.subplots(1, len(rivals), figsize=(5.2 * len(rivals), 4.4), dpi=120, layout="constrained")
    for k, (rival, axes) in enumerate(zip(rivals, np.atleast_1d(panels), strict=True)):
        for label, curves in runs.items():
            decisions = np.array([[p["decisions"] for p in curve] for curve in curves]).mean(axis=0) / 1e6
            rates = 100 * np.array([[p["results"][k]["win_rate"] for p in curve] for curve in curves])
            (line,) = axes.plot(
                decisions, rates.mean(axis=0), marker="o", markersize=3, label=f"{label}: {rates[:, -1].mean():.1f} %"
            )
            axes.fill_between(
                decisions, rates.min(axis=0), rates.max(axis=0), alpha=0.18, color=line.get_color(), linewidth=0
            )
        axes.axhline(50, color="0.5", linewidth=0.8, linestyle="--")
        axes.set(xlabel="decisions (millions)", ylabel=f"deals won against {rival} (% of decided)", ylim=(0, 100))
        axes.grid(alpha=0.25)
        axes.legend(loc="lower right", frameon=False)
    figure.suptitle(title)
    _save(figure, path)
