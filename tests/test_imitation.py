"""Learning from the rule bot before training: what is watched is what was played, and a model comes to choose alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from test_training import SMALL

import cardgym
from cardgym.baselines import ppo
from cardgym.baselines.agents import RandomAgent, RuleAgent
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.imitation import FIRST_GAME, imitate, watch
from cardgym.baselines.ppo_sb3 import imitation_step, make_model, train
from cardgym.baselines.sb3_agent import SB3Agent
from cardgym.baselines.training import settings_from_file
from cardgym.batch import Batch
from cardgym.errors import InvalidOption
from cardgym.suits import SuitRelabelling

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options.of(reward="margin")


@pytest.mark.parametrize("canonical_suits", [False, True])
def test_what_is_watched_is_what_was_played(canonical_suits: bool) -> None:
    """Played again decision by decision, in single games: every one is there, with what its seat gained after it."""
    watched = watch(GAME, OPTIONS, RuleAgent(GAME), 7, 3, canonical_suits)
    assert (watched.mask[np.arange(len(watched.action)), watched.action] == 1).all()
    suits, bot = SuitRelabelling(GAME), RuleAgent(GAME)
    expected = []
    for seed in (7, 8, 9):
        batch = Batch(GAME, OPTIONS, 1)
        batch.reset([seed])
        game, rewards = [], []
        while not batch.over[0]:
            action = np.zeros(1, np.int64)
            bot._decide(batch.observation, batch.mask, action)
            seen, mask = batch.observation.copy(), batch.mask.copy()
            order = suits.orders(seen)
            shown = (suits.encoding("observation", seen, order), suits.mask(mask, order), order)
            game.append((*(shown if canonical_suits else (seen, mask, None)), action[0], int(batch.players[0])))
            batch.step(action)
            rewards.append(batch.rewards[0].copy())
        for k, (seen, mask, order, action, seat) in enumerate(game):
            if order is not None:
                action = next(a for a in range(len(GAME.actions)) if suits.actions(np.array([a]), order)[0] == action)
            expected.append((seen.tobytes(), mask.tobytes(), int(action), sum(r[seat] for r in rewards[k:])))
    found = zip(watched.observation, watched.mask, watched.action, watched.gain)
    assert sorted((o.tobytes(), m.tobytes(), int(a), g) for o, m, a, g in found) == sorted(expected)


def test_a_model_comes_to_choose_as_the_bot_does() -> None:
    model = make_model(GAME, SMALL)
    other = watch(GAME, GAME.options(), RuleAgent(GAME), FIRST_GAME - 100, 100, True)

    def agreement() -> float:
        logits = SB3Agent(model, GAME, True)._logits(other.observation, other.mask)
        return float((logits.argmax(axis=1) == other.action).mean())

    def error() -> float:
        values = model.policy.predict_values(torch.from_numpy(other.observation).float()).detach().numpy()
        return float(((values.ravel() - other.gain) ** 2).mean())

    before, told = (agreement(), error()), []
    step, rule = imitation_step(model), RuleAgent(GAME)
    imitate(step, GAME, GAME.options(), rule, 30_000, True, lambda done, note: told.append((done, note)))
    after = (agreement(), error())
    assert after[0] > max(0.6, before[0] + 0.2)
    assert after[1] < before[1]
    assert told[-1][0] == 30_000
    assert "cross entropy" in told[-1][1]
    result = evaluate(GAME, GAME.options(), SB3Agent(model, GAME, True), RandomAgent(), 200)
    assert result.margin - result.margin_half > 0


def test_training_begins_with_it(tmp_path: Path) -> None:
    """The curve starts from what was learned from the bot; the run is reproducible and says how it was made."""
    results = []
    for name in ("a", "b"):
        settings = replace(SMALL, out=tmp_path / name, imitate=1000, decisions=512, deals=30, record_games=1)
        with (tmp_path / f"{name}.txt").open("w") as log:
            results.append(train(settings, Console(file=log, width=100)))
    assert results[0] == results[1]
    assert "learning from the rule bot: 100 %" in (tmp_path / "a.txt").read_text()
    assert MaskablePPO.load(tmp_path / "a" / "model.zip").cardgym_settings["imitate"] == 1000


def test_the_native_learner_comes_to_choose_as_the_bot_does() -> None:
    settings = replace(
        settings_from_file(ppo.Settings, "ppo", "chouine"),
        num_games=32, steps=32, minibatch=256, network=(64,), precision="float32", imitate=30_000, curve_deals=10,
    )  # fmt: skip
    learner = ppo.Learner(GAME, settings)
    other = watch(GAME, OPTIONS, RuleAgent(GAME), FIRST_GAME - 100, 100, True)

    def judged() -> tuple[float, float]:
        with torch.inference_mode():
            logits, values = learner.network(torch.from_numpy(other.observation))
        best = np.where(other.mask, logits.numpy(), -np.inf).argmax(axis=1)
        return float((best == other.action).mean()), float(((values.numpy() - other.gain) ** 2).mean())

    before = judged()
    learner.prepare(Console(quiet=True))
    after = judged()
    assert after[0] > max(0.6, before[0] + 0.2)
    assert after[1] < before[1]
    with pytest.raises(InvalidOption, match="imitate=1000 goes with a critic"):
        replace(settings, imitate=1000, critic="state")
