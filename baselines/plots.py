"""Pictures of results."""

from __future__ import annotations

from collections.abc import Sequence
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
