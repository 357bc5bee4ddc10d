"""Pictures of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt


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
    aside = path.with_name(path.stem + ".part.png")
    figure.savefig(aside)
    plt.close(figure)
    aside.replace(path)


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
    aside = path.with_name(path.stem + ".part.png")
    figure.savefig(aside)
    plt.close(figure)
    aside.replace(path)
