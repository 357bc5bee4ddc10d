"""Agents: what they may see, that they play lawfully, that the rule bot is worth playing against."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import (
    CallableAgent,
    Decisions,
    RandomAgent,
    RuleAgent,
    act_by_assignment,
    load_agent,
    load_agents,
)
from cardgym.baselines.evaluate import evaluate
from cardgym.batch import Batch, resample, sample
from cardgym.errors import CardGymError, IllegalAction, InvalidAction, InvalidRecord

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


# --- Names and functions -----------------------------------------------------------------------


def first_legal(decisions: Decisions, generator: np.random.Generator) -> np.ndarray:
    return decisions.mask.argmax(axis=1)


NOT_A_FUNCTION = 7


def test_load_agent() -> None:
    game = GAMES[0]
    assert load_agent("random", game).name == "random"
    assert load_agent("rule", game).name == "rule"
    assert load_agent("pimc-4", game, threads=2).threads == 2  # type: ignore[attr-defined]
    with pytest.raises(
        CardGymError, match="unknown agent 'rul': there is no such file, and the names of agents are random"
    ):
        load_agent("rul", game)
    with pytest.raises(CardGymError, match="agent 'rule' has no policy to draw from"):
        load_agent("sampled:rule", game)


def test_agents_of_one_name_are_told_apart() -> None:
    names = ("pimc-8@rule", "rule", f"{__name__}:first_legal", "rule")
    assert [a.name for a in load_agents(names[:3], GAMES[0])] == list(names[:3])
    assert [a.name for a in load_agents((names[1], "pimc-8"), GAMES[0])] == ["rule", "pimc-8"]


def test_a_function_plays() -> None:
    game = GAMES[0]
    agent = load_agent(f"{__name__}:first_legal", game)
    assert agent.name == f"{__name__}:first_legal"
    result = evaluate(game, game.options(), agent, RandomAgent(), deals=5)
    assert result.games == 10


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:f", "cannot import 'no_such_module'"),
        (f"{__name__}:first_lega", "has no 'first_lega'. Did you mean 'first_legal'"),
        (f"{__name__}:NOT_A_FUNCTION", "NOT_A_FUNCTION is a int, not a function"),
    ],
)
def test_wrong_functions(name: str, message: str) -> None:
    with pytest.raises(CardGymError, match=message):
        load_agent(name, GAMES[0])


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda d: None, InvalidAction, "must return 3 integers.*it returned NoneType"),
        (lambda d: d.mask.argmax(axis=1) + 0.5, InvalidAction, "must return 3 integers.*ndarray of float64"),
        (lambda d: d.mask, InvalidAction, r"shape \(3, 51\)"),
        (lambda d: [0, 0], InvalidAction, r"list of int64, shape \(2,\)"),
        (lambda d: [-1, 0, 0], InvalidAction, "'f' chose action -1 for position 0: actions of chouine are 0 ... 50"),
        (lambda d: d.mask.argmin(axis=1), IllegalAction, "agent 'f': chouine: seat . may not take action"),
    ],
)
def test_what_a_function_returns_is_checked(returned: Any, error: type[Exception], message: str) -> None:
    batch = Batch(cardgym.load_game("chouine"), None, 3)
    batch.reset(range(3))
    with pytest.raises(error, match=message):
        CallableAgent(lambda decisions, generator: returned(decisions), "f").act(
            Decisions(batch, np.arange(3)), np.random.default_rng(0)
        )


def test_a_saved_model_plays_draws_and_values(tmp_path: Path) -> None:
    """As it is, sampled, in the play-outs of a search and at its leaves."""
    pytest.importorskip("sb3_contrib")
    from cardgym.baselines import ppo_sb3
    from cardgym.baselines.training import settings_from_file

    game = cardgym.load_game("chouine")
    settings = replace(
        settings_from_file(ppo_sb3.Settings, "ppo_sb3", "chouine"), num_games=4, steps=4, minibatch=16, network=(8,)
    )
    path = tmp_path / "tiny.zip"
    ppo_sb3.save(ppo_sb3.make_model(game, settings), path)
    batch = scattered(game, 20)
    decisions = Decisions(batch, np.arange(20))
    greedy, sampled = load_agent(str(path), game), load_agent(f"sampled:{path}", game)
    assert (greedy.name, sampled.name) == ("tiny", "tiny (sampled)")
    plays = [greedy.act(decisions, np.random.default_rng(i)) for i in range(2)]
    draws = [sampled.act(decisions, np.random.default_rng(i)) for i in range(2)]
    np.testing.assert_array_equal(*plays)
    assert (draws[0] != draws[1]).any()
    for name, shown in ((f"pimc-2@{path}", "pimc-2@tiny"), (f"pimc-2-value@{path}", "pimc-2-value@tiny")):
        search = load_agent(name, game)
        assert search.name == shown
        actions = search.act(decisions, np.random.default_rng(0))
        assert batch.mask[np.arange(20), actions].all()
    values = greedy.values(decisions)  # type: ignore[attr-defined]
    assert (values.shape, values.dtype) == ((20,), np.float64)
    assert len(set(values)) > 10


def test_a_model_of_ones_own_needs_a_note(tmp_path: Path) -> None:
    """Trained by the user's own lines, as in the README, then played by its file."""
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from cardgym.baselines import sb3_agent
    from cardgym.wrappers import SB3VecEnv, VectorSelfPlay

    game = cardgym.load_game("chouine")
    env = SB3VecEnv(VectorSelfPlay(cardgym.make_vec("Chouine-v0", num_envs=2), [RandomAgent()]), seed=0)
    model = sb3_contrib.MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, device="cpu")
    model.save(tmp_path / "mine.zip")
    with pytest.raises(InvalidRecord, match=r"before model\.save set model\.cardgym_notes"):
        load_agent(str(tmp_path / "mine.zip"), game)
    model.cardgym_notes = sb3_agent.notes(game, False, {})
    model.save(tmp_path / "mine.zip")
    agent = load_agent(str(tmp_path / "mine.zip"), game)
    assert evaluate(game, game.options(), agent, RandomAgent(), deals=5).games == 10
