"""Monte Carlo search: it finds what is there, sees only what its seat sees, and says when it cheats."""

from __future__ import annotations

import numpy as np
import pytest

import cardgym
from cardgym.baselines.agents import Decisions, RandomAgent, RuleAgent, load_agent
from cardgym.baselines.evaluate import evaluate
from cardgym.baselines.search import MonteCarlo, named
from cardgym.batch import Batch, resample, sample
from cardgym.errors import InvalidOption

GAME = cardgym.load_game("chouine")
OPTIONS = GAME.options()


def late_positions(n: int, decisions: int = 30) -> Batch:
    """Games shortly before their end."""
    batch = Batch(GAME, None, n)
    batch.reset(range(n))
    generator = np.random.default_rng(0)
    for _ in range(decisions):
        rows = np.flatnonzero(~batch.over)
        batch.step(sample(batch.mask[rows], generator), rows)
    return batch


def best_by_force(batch: Batch, row: int) -> dict[int, float]:
    """Value of every action by full search of all continuations, both sides choosing at random: the exact mean."""

    def mean_value(state: np.ndarray, seat: int) -> float:
        one = Batch(GAME, None, 1)
        one.states[:] = state
        one.refresh(0)
        if one.over[0]:
            return float(one.states["rewards"][0, seat])
        values = []
        for action in np.flatnonzero(one.mask[0]):
            branch = Batch(GAME, None, 1)
            branch.states[:] = state
            branch.refresh(0)
            branch.step(np.array([action]))
            values.append(mean_value(branch.states.copy(), seat))
        return float(np.mean(values))

    seat = int(batch.players[row])
    found = {}
    for action in np.flatnonzero(batch.mask[row]):
        branch = Batch(GAME, None, 1)
        branch.states[:] = batch.states[row : row + 1]
        branch.refresh(0)
        branch.step(np.array([action]))
        found[int(action)] = mean_value(branch.states.copy(), seat)
    return found


def test_values_are_the_exact_means_where_nothing_is_hidden() -> None:
    """In the last tricks every world is the true one, so the means must approach those of a full enumeration."""
    batch = late_positions(60)
    rows = np.flatnonzero(~batch.over & (batch.mask.sum(axis=1) > 1))[:12]
    assert len(rows) >= 5
    decisions = Decisions(batch, rows)
    values = MonteCarlo(GAME, worlds=4000).values(decisions, seed=1)
    for n, row in enumerate(rows):
        for action, exact in best_by_force(batch, row).items():
            assert values[n, action] == pytest.approx(exact, abs=0.08)
        assert np.isneginf(values[n, batch.mask[row] == 0]).all()


@pytest.mark.parametrize("playouts", ["random", "rule"])
def test_search_sees_only_its_seats_view(playouts: str) -> None:
    """Dealing the hidden cards anew changes nothing in what the search finds; the cheating one does notice."""
    batch = late_positions(40, decisions=12)
    rows = np.flatnonzero(~batch.over)
    honest, cheating = MonteCarlo(GAME, 400, playouts), MonteCarlo(GAME, 400, playouts, cheating=True)

    def both() -> tuple[np.ndarray, np.ndarray]:
        decisions = Decisions(batch, rows)
        return honest.values(decisions, 3), cheating.values(decisions, 3)

    first = both()
    resample(GAME, batch.states, batch.players, seed=5)
    for row in rows:
        batch.refresh(row)
    second = both()
    legal = batch.mask[rows] != 0
    spread, peeked = (np.abs(a[legal] - b[legal]).mean() for a, b in zip(first, second, strict=True))
    # The honest means are two samples from the same worlds (deviation at most 0.07); the cheating ones are not.
    assert spread < 0.07
    assert peeked > 2 * spread


def test_same_seed_same_values_whatever_the_threads() -> None:
    batch = late_positions(30, decisions=8)
    decisions = Decisions(batch, np.arange(30))
    once = MonteCarlo(GAME, 8).values(decisions, 9)
    np.testing.assert_array_equal(once, MonteCarlo(GAME, 8, threads=2).values(decisions, 9))
    assert (once != MonteCarlo(GAME, 8).values(decisions, 10)).any()


def test_positions_are_left_alone() -> None:
    batch = late_positions(20, decisions=8)
    before = batch.states.tobytes(), batch.mask.tobytes(), batch.observation.tobytes()
    MonteCarlo(GAME, 4).act(Decisions(batch, np.arange(20)), np.random.default_rng(0))
    MonteCarlo(GAME, 4, cheating=True).act(Decisions(batch, np.arange(20)), np.random.default_rng(0))
    assert (batch.states.tobytes(), batch.mask.tobytes(), batch.observation.tobytes()) == before


def test_it_is_strong() -> None:
    strong = evaluate(GAME, OPTIONS, MonteCarlo(GAME, 32), RandomAgent(), deals=100)
    assert strong.win_rate - strong.win_rate_half > 0.85
    open_cards = evaluate(GAME, OPTIONS, MonteCarlo(GAME, 32, cheating=True), RuleAgent(GAME), deals=100)
    assert open_cards.win_rate - open_cards.win_rate_half > 0.5


def test_names() -> None:
    for name in ("mc-64", "mc-16-rule", "cheating-mc-8", "cheating-mc-8-rule"):
        assert load_agent(name, GAME).name == name
    for wrong in ("mc-0", "mc-x", "mc-8-rules"):
        with pytest.raises(InvalidOption, match="named like 'mc-64'"):
            named(wrong, GAME)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"worlds": 0}, "worlds=0 is not a whole number"),
        ({"worlds": 2.5}, "worlds=2.5 is not a whole number"),
        ({"threads": True}, "threads=True is not a whole number"),
        ({"playouts": "best"}, "playouts='best' is not one of 'random', 'rule'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        MonteCarlo(GAME, **arguments)  # type: ignore[arg-type]
