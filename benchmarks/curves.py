"""Learning curves of native PPO over several seeds, and what relabelling suits is worth.

    python benchmarks/curves.py --game chouine --picture docs/pictures/chouine_curves.png
    python benchmarks/curves.py --game chouine --suits --picture docs/pictures/chouine_suits.png

Settings are those of ``cardgym/configs/ppo_<game>.toml`` with another budget.  Runs go to ``runs/curves``; those that
are there already, made with the same settings, are not made again, and one that was interrupted goes on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

import cardgym
from cardgym.baselines import model_file, ppo
from cardgym.baselines.plots import curves_over_seeds
from cardgym.baselines.training import Ladder, run, settings_from_file


@dataclass(frozen=True)
class Settings:
    """What to train and where to draw it."""

    picture: Path
    """PNG to write"""
    game: str = "chouine"
    """name of the game"""
    suits: bool = False
    """draw two curves, with suits relabelled and as they are"""
    decisions: int = 1_000_000
    """of each run"""
    seeds: tuple[int, ...] = (1, 2, 3)
    """one run for each"""
    num_games: int = 512
    """games side by side"""
    minibatch: int = 1024
    """decisions per gradient step"""
    network: tuple[int, ...] = (256, 256)
    """hidden layers"""
    curve_points: int = 10
    """evaluations of each run"""
    curve_deals: int = 500
    """duplicate deals of each"""
    out: Path = Path("runs/curves")
    """folder for the runs"""


def curve(settings: ppo.Settings, console: Console) -> list[dict[str, Any]]:
    """The learning curve of a run, made if it is not there."""
    assert settings.out is not None
    folder = settings.out
    made = folder / "settings.json"
    if made.is_file() and (folder / "model.pt").is_file():
        if json.loads(made.read_text()) != json.loads(json.dumps(model_file.plain(settings))):
            raise SystemExit(f"error: {folder} holds a run with other settings; remove it, or give another --out")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        learner = ppo.Learner(cardgym.load_game(settings.game), settings)
        if (folder / "checkpoint.pt").is_file():
            learner.restore(folder / "checkpoint.pt")
        else:
            learner.prepare(console)
        run(learner, Ladder(learner.game, settings.curve_deals), folder, console)
        made.write_text(json.dumps(model_file.plain(settings), indent=2) + "\n")
        (folder / "curve.json").write_text(json.dumps(learner.curve, indent=2) + "\n")
    found: list[dict[str, Any]] = json.loads((folder / "curve.json").read_text())
    return found


def main(settings: Settings) -> None:
    """Trains what is missing and draws the picture."""
    console = Console()
    base = replace(
        settings_from_file(ppo.Settings, "ppo", settings.game),
        decisions=settings.decisions, num_games=settings.num_games, minibatch=settings.minibatch,
        network=settings.network, curve_points=settings.curve_points, curve_deals=settings.curve_deals,
    )  # fmt: skip
    variants = (
        {"suits relabelled": True, "suits as they are": False} if settings.suits else {"PPO": base.canonical_suits}
    )
    runs = {
        label: [
            curve(
                replace(
                    base, seed=seed, canonical_suits=relabelled,
                    out=settings.out / f"{settings.game}-{'relabelled' if relabelled else 'plain'}-{seed}",
                ),
                console,
            )
            for seed in settings.seeds
        ]
        for label, relabelled in variants.items()
    }  # fmt: skip
    settings.picture.parent.mkdir(parents=True, exist_ok=True)
    title = f"{cardgym.load_game(settings.game).title}: self-play PPO, {len(settings.seeds)} seeds, mean and range"
    curves_over_seeds(runs, title, settings.picture)
    console.print(f"written: {settings.picture}")


if __name__ == "__main__":
    main(tyro.cli(Settings))
