"""``benchmarks/ladder.py``: games once played are kept, and give what playing them at once gives."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import load_agent
from cardgym.baselines.evaluate import FIRST_DEAL, Games, play_duplicate

GAME = cardgym.load_game("chouine")


@pytest.fixture
def ladder(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    sys.modules.pop("ladder", None)
    found = importlib.import_module("ladder")
    monkeypatch.setattr(found, "CHUNK", 3)
    return found


def test_a_run_that_was_stopped_plays_only_what_is_missing(
    ladder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box, rung, told = load_agent("box", GAME), load_agent("random", GAME), []
    five = ladder.games_between(GAME, box, rung, 5, tmp_path, told.append)
    assert len(five.rewards) == 5
    assert told[-1] == max(told) == 10
    played = []

    def play(*args: Any, **kwargs: Any) -> Games:
        played.append(args[4])
        return play_duplicate(*args, **kwargs)

    monkeypatch.setattr(ladder, "play_duplicate", play)
    eight = ladder.games_between(GAME, box, rung, 8, tmp_path, told.append)
    assert played == [range(FIRST_DEAL + 3, FIRST_DEAL + 6), range(FIRST_DEAL + 6, FIRST_DEAL + 8)]
    starts = ((0, 3), (3, 3), (6, 2))
    seeds = [(range(FIRST_DEAL + first, FIRST_DEAL + first + count), FIRST_DEAL + first) for first, count in starts]
    fresh = [play_duplicate(GAME, GAME.options(), box, rung, deals, seed) for deals, seed in seeds]
    for name, value in vars(Games.joined(fresh)).items():
        np.testing.assert_array_equal(value, getattr(eight, name), err_msg=name)


def test_games_of_other_weights_are_not_taken(ladder: Any, tmp_path: Path) -> None:
    box, rung = load_agent("box", GAME), load_agent("random", GAME)
    ladder.games_between(GAME, box, rung, 3, tmp_path, lambda games: None)
    before = ladder.fingerprint(box)
    network: Any = box
    network.network.value.bias.data += 1.0
    assert ladder.fingerprint(box) != before
    ladder.games_between(GAME, box, rung, 3, tmp_path, lambda games: None)
    assert len(list(tmp_path.iterdir())) == 2
