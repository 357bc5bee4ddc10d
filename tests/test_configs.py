"""Every settings file of the native learners fits its game: a small run with it learns something finite."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardgym
from cardgym.baselines import dmc, exploit, ppo
from cardgym.baselines.agents import RandomAgent
from cardgym.baselines.training import Learner, settings_from_file

FOLDER = Path(__file__).parent.parent / "configs"
KINDS: dict[str, Any] = {"ppo": ppo.Settings, "dmc": dmc.Settings, "exploit": exploit.Settings}
CASES = [(kind, game) for kind in KINDS for game in cardgym.game_names()]


def test_no_file_is_without_a_learner() -> None:
    names = {p.stem for p in FOLDER.glob("*.toml") if not p.stem.startswith("ppo_sb3_")}
    assert names == {f"{kind}_{game}" for kind, game in CASES}


@pytest.mark.parametrize(("kind", "game_name"), CASES)
def test_a_small_run_with_it(kind: str, game_name: str) -> None:
    game = cardgym.load_game(game_name)
    settings = settings_from_file(KINDS[kind], kind, game_name)
    small: dict[str, Any] = {"num_games": 8, "minibatch": 64, "network": (16,), "precision": "float32"}
    if "steps" in {f.name for f in fields(settings)}:
        small["steps"] = 32
    settings = replace(settings, **small)
    learner: Learner
    if kind == "dmc":
        settings = replace(settings, epsilon=1.0)  # an untrained network may play Shukh for very long
        learner = dmc.Learner(game, settings)
    else:
        learner = ppo.Learner(game, settings, RandomAgent() if kind == "exploit" else None)
    before = [p.clone() for p in learner.network.parameters()]
    figures = learner.update()
    assert figures["decisions"] == learner.decisions > 0
    assert all(np.isfinite(v) for v in figures.values())
    assert any((a != b).any() for a, b in zip(learner.network.parameters(), before, strict=True))
    assert settings.canonical_suits == bool(game.suit_order)
