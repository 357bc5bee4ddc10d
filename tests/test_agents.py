"""Agents: what they may see, that they play lawfully, that the rule bot is worth playing against."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent, act_by_assignment, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.batch import Batch, resample, sample
from cardgym.errors import CardGymError

GAMES = [cardgym.load_game(name) for name in cardgym.game_names()]


def scattered(game: cardgym.game.Game, n: int, seed: int = 0) -> Batch:
    """Games at all depths of random play."""
    batch = Batch(game, None, n)
    batch.reset(range(n))
    generator = np.random.default_rng(seed)
    for row in range(n):
        rows = np.arange(row, n)
        batch.step(sample(batch.mask[rows], generator), rows, autoreset=True)
    return batch


@pytest.mark.parametrize("game", GAMES, ids=lambda g: g.name)
@pytest.mark.parametrize("make", [lambda g: RandomAgent(), RuleAgent], ids=["random", "rule"])
def test_agents_play_lawfully(game: cardgym.game.Game, make: object) -> None:
    agent = make(game)  # type: ignore[operator]
    batch = Batch(game, None, 300)
    batch.reset(range(300))
    generator = np.random.default_rng(0)
    for _ in range(100):
        actions = agent.act(Decisions(batch, np.arange(300)), generator)
        assert batch.mask[np.arange(300), actions].all()
        batch.step(actions, autoreset=True)


@pytest.mark.parametrize("game", GAMES, ids=lambda g: g.name)
def test_decisions_show_only_the_seats_view(game: cardgym.game.Game) -> None:
    """Whatever an agent can reach stays the same when all that its seat cannot know is dealt anew."""
    batch = scattered(game, 200)
    rows = np.arange(200)
    before = Decisions(batch, rows)
    seen = (before.observation, before.mask, before.seats, before.history(), RuleAgent(game).act(before, None))  # type: ignore[arg-type]
    worlds = before.determinized(3, seed=7)
    hidden = batch.states.copy()
    resample(game, batch.states, batch.players, seed=1)
    assert (batch.states != hidden).mean() > 0.9
    for row in rows:
        batch.refresh(row)
    after = Decisions(batch, rows)
    again = (after.observation, after.mask, after.seats, after.history(), RuleAgent(game).act(after, None))  # type: ignore[arg-type]
    for a, b in zip(seen, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert worlds.shape == (200, 3)
    assert len({w.tobytes() for w in worlds[:, 0]} | {w.tobytes() for w in worlds[:, 1]}) == 400
    for k in range(3):
        batch.states[:] = worlds[:, k]
        views = batch.views(before.seats)
        np.testing.assert_array_equal(views.observation, before.observation)
        np.testing.assert_array_equal(views.mask, before.mask)


def test_determinized_is_reproducible() -> None:
    batch = scattered(GAMES[0], 50)
    decisions = Decisions(batch, np.arange(50))
    assert decisions.determinized(4, 11).tobytes() == decisions.determinized(4, 11).tobytes()
    assert decisions.determinized(4, 11).tobytes() != decisions.determinized(4, 12).tobytes()


def test_act_by_assignment_asks_each_agent_for_its_own_rows() -> None:
    class Fixed:
        def __init__(self, place: int) -> None:
            self.name, self.place, self.asked = str(place), place, 0

        def act(self, decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
            self.asked += len(decisions)
            return np.array([np.flatnonzero(m)[self.place] for m in decisions.mask])

    batch = Batch(GAMES[0], None, 6)
    batch.reset(range(6))
    agents = (Fixed(0), Fixed(-1))
    rows, assigned = np.array([5, 0, 3]), np.array([1, 0, 1])
    actions = act_by_assignment(batch, rows, agents, assigned, np.random.default_rng(0))
    expected = [np.flatnonzero(batch.mask[r])[-1 if a else 0] for r, a in zip(rows, assigned, strict=True)]
    assert actions.tolist() == expected
    assert [a.asked for a in agents] == [1, 2]


def test_chouine_rule_bot_beats_random() -> None:
    """At least 87 % of decided deals, over 2 000 duplicate deals."""
    game = cardgym.load_game("chouine")
    result = evaluate(game, game.options(), RuleAgent(game), RandomAgent(), deals=2000)
    assert result.win_rate - result.win_rate_half > 0.87
    assert result.margin > 50


def test_load_agent(tmp_path: Path) -> None:
    game = GAMES[0]
    assert load_agent("random", game).name == "random"
    assert load_agent("rule", game).name == "rule"
    with pytest.raises(CardGymError, match="unknown agent 'rul': neither 'random', 'rule', 'mc-64' nor the file"):
        load_agent("rul", game)
