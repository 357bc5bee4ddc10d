"""Search: it finds what is there, sees only what its seat sees, and says when it cheats."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.search import BLOCK, ISMCTS, PIMC, named
from cardgym.batch import Batch, resample, sample
from cardgym.errors import CardGymError, InvalidOption
from cardgym.kernel import JIT

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()
CANONICAL = {"chouine": {}, "shukh": {"memory": "table"}, "tarot": {}}
"""Games whose ``resample`` gives the same world from all states that a seat cannot tell apart; options that hide."""


def positions(game: cardgym.game.Game, n: int, decisions: int, **options: Any) -> Batch:
    """Games after so many decisions of random play."""
    batch = Batch(game, game.options.of(**options), n)
    batch.reset(range(n))
    generator = np.random.default_rng(0)
    for _ in range(decisions):
        rows = np.flatnonzero(~batch.over)
        batch.step(sample(batch.mask[rows], generator), rows)
    return batch


def outcomes(batch: Batch, rows: np.ndarray, by: str) -> np.ndarray:
    """Rewards of the seats to act after each action, by going through all continuations; NaN where illegal.

    ``by`` says how they are weighed: ``"chance"`` (all actions equally likely), ``"best"`` (every seat does its best),
    ``"worst"`` (everything turns out as badly as it can).
    """

    def by_action(batch: Batch, rows: np.ndarray, seats: np.ndarray) -> np.ndarray:
        n, actions = np.nonzero(batch.mask[rows])
        then = Batch(GAME, None, len(n))
        then.states[:] = batch.states[rows[n]]
        then.refresh(np.arange(len(n)))
        then.step(actions)
        values = then.rewards[np.arange(len(n)), seats[n]]
        live = np.flatnonzero(~then.over)
        if len(live):
            found = by_action(then, live, seats[n][live])
            mine = then.players[live] == seats[n][live]
            low, high = np.nanmin(found, axis=1), np.nanmax(found, axis=1)
            best = np.where(mine, high, low)
            values[live] = {"chance": np.nanmean(found, axis=1), "best": best, "worst": low}[by]
        table = np.full((len(rows), len(GAME.actions)), np.nan)
        table[n, actions] = values
        return table

    return by_action(batch, rows, batch.players[rows])


def endgames(n: int, decisions: int, by: str) -> tuple[Decisions, np.ndarray]:
    """Positions in which one action alone is sure to win, and that action."""
    batch = positions(GAME, n, decisions)
    rows = np.flatnonzero(~batch.over & (batch.mask.sum(axis=1) > 1))
    winning = outcomes(batch, rows, by) > 0
    single = winning.sum(axis=1) == 1
    assert single.sum() >= 10
    return Decisions(batch, rows[single]), winning[single].argmax(axis=1)


# --- What it finds ---------------------------------------------------------------------------


def test_values_are_the_exact_means_where_nothing_is_hidden() -> None:
    """In the last tricks every world is the true one, so the means must approach those of a full enumeration."""
    batch = positions(GAME, 60, 30)
    rows = np.flatnonzero(~batch.over & (batch.mask.sum(axis=1) > 1))
    assert len(rows) >= 10
    exact = outcomes(batch, rows, "chance")
    values = PIMC(GAME, worlds=4000).values(Decisions(batch, rows), seed=1)
    np.testing.assert_array_equal(np.isneginf(values), np.isnan(exact))
    np.testing.assert_allclose(values[~np.isnan(exact)], exact[~np.isnan(exact)], atol=0.08)


def test_pimc_finds_the_safe_move() -> None:
    """Endgames in which one move wins whatever follows, and every other may lose."""
    decisions, right = endgames(1500, 30, "worst")
    for playouts in ("random", "rule"):
        values = PIMC(GAME, 300, playouts).values(decisions, seed=2)
        np.testing.assert_array_equal(values[np.arange(len(right)), right], 1.0)
    # At random the other moves do lose now and then; the rule bot may never blunder so.
    np.testing.assert_array_equal(PIMC(GAME, 300).act(decisions, np.random.default_rng(0)), right)


@pytest.mark.parametrize("playouts", ["random", "rule"])
def test_ismcts_finds_the_only_winning_move(playouts: str) -> None:
    """Endgames with a single move that wins against the best replies, however many replies lose to the others."""
    decisions, right = endgames(1000, 28, "best")
    visits, values = ISMCTS(GAME, 4000, playouts).search(decisions, seed=3)
    np.testing.assert_array_equal(visits.sum(axis=1), 4000)
    np.testing.assert_array_equal(visits.argmax(axis=1), right)
    assert (values[np.arange(len(right)), right] > 0).all()


def test_they_are_strong() -> None:
    for agent, against, bound in (
        (PIMC(GAME, 32), RandomAgent(), 0.85),
        (ISMCTS(GAME, 200), RandomAgent(), 0.85),
        (PIMC(GAME, 32, cheating=True), RuleAgent(GAME), 0.5),
    ):
        result = evaluate(GAME, OPTIONS, agent, against, deals=60)
        assert result.win_rate - result.win_rate_half > bound, agent.name


@pytest.mark.long
def test_tree_search_is_worth_its_tree() -> None:
    """At about the same number of play-outs and in more of them, with the rule bot's play-outs too."""
    tree, flat = ISMCTS(GAME, 1000), PIMC(GAME, 64)
    against_random = evaluate(GAME, OPTIONS, tree, RandomAgent(), deals=300)
    assert against_random.win_rate - against_random.win_rate_half > 0.9
    against_flat = evaluate(GAME, OPTIONS, tree, flat, deals=600)
    assert against_flat.win_rate - against_flat.win_rate_half > 0.5
    informed = evaluate(GAME, OPTIONS, PIMC(GAME, 64, "rule"), RuleAgent(GAME), deals=200)
    assert informed.win_rate - informed.win_rate_half > 0.5
    peeking = evaluate(GAME, OPTIONS, PIMC(GAME, 64, "rule", cheating=True), PIMC(GAME, 64, "rule"), deals=200)
    assert peeking.win_rate - peeking.win_rate_half > 0.5


# --- What it sees ----------------------------------------------------------------------------


def all_findings(game: cardgym.game.Game, cheating: bool, batch: Batch) -> list[np.ndarray]:
    """What every kind of search finds in all positions, with one seed."""
    decisions = Decisions(batch, np.flatnonzero(~batch.over))
    found = [PIMC(game, 20, p, cheating=cheating).values(decisions, 3) for p in ("random", "rule")]
    return found + [ISMCTS(game, 60, p, cheating=cheating).search(decisions, 3)[0] for p in ("random", "rule")]


@pytest.mark.parametrize("name", [n for n in cardgym.game_names() if n in CANONICAL])
@pytest.mark.parametrize("decisions", [4, 14])
def test_search_sees_only_its_seats_view(name: str, decisions: int) -> None:
    """Dealing the hidden cards anew changes nothing, to the last bit, in what it finds; a cheat does notice."""
    game = cardgym.load_game(name)
    batch = positions(game, 12, decisions, **CANONICAL[name])
    honest, cheating = all_findings(game, False, batch), all_findings(game, True, batch)
    before = batch.states.copy()
    resample(game, batch.states, batch.players, seed=5)
    assert (batch.states != before).all()
    batch.refresh(np.arange(12))
    for first, second in zip(honest, all_findings(game, False, batch), strict=True):
        np.testing.assert_array_equal(first, second)
    for first, second in zip(cheating, all_findings(game, True, batch), strict=True):
        assert (first != second).any()


def test_search_by_sampled_worlds_sees_no_more_than_chance() -> None:
    """Avinas deals anew by random exchanges from the true deal on, so worlds differ; their means must not."""
    game = importlib.import_module("cardgym.games.avinas").GAME
    batch = positions(game, 12, 12)
    rows = np.flatnonzero(~batch.over)

    def means(cheating: bool, seed: int) -> np.ndarray:
        decisions = Decisions(batch, rows)
        return PIMC(game, 150, cheating=cheating).values(decisions, seed)[decisions.mask != 0]

    honest, again, cheating = means(False, 3), means(False, 4), means(True, 3)
    resample(game, batch.states, batch.players, seed=5)
    batch.refresh(np.arange(12))
    apart = np.abs(honest - means(False, 5)).mean()
    assert apart < 1.3 * np.abs(honest - again).mean(), "no further apart than two runs on one deal"
    assert np.abs(cheating - means(True, 5)).mean() > 2 * apart


def test_play_outs_of_an_agent_see_only_its_seats_view() -> None:
    batch = positions(GAME, 10, 12)
    search = PIMC(GAME, 6, RuleAgent(GAME))
    first = search.values(Decisions(batch, np.arange(10)), 3)
    resample(GAME, batch.states, batch.players, seed=5)
    batch.refresh(np.arange(10))
    np.testing.assert_array_equal(first, search.values(Decisions(batch, np.arange(10)), 3))


def test_positions_are_left_alone() -> None:
    batch = positions(GAME, 20, 8)
    before = batch.states.tobytes(), batch.mask.tobytes(), batch.observation.tobytes()
    for name in ("pimc-4", "pimc-2@rule", "ismcts-20", "cheating-pimc-4", "cheating-ismcts-20"):
        load_agent(name, GAME).act(Decisions(batch, np.arange(20)), np.random.default_rng(0))
    assert (batch.states.tobytes(), batch.mask.tobytes(), batch.observation.tobytes()) == before


# --- Determinism -----------------------------------------------------------------------------


def test_same_seed_same_values_whatever_the_threads() -> None:
    """One position or many; margins, whose sums depend on the order in which floats are added."""
    options = GAME.options.of(reward="margin")
    batch = Batch(GAME, options, 30)
    batch.reset(range(30))
    for rows in (np.arange(30), np.arange(1)):
        decisions = Decisions(batch, rows)
        once = PIMC(GAME, 3 * BLOCK + 1).values(decisions, 9)
        tree = ISMCTS(GAME, 50).search(decisions, 9)
        for threads in (2, 3):
            np.testing.assert_array_equal(once, PIMC(GAME, 3 * BLOCK + 1, threads=threads).values(decisions, 9))
            np.testing.assert_array_equal(tree, ISMCTS(GAME, 50, threads=threads).search(decisions, 9))
        assert (once != PIMC(GAME, 3 * BLOCK + 1).values(decisions, 10)).any()
        assert (tree[0] != ISMCTS(GAME, 50).search(decisions, 10)[0]).any()


def test_many_positions_are_summed_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts draw other worlds, so only what nothing hides from must agree."""
    batch = positions(GAME, 60, 30)
    decisions = Decisions(batch, np.flatnonzero(~batch.over))
    whole = PIMC(GAME, 5, "rule").values(decisions, 1)
    monkeypatch.setattr("cardgym.baselines.search.POSITIONS", 7)
    np.testing.assert_array_equal(whole, PIMC(GAME, 5, "rule").values(decisions, 1))


PROGRAM = """
import json, numpy as np, cardgym
from cardgym.baselines.agents import Decisions
from cardgym.baselines.search import ISMCTS, PIMC
from cardgym.batch import Batch
game = cardgym.load_game("chouine")
batch = Batch(game, None, 2)
batch.reset([5, 6])
decisions = Decisions(batch, np.arange(2))
found = [PIMC(game, 2, "rule").values(decisions, 1), *ISMCTS(game, 12).search(decisions, 1)]
print(json.dumps([np.where(f == -np.inf, -9, f).tolist() for f in found]))
"""


@pytest.mark.skipif(not JIT, reason="compares with compiled code")
def test_plain_python_finds_the_same() -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, **extra}, capture_output=True, text=True, check=True
        ).stdout
        for extra in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    assert json.loads(printed[0]) == json.loads(printed[1])


# --- Leaves and budgets ----------------------------------------------------------------------


def test_play_outs_by_an_agent_are_those_of_the_compiled_bot() -> None:
    """Where nothing is hidden and the bot leaves nothing to chance, both roads give the same numbers."""
    batch = positions(GAME, 60, 30)
    decisions = Decisions(batch, np.flatnonzero(~batch.over))
    compiled, by_agent = PIMC(GAME, 3, "rule"), PIMC(GAME, 3, RuleAgent(GAME))
    np.testing.assert_allclose(by_agent.values(decisions, 1), compiled.values(decisions, 1))
    assert by_agent.simulated == compiled.simulated > 0


class Oracle(RuleAgent):
    """The rule bot with an opinion on every position: half the share of the deal that is over."""

    name = "oracle"
    options: dict[str, Any] = {"reward": "margin"}  # noqa: RUF012

    def values(self, decisions: Decisions) -> np.ndarray:
        states = decisions.true_states()
        assert (states["reward"] == 1).all(), "leaves are paid as the network was"
        return states["moves"] / 100


def test_values_stand_at_the_seats_next_decision() -> None:
    batch = positions(GAME, 60, 31)
    rows = np.flatnonzero(~batch.over)
    values = PIMC(GAME, 1, Oracle(GAME), at_leaves="value").values(Decisions(batch, rows), 7)
    worlds = Decisions(batch, rows).determinized(1, 7)[:, 0]
    generator = np.random.default_rng(0)
    ended = 0
    for n, row in enumerate(rows):
        for action in np.flatnonzero(batch.mask[row]):
            one = Batch(GAME, GAME.options.of(reward="margin"), 1)
            one.states[:] = worlds[n]
            one.states["reward"] = 1
            one.refresh(0)
            seat = one.players[0]
            one.step(np.array([action]))
            while not one.over[0] and one.players[0] != seat:
                one.step(RuleAgent(GAME).act(Decisions(one, np.arange(1)), generator))
            ended += int(one.over[0])
            expected = one.rewards[0, seat] if one.over[0] else one.states["moves"][0] / 100
            assert values[n, action] == pytest.approx(expected)
    assert ended > 0


@pytest.mark.parametrize("name", ["pimc-1ms", "pimc-1ms-rule", "ismcts-1ms", "pimc-1ms@rule"])
def test_time_budgets(name: str) -> None:
    batch = positions(GAME, 3, 10)
    agent = load_agent(name, GAME)
    assert agent.name == name
    actions = agent.act(Decisions(batch, np.arange(3)), np.random.default_rng(0))
    assert batch.mask[np.arange(3), actions].all()
    assert agent.simulated >= 3 * BLOCK  # type: ignore[attr-defined]


def test_a_full_tree_goes_on_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cardgym.baselines.search.POOL", 12)
    batch = positions(GAME, 1, 10)
    visits, _ = ISMCTS(GAME, None, milliseconds=20).search(Decisions(batch, np.arange(1)), 0)
    assert visits.sum() >= 32
    assert (visits[0] > 0).sum() == min(11, batch.mask[0].sum())


def test_any_number_of_seats() -> None:
    game = cardgym.load_game("shukh")
    for players in (2, 8):
        batch = positions(game, 4, 9, players=players, deck=52)
        for name in ("ismcts-30", "ismcts-30-rule", "pimc-2"):
            actions = load_agent(name, game).act(Decisions(batch, np.arange(4)), np.random.default_rng(0))
            assert batch.mask[np.arange(4), actions].all()


# --- Names and arguments ---------------------------------------------------------------------


def test_names() -> None:
    names = ("pimc-64", "pimc-16-rule", "cheating-pimc-8", "cheating-pimc-8-rule", "pimc-4@rule", "pimc-4@ismcts-10")
    for name in (*names, "ismcts-100", "ismcts-100-rule", "cheating-ismcts-5", "pimc-7ms", "ismcts-20ms-rule"):
        assert load_agent(name, GAME).name == name
    wrong = ("pimc-0", "pimc-x", "pimc-8-rules", "ismcts-8@rule", "pimc-8-value", "pimc-8-rule@rule", "pimc-5s")
    for name in (*wrong, "cheating-pimc-8@rule", "ismcts-8-value@rule"):
        with pytest.raises(InvalidOption, match="named like 'pimc-64'"):
            named(name, GAME)
    with pytest.raises(CardGymError, match="unknown agent 'nothing'"):
        load_agent("pimc-8@nothing", GAME)
    with pytest.raises(InvalidOption, match=r"needs an agent with values \(a saved model\), not rule"):
        load_agent("pimc-8-value@rule", GAME)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (PIMC, {"worlds": 0}, "worlds=0 is not a whole number"),
        (PIMC, {"worlds": 2.5}, "worlds=2.5 is not a whole number"),
        (ISMCTS, {"iterations": -1}, "iterations=-1 is not a whole number"),
        (ISMCTS, {"iterations": 5, "milliseconds": 5}, "one of the two"),
        (PIMC, {"worlds": None}, "one of the two"),
        (PIMC, {"worlds": None, "milliseconds": 0}, "milliseconds=0 is not a whole number"),
        (PIMC, {"threads": True}, "threads=True is not a whole number"),
        (PIMC, {"playouts": "best"}, "playouts='best' is not one of 'random', 'rule'"),
        (ISMCTS, {"playouts": "best"}, "playouts='best' is not one of 'random', 'rule'"),
        (ISMCTS, {"exploration": 0}, "exploration=0 is not a number above 0"),
        (PIMC, {"at_leaves": "values"}, "at_leaves='values' is not one of"),
        (PIMC, {"at_leaves": "value"}, "needs an agent with values"),
        (PIMC, {"playouts": RandomAgent(), "cheating": True}, "goes with playouts='random' or 'rule'"),
    ],
)
def test_wrong_arguments(kind: Any, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        kind(GAME, **arguments)
